"""A backup, out of which a mind is copied as out of a store (``copying.py``): as the same mind, or as another."""

from bisect import bisect_right
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from environment.ancestry import Ancestor, ancestor_document
from environment.collections import Collection, Document
from environment.messages import Perception
from environment.stores.backup.archive import ArchiveReader, Block, Manifest, Tell, blocks_of
from environment.stores.backup.items import BESIDE, Beside, Run, decode_items
from environment.stores.codec import decode_perceptions
from environment.stores.copying import BACKUP
from environment.stores.segments import perceptions

T = TypeVar("T")


class Archived:
    """A mind in a backup, as ``Leaving`` shows it. Memory: one block, and where all of them are.

    Every method may raise ``BadBackup``, and ``OSError`` where the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._archive = ArchiveReader(path)
        self.manifest: Manifest = self._archive.manifest
        self.size = self._archive.size
        """Bytes of the file."""
        self._blocks = {kind: list(blocks_of(self.manifest, kind)) for kind in {b.kind for b in self.manifest.blocks}}
        self._last: tuple[Block | None, list[Any]] = (None, [])
        self.beyond: list[Document] = []
        """What the mind begins with beside all that is in the backup."""

    @property
    def label(self) -> str:
        """What a copy out of it is called (``copying.Copy``)."""
        return f"{BACKUP}{self.manifest.id}"

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

    def values(self, collection: Collection[T]) -> list[T]:
        """Every document of a collection, read."""
        return [collection.value(each) for each in self.all_of("documents") if each.collection == collection.name]

    async def pages(self, kind: str, after: str = "") -> AsyncGenerator[tuple[str, list[Any]], None]:
        """As ``Leaving.pages``: a page is a block."""
        blocks, behind = self.blocks(kind), int(after or 0)
        numbered = kind in ("perceptions", "entries")
        begin = bisect_right(blocks, behind + 1, key=lambda block: block.first) - 1 if numbered else behind
        for at, block in enumerate(blocks[max(begin, 0) :], max(begin, 0)):
            page = self.items(block)
            if kind == "perceptions":
                page = [one for run in page for one in _perceptions(run)]
            elif kind == "traces":
                last_word = self.manifest.replaced
                page = [each for each in page if last_word.get(each.standing.id, 0) == block.at_pass]
            if numbered:
                page = [each for each in page if each.seq > behind]
            if page:
                yield str(page[-1].seq if numbered else at + 1), page
        if kind == "documents" and self.beyond and behind <= len(blocks):
            yield str(len(blocks) + 1), self.beyond

    async def epoch(self) -> int:
        """As ``Leaving.epoch``."""
        return self.manifest.epoch

    async def head(self) -> int:
        """As ``Leaving.head``."""
        return self.manifest.head

    def beside(self) -> Iterator[Beside]:
        """What stood beside the stores."""
        return self.all_of(BESIDE)


class Cloned(Archived):
    """A mind in a backup as another one begins: all that it was, and whom it comes from."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        told = self.manifest
        ancestor = Ancestor(told.mind, told.cut, told.head, told.entries, told.id)
        self.beyond.append(ancestor_document(ancestor))

    @property
    def label(self) -> str:
        return f"clone {self.manifest.id}"


def _perceptions(run: Run) -> Iterator[Perception]:
    batch = decode_perceptions(run.body)
    return perceptions(batch, run.first, range(len(batch)))
