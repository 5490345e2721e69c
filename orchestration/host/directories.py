"""Where a mind's processes meet: the lock on its data directory, and a private directory for sockets."""

import fcntl
import os
import secrets
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from orchestration.host.errors import AlreadyRunning, UnsafeDirectory
from orchestration.private import make_private

LONGEST = 40
"""Characters of a run directory: Ray adds 65 for its longest socket, and the system allows 107."""


class DataLock:
    """Held by the one process that runs the mind in a data directory. The system lets go of it when that dies."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._path = data_dir / "lock"
        self._fd: int | None = None

    def take(self) -> None:
        """Take the lock. Raises ``AlreadyRunning``."""
        self._data_dir.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            said = os.read(fd, 32).strip()
            os.close(fd)
            raise AlreadyRunning(str(self._data_dir), int(said) if said.isdigit() else None) from None
        os.ftruncate(fd, 0)
        os.write(fd, f"{os.getpid()}\n".encode())
        self._fd = fd

    def release(self) -> None:
        """Release the lock, and leave the file empty. May be called twice."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        self.take()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.release()


def run_base(mark: str) -> Path:
    """The directory that all runs of the mind marked ``mark`` share; made if it is not there.

    Raises ``UnsafeDirectory`` when somebody else could put something there.
    """
    temp = Path(tempfile.gettempdir())
    above = f"submind-{os.getuid()}"
    if len(str(temp / above / mark / "00000000")) > LONGEST:
        temp = Path("/tmp")  # noqa: S108 - made private and checked below
    base = temp / above
    for place in (base, base / mark):
        if wrong := make_private(place):
            raise UnsafeDirectory(str(place), wrong)
    return base / mark


def new_run_dir(base: Path) -> Path:
    """A fresh directory for one run of the mind process."""
    place = base / secrets.token_hex(3)
    place.mkdir(mode=0o700)
    return place


def clear_run_dirs(base: Path) -> None:
    """Remove what earlier runs left there."""
    for place in base.iterdir():
        shutil.rmtree(place, ignore_errors=True)
