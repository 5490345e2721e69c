"""A backup read as a store is read, so that a mind is copied out of it (``copying.py``)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from environment.collections import Document
from environment.messages import (
    Connection,
    ConnectionChange,
    Modality,
    Perception,
    StreamEntry,
    SubmindReport,
)
from environment.stores.backup.archive import ArchiveReader, Block, Manifest, Tell, blocks_of
from environment.stores.backup.items import BESIDE, Beside, Named, Run, decode_items
from environment.stores.codec import decode_perceptions
from environment.stores.movable import MovedTrace
from environment.stores.segments import perceptions


class Archived:
    """A mind in a backup: a ``Source``. Memory: one block, and where all of them are.

    Every method may raise ``BadBackup``, and ``OSError`` where the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._archive = ArchiveReader(path)
        self.manifest: Manifest = self._archive.manifest
        self._blocks = {kind: list(blocks_of(self.manifest, kind)) for kind in {b.kind for b in self.manifest.blocks}}
        self._states: dict[str, Block] | None = None
        self._last: tuple[Block | None, list[Any]] = (None, [])
        self.perceptions = _Log(self)
        self.stream = _Stream(self)
        self.registry = _Registry(self)
        self.collections = _Collections(self)
        self.moving = _Leaving(self)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._archive.size

    def verify(self, tell: Tell = lambda _at, _of: None) -> None:
        """Read all of the file, that it is whole and unchanged."""
        self._archive.verify(tell)

    def close(self) -> None:
        """Let go of the file."""
        self._archive.close()

    def blocks(self, kind: str) -> list[Block]:
        """Those of a kind, in their order."""
        return self._blocks.get(kind, [])

    def items(self, block: Block) -> list[Any]:
        """What a block holds; the last one that was read is at hand."""
        if self._last[0] is not block:
            try:
                found = decode_items(block.kind, self._archive.body(block))
            except (msgspec.MsgspecError, ValueError) as error:
                raise self._archive.broken(block.kind, error) from None
            self._last = (block, found)
        return self._last[1]

    def all_of(self, kind: str) -> Iterator[Any]:
        """Every item of a kind."""
        for block in self.blocks(kind):
            yield from self.items(block)

    def numbered(self, kind: str, number: int) -> Iterator[Any]:
        """The items of a kind whose blocks are numbered, from the block on in which ``number`` would be."""
        for block in self.from_block(kind, number):
            yield from self.items(block)

    def from_block(self, kind: str, number: int) -> list[Block]:
        """The blocks of a numbered kind, from the one on in which ``number`` would be."""
        blocks = self.blocks(kind)
        begin = bisect_right(blocks, number, key=lambda block: block.first) - 1
        return blocks[max(begin, 0) :]

    def where(self) -> dict[str, Block]:
        """The blocks of states by their names."""
        if self._states is None:
            self._states = {each.name: block for block in self.blocks("states") for each in self.items(block)}
        return self._states

    def beside(self) -> Iterator[Beside]:
        """What stood beside the stores."""
        return self.all_of(BESIDE)


class _Part:
    def __init__(self, of: Archived) -> None:
        self._of = of


class _Log(_Part):
    async def read(self, after: int, limit: int, modality: Modality | None = None) -> list[Perception]:
        """As ``PerceptionLog.read``."""
        found: list[Perception] = []
        for each in self._of.from_block("perceptions", after + 1):
            held: list[Run] = self._of.items(each)
            begin = bisect_right(held, after + 1, key=lambda run: run.first) - 1
            for run in held[max(begin, 0) :]:
                if len(found) >= limit:
                    return found
                found += self._some(run, after, limit - len(found), modality)
        return found

    def _some(self, run: Run, after: int, limit: int, modality: Modality | None) -> list[Perception]:
        batch = decode_perceptions(run.body)
        if run.first + len(batch) <= after:
            return []
        places: list[int] | range = range(max(0, after + 1 - run.first), len(batch))
        if modality is not None:
            kinds = batch.modalities
            places = [at for at in places if kinds[at] is modality]
        return list(perceptions(batch, run.first, places[:limit]))

    async def head(self) -> int:
        """As ``PerceptionLog.head``."""
        return self._of.manifest.head


class _Stream(_Part):
    async def read(self, from_seq: int, limit: int) -> list[StreamEntry]:
        """As ``StreamLog.read``."""
        found: list[StreamEntry] = []
        for entry in self._of.numbered("entries", from_seq):
            if len(found) >= limit:
                break
            if entry.seq >= from_seq:
                found.append(entry)
        return found

    async def head(self) -> int:
        """As ``StreamLog.head``."""
        return self._of.manifest.entries


class _Registry(_Part):
    async def connections(self, owner: str | None = None) -> list[Connection]:
        """As ``RegistryStore.connections``."""
        return [each for each in self._of.all_of("connections") if owner is None or each.owner == owner]

    async def reports(self) -> list[SubmindReport]:
        """As ``RegistryStore.reports``."""
        return list(self._of.all_of("reports"))

    async def state(self, name: str) -> bytes | None:
        """As ``RegistryStore.state``."""
        block = self._of.where().get(name)
        found: list[Named] = self._of.items(block) if block else []
        return next((each.state for each in found if each.name == name), None)


class _Collections(_Part):
    """Blocks are in the order of collections and keys."""

    def __init__(self, of: Archived) -> None:
        super().__init__(of)
        self._ends: list[tuple[bytes, bytes]] | None = None

    async def names(self) -> list[str]:
        """As ``Collections.names``."""
        return list(dict.fromkeys(each.collection for each in self._of.all_of("documents")))

    async def scan(self, collection: str, prefix: str = "", *, after: str = "", limit: int = 1000) -> list[Document]:
        """As ``Collections.scan``."""
        blocks = self._of.blocks("documents")
        if self._ends is None:
            self._ends = [_place(self._of.items(block)[-1]) for block in blocks]
        found: list[Document] = []
        begin = (collection.encode(), (after or prefix).encode())
        for block in blocks[bisect_left(self._ends, begin) :]:
            for each in self._of.items(block):
                behind = not after or _place(each) > begin
                if each.collection == collection and each.key.startswith(prefix) and behind:
                    found.append(each)
            if len(found) >= limit or each.collection != collection:
                break
        return found[: max(limit, 0)]


def _place(document: Document) -> tuple[bytes, bytes]:
    return document.collection.encode(), document.key.encode()


class _Leaving(_Part):
    """Marks are places of blocks; a page is a block, whatever is asked for."""

    async def traces(self, after: str, limit: int) -> tuple[str, list[MovedTrace]]:  # noqa: ARG002 - as said
        """As ``Leaving.traces``."""
        following, found, at_pass = self._page("traces", after)
        last_word = self._of.manifest.replaced
        return following, [each for each in found if last_word.get(each.standing.id, 0) == at_pass]

    async def changes(self, after: str, limit: int) -> tuple[str, list[ConnectionChange]]:  # noqa: ARG002 - as said
        """As ``Leaving.changes``."""
        following, found, _ = self._page("changes", after)
        return following, found

    def _page(self, kind: str, after: str) -> tuple[str, list[Any], int]:
        blocks, at = self._of.blocks(kind), int(after or 0)
        if at >= len(blocks):
            return "", [], 0
        following = str(at + 1) if at + 1 < len(blocks) else ""
        return following, self._of.items(blocks[at]), blocks[at].at_pass

    async def states(self) -> list[str]:
        """As ``Leaving.states``."""
        return sorted(self._of.where())

    async def epoch(self) -> int:
        """As ``Leaving.epoch``."""
        return self._of.manifest.epoch
