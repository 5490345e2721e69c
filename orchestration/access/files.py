"""Files that are looked at again and again, and read when they changed."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from orchestration.access.errors import BadCredentials

Signature: TypeAlias = tuple[tuple[int, ...] | None, ...]


def signature(paths: Iterable[Path]) -> Signature:
    """What changes when one of the files does, also where it is a link that is turned to another (a mounted Secret)."""
    return tuple(_one(path) for path in paths)


def _one(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (
        found.st_dev,
        found.st_ino,
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_size,
        found.st_mode,
        found.st_uid,
    )


def read(path: Path, what: str) -> bytes:
    """The content. Raises ``BadCredentials`` where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadCredentials(f"{what} {path} cannot be read: {error.strerror}") from None
