"""Files that several processes append lines to."""

import fcntl
import os
from pathlib import Path


class SharedFile:
    """Appends to a file that others append to as well: each line is one write, so lines never mix.

    The file is set aside as ``NAME.1`` when it would grow beyond ``max_bytes``, by whichever process notices first;
    what was set aside before it becomes ``NAME.2``, and so on up to ``kept``. Methods raise ``OSError``.
    """

    def __init__(self, path: Path, max_bytes: int, kept: int = 1) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._kept = kept
        self._fd: int | None = None

    def open(self) -> int:
        """Open it, unless it is; its descriptor."""
        if self._fd is None:
            self._fd = os.open(self._path, os.O_APPEND | os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        return self._fd

    def append(self, line: bytes) -> int:
        """Write a line; how many bytes of it found room."""
        size = os.fstat(self.open()).st_size
        if size and size + len(line) > self._max_bytes:
            self._set_aside()
        return os.write(self.open(), line)

    def close(self) -> None:
        """Let go of it; the next line opens it again."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _set_aside(self) -> None:
        """Rename the full file, unless another process has done so: the lock is on the file itself."""
        fd = self.open()
        fcntl.flock(fd, fcntl.LOCK_EX)
        try:
            if self._path.exists() and os.path.samestat(os.fstat(fd), self._path.stat()):
                for number in range(self._kept - 1, -1, -1):
                    before = self._numbered(number)
                    if before.exists():
                        before.rename(self._numbered(number + 1))
        finally:
            self.close()  # releases the lock

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}") if number else self._path
