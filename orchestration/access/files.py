"""Files that are looked at again and again, and read when they changed."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import structlog

from orchestration.access.errors import BadCredentials

_log = structlog.get_logger(__name__)

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


class WatchedFiles(ABC):
    """What was read of some files. Those that cannot be used are said, and what was read before them is kept."""

    kept: tuple[str, str]
    """What the log is told then: the event, and what helps."""

    def __init__(self, *paths: Path | None) -> None:
        """Raises ``BadCredentials``."""
        self._paths = [path for path in paths if path is not None]
        self._seen: Signature = signature(self._paths)
        self._said: Signature = ()
        self.refused = 0
        """How often new files could not be used."""
        self._take()

    @abstractmethod
    def _take(self) -> None:
        """Read them. Raises ``BadCredentials``, and then nothing has changed."""

    def refresh(self) -> bool:
        """Read the files again where one of them changed; whether they were taken."""
        seen = signature(self._paths)
        if seen == self._seen:
            return False
        try:
            self._take()
        except BadCredentials as error:  # tried again at each look: it may be that only the reading failed
            if seen != self._said:
                self.refused += 1
                self._said = seen
                event, fix = self.kept
                _log.error(event, reason=str(error), fix=fix)
            return False
        self._seen, self._said = seen, ()
        return True
