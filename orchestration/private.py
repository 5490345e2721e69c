"""Directories that nobody but this user may enter, at places where others could have been first."""

import os
import stat
from pathlib import Path


def make_private(place: Path) -> str:
    """Make a directory for this user alone, below one that is there; what is wrong with the one found, or nothing."""
    place.mkdir(mode=0o700, exist_ok=True)
    status = place.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory"
    if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
        return "can be written or entered by others"
    return ""
