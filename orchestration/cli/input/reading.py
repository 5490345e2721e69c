"""Input as it comes: a file, a file that grows and is rotated, or standard input; line by line, within bounds."""

import asyncio
import os
import re
import stat
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent import futures
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import IO

from orchestration.cli.failure import Failure
from orchestration.cli.input.lines import MOST_BYTES, BadLine

_CHUNK = 1 << 16
_GLANCE = 4096
"""Bytes by whose look text is told from what is none."""
_STRANGE = re.compile("[\ufffd\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_STRANGERS, _FOR_ONE = 32, 4
"""So many characters that no text has, and one in so many: zero bytes aside, which rotation leaves in logs."""
_UTF8_MARK = b"\xef\xbb\xbf"
_FOREIGN = {
    b"\xff\xfe": "is UTF-16: `iconv -f UTF-16 -t UTF-8` makes it readable",
    b"\xfe\xff": "is UTF-16: `iconv -f UTF-16 -t UTF-8` makes it readable",
    b"\x1f\x8b": "is compressed: `zcat FILE | submind perceive -` reads it",
    b"(\xb5\x2f\xfd": "is compressed: `zstdcat FILE | submind perceive -` reads it",
}


@dataclass(frozen=True, slots=True)
class InputLine:
    """A line of input."""

    number: int
    """From 1, over rotations."""
    raw: bytes
    """Without its end; empty when it was too long."""
    length: int
    """In bytes, also of what was too long to keep."""

    def whole(self) -> bytes:
        """The line. Raises ``BadLine`` when it was too long to keep."""
        if self.length and not self.raw:
            raise BadLine(f"{self.length} bytes are more than the {MOST_BYTES} a line may have")
        return self.raw


class Splitter:
    """Cuts chunks into lines. Memory is bounded: of a line longer than ``most`` bytes only the length is kept."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._length = 0
        self._number = 0

    def feed(self, chunk: bytes) -> list[InputLine]:
        """The lines that the chunk completes."""
        *ended, rest = chunk.split(b"\n")
        lines = []
        for part in ended:
            self._add(part)
            lines.append(self._take())
        self._add(rest)
        return lines

    def finish(self) -> list[InputLine]:
        """The last line, if nothing ended it."""
        line = self._take()
        return [line] if line.length else []

    def _add(self, part: bytes) -> None:
        self._length += len(part)
        if self._length > self._most:
            self._parts.clear()
        elif part:
            self._parts.append(part)

    def _take(self) -> InputLine:
        raw = b"".join(self._parts) if self._length <= self._most else b""
        self._number += 1
        if self._number == 1:
            raw = raw.removeprefix(_UTF8_MARK)
        line = InputLine(self._number, raw, self._length if self._length > self._most else len(raw))
        self._parts, self._length = [], 0
        return line


def check_text(name: str, beginning: bytes) -> None:
    """Refuse what is no text at all. Raises ``Failure`` with the way out."""
    for mark, told in _FOREIGN.items():
        if beginning.startswith(mark):
            raise Failure(f"{name} {told}")
    text = beginning[:_GLANCE].decode("utf-8", errors="replace")
    if len(_STRANGE.findall(text)) >= max(_STRANGERS, len(text.replace("\0", "")) / _FOR_ONE):
        raise Failure(
            f"{name} is no text in UTF-8: `iconv -f ENCODING -t UTF-8` makes another encoding readable;"
            """ a picture goes as {"image": {"path": FILE}}"""
        )


def check_file(path: Path) -> None:
    """See whether a file can be read as text. Raises ``Failure`` when it is no text, ``OSError`` when it cannot."""
    with path.open("rb") as file:
        _begin(path, file)


def file_lines(path: Path) -> Iterator[InputLine]:
    """The lines of a file as it is. Raises ``Failure`` when it is no text, ``OSError`` when it cannot be read."""
    splitter = Splitter()
    with path.open("rb") as file:
        _begin(path, file)
        while chunk := file.read(_CHUNK):
            yield from splitter.feed(chunk)
    yield from splitter.finish()


async def growing_lines(path: Path, poll: float = 0.2) -> AsyncIterator[InputLine]:
    """The lines of a file, without end, as it grows, is cut short or is rotated.

    A rotated file is read to its end before the new one is begun. While there is no file under the name, it is waited
    for. Raises as ``file_lines``, to begin with.
    """
    file = path.open("rb", buffering=0)
    splitter = Splitter()
    try:
        _begin(path, file)
        while True:
            if chunk := file.read(_CHUNK):
                for line in splitter.feed(chunk):
                    yield line
                await asyncio.sleep(0)
            elif _replaced(path, file):
                for line in splitter.feed(file.read()) + splitter.finish():  # what came between the last look and now
                    yield line
                file.close()
                file = await _reopen(path, poll)
            else:
                await asyncio.sleep(poll)
    finally:
        file.close()


async def stream_lines(file: IO[bytes], name: str) -> AsyncIterator[InputLine]:
    """The lines of a pipe or a terminal, each as soon as it is there. One chunk is read ahead at most."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes | OSError] = asyncio.Queue(1)
    gone = threading.Event()

    def pump() -> None:
        while not gone.is_set():
            chunk: bytes | OSError
            try:
                chunk = os.read(file.fileno(), _CHUNK)
            except OSError as error:
                chunk = error
            try:
                asyncio.run_coroutine_threadsafe(chunks.put(chunk), loop).result()
            except (RuntimeError, futures.CancelledError):  # the loop has ended: nobody reads any more
                return
            if not isinstance(chunk, bytes) or not chunk:
                return

    threading.Thread(
        target=pump, daemon=True, name="input"
    ).start()  # daemon: a read of a terminal cannot be broken off
    splitter, first = Splitter(), True
    try:
        while chunk := await chunks.get():
            if isinstance(chunk, OSError):
                raise chunk
            if first:
                check_text(name, chunk)
                first = False
            for line in splitter.feed(chunk):
                yield line
        for line in splitter.finish():
            yield line
    finally:
        gone.set()


def _begin(path: Path, file: IO[bytes]) -> None:
    check_text(str(path), file.read(_GLANCE))
    file.seek(0)


def is_regular(path: Path) -> bool:
    """Whether ``path`` is a file that can be read again. Raises ``OSError`` when there is none."""
    return stat.S_ISREG(path.stat().st_mode)


def _replaced(path: Path, file: IO[bytes]) -> bool:
    """Whether another file stands under the name, or this one was cut short."""
    try:
        named, held = path.stat(), os.fstat(file.fileno())
    except FileNotFoundError:
        return True
    return (named.st_ino, named.st_dev) != (held.st_ino, held.st_dev) or named.st_size < file.tell()


async def _reopen(path: Path, poll: float) -> FileIO:
    while True:
        try:
            return path.open("rb", buffering=0)
        except (FileNotFoundError, PermissionError):
            await asyncio.sleep(poll)
