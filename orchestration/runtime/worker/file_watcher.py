"""Noticing that a file was written to, without looking: the kernel tells."""

import asyncio
import ctypes
import os
from contextlib import suppress
from pathlib import Path

_IN_MODIFY = 0x2
_IN_NONBLOCK = os.O_NONBLOCK
_IN_CLOEXEC = os.O_CLOEXEC
_EVENTS = 4096


class FileWatcher:
    """Waits until one of ``files`` may have been written to. ``close`` when done.

    Where the kernel cannot tell (a file that is not there, a file system of another machine) ``sees`` is False and a
    wait lasts its full time: whoever waits looks again in any case.
    """

    def __init__(self, *files: Path) -> None:
        self._touched = asyncio.Event()
        self._fd = -1
        self.sees = False
        """Whether all the files are watched."""
        with suppress(OSError, AttributeError):
            self._watch(files)

    def _watch(self, files: tuple[Path, ...]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd = libc.inotify_init1(_IN_NONBLOCK | _IN_CLOEXEC)
        if self._fd < 0:
            return
        watched = [libc.inotify_add_watch(self._fd, os.fsencode(file), _IN_MODIFY) >= 0 for file in files]
        self.sees = all(watched)
        asyncio.get_running_loop().add_reader(self._fd, self._read)

    def forget(self) -> bool:
        """What was written until now is known: the next ``wait`` is for what comes. Whether anything was."""
        written = self._touched.is_set()
        self._touched.clear()
        return written

    async def wait(self, longest: float) -> None:
        """Return when a file was written to since ``forget``, or after ``longest`` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(longest):
                await self._touched.wait()

    def close(self) -> None:
        """Stop watching. May be called twice."""
        if self._fd >= 0:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _read(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._fd, _EVENTS):  # what it was does not matter
                continue
        self._touched.set()
