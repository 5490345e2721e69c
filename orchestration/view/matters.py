"""Matters and open loops: a reader's own copy that follows what changes, and the changes themselves, to be followed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

from actors.matters.matter import LATEST, LOOPS, MATTERS, Matter, OpenLoop
from environment.collections import Collection, Collections, Document, scanned
from environment.errors import ChangesGone, StoreUnavailable
from environment.messages import Instant
from orchestration.view.settings import ChangesSettings, TailSettings
from orchestration.view.tail import Tail

T = TypeVar("T")
_TRIES = 3
_OF: dict[str, Collection[Any]] = {each.name: each for each in (MATTERS, LOOPS)}


class CollectionFollower(Generic[T]):
    """The documents of one collection, in memory: read when somebody asks first, then as far as they changed.

    A store error leaves them as they were, to be caught up later. What another version wrote in a form that this one
    cannot read is not there.
    """

    def __init__(self, collection: Collection[T], collections: Collections, batch: int) -> None:
        self._collection, self._collections, self._batch = collection, collections, batch
        self._held: dict[str, tuple[T, Instant | None]] = {}
        self._position: int | None = None
        self._lock = asyncio.Lock()

    async def current(self, now: Instant) -> dict[str, T]:
        """What the store holds that has not expired by ``now``, by key. Raises ``StoreUnavailable``."""
        async with self._lock:
            for _ in range(_TRIES):
                try:
                    await self._catch_up()
                    break
                except ChangesGone:  # nobody asked for very long
                    self._position = None
            else:
                raise StoreUnavailable("what is kept changes faster than it can be read")
            for key in [k for k, (_, expires) in self._held.items() if expires is not None and expires <= now]:
                del self._held[key]
            return {key: self._held[key][0] for key in sorted(self._held)}

    async def _catch_up(self) -> None:
        name, read = self._collection.name, self._collections
        if self._position is None:
            position = await read.head()  # before reading: what changes meanwhile is read again
            self._held, self._position = {}, position
            async for document in scanned(read, name, page=self._batch):
                self._take(document)
        while True:
            self._position, changed = await read.changes(name, self._position, self._batch)
            for document in changed:
                self._take(document)
            if len(changed) < self._batch:
                return

    def _take(self, document: Document) -> None:
        value = None if document.removed else self._collection.read(document)
        if value is None:
            self._held.pop(document.key, None)
        else:
            self._held[document.key] = value, document.expires


class MatterChangeKind(StrEnum):
    """What changed."""

    MATTER = "matter"
    """A matter began, or something came of it."""
    LOOP = "loop"
    """Something is owed, or one was reminded of it."""
    CLOSED = "closed"
    """It is owed no more."""


@dataclass(frozen=True, slots=True)
class MatterChange:
    """One change of a matter or an open loop."""

    kind: MatterChangeKind
    id: str
    mark: int
    """The position of the change, behind which others follow."""
    matter: Matter | None = None
    """With its latest lines."""
    loop: OpenLoop | None = None


@dataclass(frozen=True, slots=True)
class MatterFilter:
    """Which changes a reader wants."""

    open: bool = False
    """Only of matters that are not settled, and what is owed."""

    def matches(self, change: MatterChange) -> bool:
        """Whether the reader wants this change."""
        return not self.open or change.matter is None or change.matter.open


class MatterTail(Tail[MatterChange, int]):
    """What changes in matters and open loops, in the store's order; of several changes who is late gets the last."""

    def __init__(self, collections: Collections, settings: ChangesSettings) -> None:
        every = settings.every
        pace = TailSettings(fast=every, idle=every, batch=settings.batch, recent=settings.recent)
        self._collections = collections
        super().__init__(collections.head, self._changed, "mark", pace)

    async def _changed(self, after: int, limit: int) -> list[MatterChange]:
        found: list[Document] = []
        upto: list[int] = []
        for name in _OF:
            try:
                reached, changed = await self._collections.changes(name, after, limit)
            except ChangesGone:  # the changes since are forgotten: what there is stands for them
                reached = await self._collections.head()
                every = scanned(self._collections, name, page=limit)
                changed = [one async for one in every if one.change > after]
            upto.append(reached)
            found += changed
        told = sorted((one for one in found if one.change <= min(upto)), key=lambda one: one.change)
        return [_change(one) for one in told]


def _change(document: Document) -> MatterChange:
    match None if document.removed else _OF[document.collection].read(document):
        case Matter() as matter:
            brief = replace(matter, lines=matter.lines[-LATEST:])
            return MatterChange(MatterChangeKind.MATTER, document.key, document.change, matter=brief)
        case OpenLoop() as loop:
            kind = MatterChangeKind.LOOP if loop.open else MatterChangeKind.CLOSED
            return MatterChange(kind, document.key, document.change, loop=loop)
        case _:
            return MatterChange(MatterChangeKind.CLOSED, document.key, document.change)
