"""The file of a backup: blocks that are written one after the other, and at its end a list of them.

    MAGIC, of which the last byte is the format           16 bytes
    the digest of it                                      32
    blocks: a head (kind, items, size, size compressed)   13
            items as a msgpack array, zlib                as the head says
            the digest                                    32
    the last block, of kind ``INDEX``: the manifest
    where that begins, and ``END``                        16

A digest is the SHA-256 of the digest before it, the head and the compressed items: so a block that was changed, left
out or moved is found, and each can be read by itself. A file that does not end in ``END`` was cut off. Nothing is
pickled. It is against accident: who may write the file can also write its digests.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha256
from io import RawIOBase
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from environment.errors import BadBackup
from environment.messages import Instant

FORMAT = 2
_NAME = b"SUBMIND BACKUP\n"
MAGIC = _NAME + bytes([FORMAT])
END = b"SUBMIND."
INDEX = 255
GONE = -1
"""Of a trace that was forgotten before the cut."""
_HEAD = struct.Struct(">BIII")
_TAIL = struct.Struct(">Q8s")
_DIGEST = 32
_FIRST = len(MAGIC) + _DIGEST
LARGEST = 256 << 20
"""Most bytes in one block: one perception with its picture is far smaller, and so is a state."""
_LEVEL = 1
"""Of zlib: stronger ones cost several times the work for a tenth of the room."""

Tell: TypeAlias = Callable[[int, int], None]
"""Told how many bytes of how many were read."""


class Block(msgspec.Struct, frozen=True, array_like=True):
    """Where a block stands and what is in it."""

    kind: str
    at: int
    """Its first byte in the file."""
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


class _Read(NamedTuple):
    kind: int
    items: int
    body: bytes
    end: int


_manifest = msgspec.msgpack.Decoder(Manifest)


class ArchiveWriter:
    """Appends blocks to a file. What it holds in memory is the block at hand and forty bytes for each before it."""

    def __init__(self, file: RawIOBase, kinds: tuple[str, ...]) -> None:
        self._file = file
        self._kinds = kinds
        self._digest = sha256(MAGIC).digest()
        self.at = self._write(MAGIC, self._digest)
        self.blocks: list[Block] = []
        self.size = 0
        """Bytes of all blocks before they were compressed."""

    def add(self, kind: str, items: list[bytes], first: int = 0, *, at_pass: int = 0) -> None:
        """Append a block of items, each encoded. Raises ``OSError``."""
        block = Block(kind, self.at, len(items), first, at_pass)
        self._append(self._kinds.index(kind), len(items), b"\xdd" + len(items).to_bytes(4, "big") + b"".join(items))
        self.blocks.append(block)

    def finish(self, manifest: Manifest) -> None:
        """Append the manifest and the end, and have all of it on the disk. Raises ``OSError``."""
        at = self.at
        self._append(INDEX, 1, msgspec.msgpack.encode(manifest))
        self.at += self._write(_TAIL.pack(at, END))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _append(self, kind: int, items: int, body: bytes) -> None:
        if len(body) > LARGEST:
            raise ValueError(f"a block of {len(body)} bytes is too large for a backup: {LARGEST} at most")
        packed = zlib.compress(body, _LEVEL)
        head = _HEAD.pack(kind, items, len(body), len(packed))
        self._digest = sha256(self._digest + head + packed).digest()
        self.at += self._write(head, packed, self._digest)
        self.size += len(body)

    def _write(self, *parts: bytes) -> int:
        left = memoryview(b"".join(parts))
        size = len(left)
        while left:  # a file without a buffer may take less than it is given
            left = left[self._file.write(left) :]
        return size


class ArchiveReader:
    """Reads a backup. Opening it looks at its beginning and its end only: ``verify`` reads all of it.

    Every method may raise ``BadBackup`` and ``OSError``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("rb")
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            self._index = self._ends()
            self.manifest = self._manifest()
        except BaseException:
            self._file.close()
            raise

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._size

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def verify(self, tell: Tell = lambda _at, _of: None) -> None:
        """Read everything once."""
        self._file.seek(len(MAGIC))
        if self._take(_DIGEST) != sha256(MAGIC).digest():
            raise self._damaged(len(MAGIC))
        at, found = _FIRST, list[int]()
        while at < self._index:
            found.append(at)
            at = self._block(at).end
            tell(at, self._size)
        if at != self._index or [block.at for block in self.manifest.blocks if block.at not in set(found)]:
            raise self._damaged(at)
        tell(self._size, self._size)

    def body(self, block: Block) -> bytes:
        """The items of a block, a msgpack array."""
        return self._block(block.at).body

    def broken(self, kind: str, why: object) -> BadBackup:
        """The error of a block that is whole and yet says nothing that is understood."""
        return BadBackup(str(self._path), f"holds {kind} that this version does not understand: {why}")

    def _ends(self) -> int:
        begin = self._file.read(len(MAGIC))
        if begin[: len(_NAME)] != _NAME:
            raise BadBackup(str(self._path), "is not the backup of a mind: give a file that submind backup has written")
        if begin != MAGIC:
            found = begin[len(_NAME)] if len(begin) == len(MAGIC) else "none"
            reason = f"is of format {found}, and this version reads {FORMAT}: restore it with the version that wrote it"
            raise BadBackup(str(self._path), reason)
        if self._size >= _FIRST + _TAIL.size:
            self._file.seek(self._size - _TAIL.size)
            at, end = _TAIL.unpack(self._take(_TAIL.size))
            if end == END and _FIRST <= at < self._size:
                return int(at)
        raise BadBackup(str(self._path), "is not whole, its end is missing: copy it anew, or take another backup")

    def _manifest(self) -> Manifest:
        read = self._block(self._index)
        if read.kind != INDEX or read.end != self._size - _TAIL.size:
            raise self._damaged(self._index)
        try:
            return _manifest.decode(read.body)
        except msgspec.DecodeError:
            raise self._damaged(self._index) from None

    def _block(self, at: int) -> _Read:
        self._file.seek(at - _DIGEST)
        before, head = self._take(_DIGEST), self._take(_HEAD.size)
        kind, items, size, packed = _HEAD.unpack(head)
        end = at + _HEAD.size + packed + _DIGEST
        if size > LARGEST or end > self._size:
            raise self._damaged(at)
        body, digest = self._take(packed), self._take(_DIGEST)
        if sha256(before + head + body).digest() != digest:
            raise self._damaged(at)
        unpacking = zlib.decompressobj()
        try:
            whole = unpacking.decompress(body, size + 1)
        except zlib.error:
            raise self._damaged(at) from None
        if len(whole) != size or not unpacking.eof:
            raise self._damaged(at)
        return _Read(kind, items, whole, end)

    def _take(self, count: int) -> bytes:
        found = self._file.read(count)
        if len(found) != count:
            raise self._damaged(self._file.tell())
        return found

    def _damaged(self, at: int) -> BadBackup:
        reason = f"is damaged at or after byte {at:,} of {self._size:,}: copy it anew, or take another backup"
        return BadBackup(str(self._path), reason)


def blocks_of(manifest: Manifest, kind: str) -> Iterator[Block]:
    """The blocks of a kind, in their order."""
    return (block for block in manifest.blocks if block.kind == kind)
