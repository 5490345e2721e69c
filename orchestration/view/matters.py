"""What changes in matters and open loops, to be followed."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from actors.matters.matter import LATEST, LOOPS, MATTERS, Matter, OpenLoop
from environment.collections import Collection, Collections, Document, scanned
from environment.errors import ChangesGone
from orchestration.view.settings import ChangesSettings, TailSettings
from orchestration.view.tail import Tail

T = TypeVar("T")
_TRIES = 3
_OF: dict[str, Collection[Any]] = {each.name: each for each in (MATTERS, LOOPS)}


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
