"""The file of a backup: blocks that are written one after the other, and a manifest that lists them.

    MAGIC, of which the last byte is the format     16 bytes
    a ZIP archive: a member for each block, named by its number, whose content is its items as a msgpack array;
    the last member, ``manifest``
    the SHA-256 of all that is before it            32 bytes

So any byte that was changed, left out or moved is found, and each block can be read by itself. Nothing is pickled. It
is against accident: who may write the file can also write its digest.
"""

import os
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from io import RawIOBase
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec

from environment.errors import BadBackup
from environment.messages import Instant

FORMAT = 3
_NAME = b"SUBMIND BACKUP\n"
MAGIC = _NAME + bytes([FORMAT])
_MANIFEST = "manifest"
GONE = -1
"""Of a trace that was forgotten before the cut."""
_DIGEST = 32
LARGEST = 256 << 20
"""Most bytes in one block: one perception with its picture is far smaller, and so is a state."""
_LEVEL = 1
"""Of zlib: stronger ones cost several times the work for a tenth of the room."""
_READ = 1 << 20
_DAMAGED = "is damaged, or its end is missing: copy it anew, or take another backup"

T = TypeVar("T")
Tell: TypeAlias = Callable[[int, int], None]
"""Told how many bytes of how many were read."""


class Block(msgspec.Struct, frozen=True, array_like=True):
    """Where a block stands and what is in it."""

    kind: str
    at: int
    """Its number in the file."""
    items: int
    first: int
    """The number of the first item, where they are numbered."""
    at_pass: int = 0
    """Of traces: 0 for the first reading of all, above for what had changed since; see ``Manifest.replaced``."""


class Manifest(msgspec.Struct, frozen=True):
    """What a backup says of itself."""

    version: str
    """Of the submind that wrote it."""
    mind: str
    source: str
    """Where the mind lived, without secrets."""
    begun: Instant
    """Wall time at which reading began, ..."""
    cut: Instant
    """... and of the moment that the backup shows."""
    epoch: int
    """The last epoch of writing that the mind had begun."""
    head: int
    """The highest number ever given to a perception."""
    entries: int
    """The last number of the stream."""
    change: int
    """The last change of a trace."""
    unsettled: int
    """Traces whose level is of a moment after the cut; 0 where the store can show one moment of everything."""
    counts: dict[str, int]
    """How much there is of each kind."""
    replaced: dict[str, int]
    """Ids of traces that changed while the backup was taken, and the pass whose block holds the last word; ``GONE``."""
    blocks: list[Block]

    @property
    def id(self) -> str:
        """Names this backup and no other."""
        return sha256(msgspec.msgpack.encode(self)).hexdigest()[:16]


_manifest = msgspec.msgpack.Decoder(Manifest)


class _Digesting:
    """What a ZIP archive is written to: a file, all of which is taken into a digest on the way."""

    def __init__(self, file: RawIOBase) -> None:
        self._file = file
        self.digest = sha256()
        self.at = 0

    def write(self, data: bytes) -> int:
        if self._file.closed:  # of an archive that was given up: it writes its end when nobody holds it any more
            return len(data)
        left = memoryview(data)
        while left:  # a file without a buffer may take less than it is given
            left = left[self._file.write(left) :]
        self.digest.update(data)
        self.at += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing waits here."""


class ArchiveWriter:
    """Appends blocks to a file. Memory: the block at hand, and a few hundred bytes for each before it."""

    def __init__(self, file: RawIOBase) -> None:
        self._file = file
        self._out = _Digesting(file)
        self._out.write(MAGIC)
        self._zip = zipfile.ZipFile(self._out, "w")  # type: ignore[call-overload]  # all that it uses
        self._number = 0
        self.blocks: list[Block] = []
        self.size = 0
        """Bytes of all blocks before they were compressed."""

    @property
    def at(self) -> int:
        """Bytes of the file so far."""
        return self._out.at

    def add(self, kind: str, items: list[bytes], first: int = 0, *, at_pass: int = 0) -> None:
        """Append a block of items, each encoded. Raises ``OSError``."""
        body = b"\xdd" + len(items).to_bytes(4, "big") + b"".join(items)
        if len(body) > LARGEST:
            raise ValueError(f"a block of {len(body)} bytes is too large for a backup: {LARGEST} at most")
        self._put(str(self._number), body)
        self.blocks.append(Block(kind, self._number, len(items), first, at_pass))
        self._number += 1
        self.size += len(body)

    def finish(self, manifest: Manifest) -> None:
        """Append the manifest and the end, and have all of it on the disk. Raises ``OSError``."""
        self._put(_MANIFEST, msgspec.msgpack.encode(manifest))
        self._zip.close()
        self._out.write(self._out.digest.digest())
        self._file.flush()
        os.fsync(self._file.fileno())

    def _put(self, name: str, body: bytes) -> None:
        self._zip.writestr(zipfile.ZipInfo(name), body, zipfile.ZIP_DEFLATED, _LEVEL)


class ArchiveReader:
    """Reads a backup. Opening it looks at its beginning and its end only: ``verify`` reads all of it.

    Every method may raise ``BadBackup`` and ``OSError``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("rb")
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            """Bytes of the file."""
            self._check_format()
            self._zip = self._opened(lambda: zipfile.ZipFile(self._file))
            self.manifest = self._opened(lambda: _manifest.decode(self._zip.read(_MANIFEST)))
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def verify(self, tell: Tell = lambda _at, _of: None) -> None:
        """Read everything once."""
        self._file.seek(0)
        digest, at, end = sha256(), 0, self.size - _DIGEST
        while at < end and (part := self._file.read(min(_READ, end - at))):
            digest.update(part)
            at += len(part)
            tell(at, self.size)
        if self._file.read() != digest.digest():
            raise self._bad(_DAMAGED)
        tell(self.size, self.size)

    def body(self, block: Block) -> bytes:
        """The items of a block, a msgpack array."""
        return self._opened(lambda: self._zip.read(str(block.at)))

    def broken(self, kind: str, why: object) -> BadBackup:
        """The error of a block that is whole and yet says nothing that is understood."""
        return self._bad(f"holds {kind} that this version does not understand: {why}")

    def _check_format(self) -> None:
        begin = self._file.read(len(MAGIC))
        if begin[: len(_NAME)] != _NAME:
            raise self._bad("is not the backup of a mind: give a file that submind backup has written")
        if begin != MAGIC:
            found = begin[len(_NAME)] if len(begin) == len(MAGIC) else "none"
            reason = f"is of format {found}, and this version reads {FORMAT}: restore it with the version that wrote it"
            raise self._bad(reason)

    def _opened(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except Exception:  # noqa: BLE001 - what zipfile makes of garbled bytes comes in many classes
            raise self._bad(_DAMAGED) from None

    def _bad(self, reason: str) -> BadBackup:
        return BadBackup(str(self._path), reason)


def blocks_of(manifest: Manifest, kind: str) -> Iterator[Block]:
    """The blocks of a kind, in their order."""
    return (block for block in manifest.blocks if block.kind == kind)
