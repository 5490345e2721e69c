"""Taking a backup of a mind that goes on: what is read when, so that nothing in it refers to what is missing.

A store that can show one moment of everything (``sqlite/snapshot.py``) is read in any order. A cluster cannot: its rows
are overwritten while they are read. So there the order makes the cut, and it is one in which the mind might have been
found after a crash, which every actor is written for:

1. What never changes once it is written, and weighs most, is read first and followed up to the cut at the end:
   perceptions, the stream, traces.
2. States of actors, connections and documents, again until nobody was born, ended or settled in between. An actor saves
   after its steps, so its state may always be older than what it led to, never newer: whatever a state knows of (the
   cursor of a perceptual submind, what attention has handed over) was durable before, and is read after.
3. The head of the stream. What its entries rest on was durable before them, and is read after.
4. Traces that changed since they were read, by the log of changes, again until none changed while it was read. Where
   the mind changes faster than it is read, the last of them are of a moment later, and the backup says of how many. One
   that became conscious under a number above the head of the stream is not conscious yet.
5. Perceptions up to the head of their log: all that is cited above.
"""

import asyncio
import math
from array import array
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass, field, replace
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np

from environment.collections import Document
from environment.errors import StoreUnavailable
from environment.messages import Instant, PerceptionBatch
from environment.population import GROWTH, MEMBERS, Member
from environment.stores import paging
from environment.stores.backup.archive import GONE, LARGEST, ArchiveWriter, Manifest
from environment.stores.backup.items import BESIDE, Beside, Run, encode_item
from environment.stores.codec import encode_perceptions
from environment.stores.copying import KINDS, Tell
from environment.stores.movable import Movable, MovedTrace
from environment.stores.paging import entries_after, perceptions_after, runs

_BLOCK = 1 << 20
"""Bytes after which a block ends."""
_OVERWRITTEN = "states", "reports", "changes", "connections", "documents"
_PASSES = 40
_AGAIN = 1024
"""Traces that are read again, however few there were to read."""
_TRIES = 20


Beyond: TypeAlias = Callable[[Callable[[str, str, bytes], None]], Awaitable[None]]
"""Gives what stands beside the stores to who takes it: place, name, value."""


async def nothing(_take: Callable[[str, str, bytes], None]) -> None:
    """There is nothing beside the stores."""


@dataclass
class _Counted:
    """What is written."""

    items: Counter[str] = field(default_factory=Counter)
    perceptions: int = 0
    """The number of the last, ..."""
    entries: int = 0
    """... and of the last entry."""
    change: int = 0
    unsettled: int = 0
    replaced: dict[str, int] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class Backup:
    """One backup on its way into an archive.

    Memory: one block, the states of actors one by one, eight bytes for each trace, and the ids of those that changed
    while it was taken. ``rate``: bytes, before compression,
    that are read in a second at most; 0: as fast as it goes.
    """

    _source: Movable
    _archive: ArchiveWriter
    _: KW_ONLY
    clock: Callable[[], Instant]
    rate: float = 0.0
    tell: Tell = lambda _kind, _count: None

    def __post_init__(self) -> None:
        self._counted = _Counted()
        self._kind, self._first, self._pass = "", 0, 0
        self._items: list[bytes] = []
        self._size = 0
        self._began = 0.0
        self._met = array("Q")

    async def run(self, version: str, mind: str, place: str, beside: Beyond = nothing) -> Manifest:
        """Write everything but the end, which the manifest is for. To be called once.

        Raises ``StoreUnavailable``, ``ChangesGone`` where it took longer than changes are kept, and ``OSError``.
        """
        self._began = self.clock()
        source, counted = self._source, self._counted
        since = await source.traces.head()
        await self._perceptions(await source.perceptions.head())
        await self._all_of("traces")
        await self._entries(await source.stream.head())
        await self._actors()
        cut = self.clock()
        await self._entries(await source.stream.head())
        await self._later_traces(since)
        epoch, head = await source.moving.epoch(), await source.perceptions.head()
        await self._perceptions(head)
        await beside(lambda place, name, value: self._put(BESIDE, Beside(place, name, value)))
        self._flush()
        return Manifest(
            version,
            mind,
            place,
            self._began,
            cut,
            epoch,
            head,
            counted.entries,
            counted.change,
            counted.unsettled,
            {kind: counted.items[kind] for kind in (*KINDS, BESIDE)},
            counted.replaced,
            self._archive.blocks,
        )

    async def _perceptions(self, up_to: int) -> None:
        async with aclosing(perceptions_after(self._source.perceptions, self._counted.perceptions, up_to)) as pages:
            async for page in pages:
                for run in runs(page):
                    body = encode_perceptions(PerceptionBatch.of(run))
                    self._put("perceptions", Run(run[0].seq, body), run[0].seq)
                    self._counted.items["perceptions"] += len(run) - 1
                await self._pace("perceptions")
        self._counted.perceptions = up_to

    async def _entries(self, up_to: int) -> None:
        async with aclosing(entries_after(self._source.stream, self._counted.entries, up_to)) as pages:
            async for page in pages:
                for entry in page:
                    self._put("entries", entry, entry.seq)
                await self._pace("entries")
        self._counted.entries = up_to

    async def _all_of(self, kind: str) -> None:
        async with aclosing(self._source.moving.pages(kind)) as pages:
            async for _, page in pages:
                for each in page:
                    self._put(kind, each)
                    if kind == "traces":
                        self._met.append(_mark(each.standing.id))
                await self._pace(kind)
        self._flush()

    async def _later_traces(self, since: int) -> None:
        """Those that changed since they were read, again until none of them did while it was read.

        What comes after that is no part of the backup. A mind that changes faster than it is read never holds still, so
        reading again may cost as much as reading did, and then those that changed meanwhile are taken as they are.
        """
        counted, moving = self._counted, self._source.moving
        held: dict[str, MovedTrace] = {}
        left = math.inf
        for number in range(1, _PASSES + 1):
            change, names = await moving.changed(since)
            asked = list(dict.fromkeys([*names, *held]))
            if len(asked) > left:
                break
            left = max(len(asked), _AGAIN) if number == 1 else left - len(asked)
            since = counted.change = change
            self._pass = number
            counted.replaced.update(dict.fromkeys(asked, GONE))
            held = await self._read_again(asked, change)
            if not held:
                break
        await self._put_unsettled(held)
        counted.unsettled = len(held)
        self._flush()
        self._pass = 0
        told = sum(1 for at in counted.replaced.values() if at != GONE)
        counted.items["traces"] = len(self._met) - sum(self._have_met(counted.replaced)) + told

    async def _read_again(self, asked: Sequence[str], change: int) -> dict[str, MovedTrace]:
        """Write those of ``asked`` that stand as of ``change``; the others, which changed later, are returned."""
        later: dict[str, MovedTrace] = {}
        for start in range(0, len(asked), paging.PAGE):
            for each, last in await self._source.moving.named(asked[start : start + paging.PAGE]):
                if last > change:
                    later[each.standing.id] = each
                else:
                    self._put_later(each)
            await self._pace("traces")
        self._flush()
        return later

    async def _put_unsettled(self, held: dict[str, MovedTrace]) -> None:
        """Write what is of a later moment, and with it what that cites and nobody has met: it only came then."""
        while held:
            for each in held.values():
                self._put_later(each)
            thoughts = [revision.thought for each in held.values() for revision in each.revisions]
            cited = dict.fromkeys(name for thought in thoughts for name in thought.parents if name.startswith("t-"))
            names = [name for name in cited if name not in self._counted.replaced]
            new = [name for name, met in zip(names, self._have_met(names), strict=True) if not met]
            held = {}
            for start in range(0, len(new), paging.PAGE):
                found = await self._source.moving.named(new[start : start + paging.PAGE])
                held |= {each.standing.id: each for each, _ in found}
                await self._pace("traces")

    def _have_met(self, names: Collection[str]) -> list[bool]:
        """Which of them were there when all were read."""
        marks = np.fromiter(map(_mark, names), np.uint64, len(names))
        met: list[bool] = np.isin(marks, np.asarray(self._met, np.uint64)).tolist()
        return met

    def _put_later(self, moved: MovedTrace) -> None:
        told = moved.standing.conscious
        if told is not None and told > self._counted.entries:
            revisions = tuple(replace(each, conscious=None) for each in moved.revisions)
            moved = MovedTrace(revisions, replace(moved.standing, conscious=None))
        self._counted.replaced[moved.standing.id] = self._pass
        self._put("traces", moved)

    async def _actors(self) -> None:
        """What is overwritten, all of it while nobody is born, ends, or settles what that left to do."""
        counted = self._counted
        for _ in range(_TRIES):
            self._flush()
            before = await self._population()
            written = len(self._archive.blocks)
            for kind in _OVERWRITTEN:
                await self._all_of(kind)
            if await self._population() == before:
                return
            gone = self._archive.blocks[written:]
            del self._archive.blocks[written:]
            for block in gone:
                counted.items[block.kind] -= block.items
        raise StoreUnavailable(f"the mind grew {_TRIES} times while its states were read: freeze it, or try again")

    async def _population(self) -> tuple[list[Document], dict[str, Member]]:
        """The last decision on growth, and every member: one that settles is rewritten without a decision."""
        collections = self._source.collections
        return await collections.scan(GROWTH.name, limit=1, backwards=True), await MEMBERS.all_of(collections)

    def _put(self, kind: str, item: Any, first: int = 0) -> None:
        if kind != self._kind or self._size >= _BLOCK:
            self._flush()
            self._kind, self._first = kind, first
        body = encode_item(item)
        if self._items and self._size + len(body) > LARGEST // 2:
            self._flush()
            self._kind, self._first = kind, first
        self._items.append(body)
        self._size += len(body)
        self._counted.items[kind] += 1

    def _flush(self) -> None:
        if self._items:
            self._archive.add(self._kind, self._items, self._first, at_pass=self._pass)
        self._kind, self._items, self._size = "", [], 0

    async def _pace(self, kind: str) -> None:
        """Tell how far it is; wait where it goes faster than it may."""
        self.tell(kind, self._counted.items[kind])
        ahead = self._archive.size / self.rate - (self.clock() - self._began) if self.rate else 0.0
        if ahead > 0:
            await asyncio.sleep(min(ahead, 60.0))


def _mark(name: str) -> int:
    """Eight bytes by which an id is known again."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
