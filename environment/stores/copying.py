"""Copying a mind: everything that one store holds of it, into another, and the proof that it is all there.

Copying goes on where it was left: what has arrived is told by the target itself, perceptions and stream by their heads,
the rest by a mark that is written in the same commit as what it speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeAlias

import msgspec

from environment.collections import LOCAL, Collection, WriteDocument
from environment.errors import MoveRefused
from environment.ports import (
    LAST_EPOCH,
    Write,
    WriteConnections,
    WriteEntries,
    WriteLevel,
    WriteReport,
    WriteState,
    WriteTrace,
)
from environment.stores.movable import Movable, MovedTrace, Source
from environment.stores.paging import PAGE, READ_BYTES, documents_after, entries_after, perceptions_after, runs
from environment.stores.tally import Tally, encoded

PROBE = "readiness"
"""The state by which a host tries whether it can write: no part of a mind."""
BACKUP = "backup "
"""What the name of a source begins with that is a backup; its id follows."""
KINDS = (*("perceptions", "traces", "entries", "connections", "changes", "states", "reports", "documents"),)
"""All there is of a mind, in the order in which it is copied."""
MARGIN = 16_384
"""Terms of leading that the mind may have begun since it was copied, and yet write nothing: after a backup, many."""
_MOVES = 127
"""After about so many copies of copies the margin shrinks: half of all terms there are stay for those who lead."""
_PAGE = PAGE
_COMMIT_BYTES = 1 << 19
_READ_BYTES = READ_BYTES

Tell: TypeAlias = Callable[[str, int], None]
"""Told the kind and how many of it there are so far."""


def margin(epoch: int) -> int:
    """``MARGIN``, or less where a mind was copied so often that terms would run out: a store counts no further."""
    return max(0, min(MARGIN, (LAST_EPOCH // 2 - epoch) // _MOVES))


def _nobody(_kind: str, _count: int) -> None:
    """Nobody listens."""


class Mark(msgspec.Struct):
    """How far a copy has come."""

    source: str
    """Where it comes from."""
    stage: str = KINDS[0]
    """The kind that is being copied; empty when all are."""
    after: str = ""
    """The mark of the last page that arrived."""


MOVING = Collection(f"{LOCAL}moving", Mark)
_MARK = "mark"


@dataclass
class Copy:
    """One mind on its way from ``source`` to ``target``, neither of which anybody else writes to.

    Guarantees: after ``run`` the target holds everything, with its ids, numbers and order; when ``run`` ends early,
    another one goes on from there, and nothing is there twice. ``name`` is what the source is called: a target that
    was begun from another is refused, and so is one that holds anything else of this mind. Whoever wrote to the source,
    up to ``margin`` epochs after what is copied, is refused at the target.
    """

    source: Source
    target: Movable
    name: str
    tell: Tell = _nobody

    async def begin(self) -> Mark:
        """See that the target is to be had, and take it: nobody starts the mind there until ``run`` is done.

        Changes nothing where all has arrived. Raises as ``run``.
        """
        begun = await mark_of(self.target)
        mark = begun or Mark(self.name)
        if mark.source != self.name and not mark.stage:
            raise MoveRefused(f"a mind of this name came here from {mark.source}: give a place where there is none")
        if mark.source != self.name:
            raise MoveRefused(f"what is there began to move in from {mark.source}, not from {self.name}: finish that")
        if not mark.stage:
            return mark
        if begun is None:
            await self._see_that_it_is_empty()
        epoch = await self.source.moving.epoch()
        above = max(epoch + margin(epoch), await self.target.moving.epoch())
        self._fence = await self.target.lead(above + 1)
        await self.target.perceptions.lead(above + 1)
        if begun is None:
            await self._commit([], mark)
        return mark

    async def run(self) -> None:
        """Copy what is not there yet. Raises ``MoveRefused``, ``StoreUnavailable``, ``FencedOut`` when overtaken."""
        mark = await self.begin()
        while mark.stage:
            await getattr(self, f"_{mark.stage}")(mark)
            mark = self._next(mark)
            await self._commit([], mark)

    async def _see_that_it_is_empty(self) -> None:
        target = self.target
        there = {
            "perceptions": await target.perceptions.head(),
            "entries of the stream": await target.stream.head(),
            "traces": len((await target.moving.traces("", 1))[1]),
            "states": len(await state_names(target)),
            "reports": len(await target.registry.reports()),
            "documents": 0 if await anext(documents_after(target.collections), None) is None else 1,
        }
        held = ", ".join(what for what, count in there.items() if count)
        if held:
            raise MoveRefused(f"there is a mind of this name already, with {held}: give a place where there is none")

    def _next(self, mark: Mark) -> Mark:
        """The mark of a stage that is done: none of its pages is written twice."""
        following = KINDS.index(mark.stage) + 1
        return Mark(self.name, KINDS[following] if following < len(KINDS) else "")

    async def _commit(self, writes: Sequence[Write], mark: Mark) -> None:
        await self.target.commit([*writes, MOVING.write(_MARK, mark)], self._fence)

    async def _perceptions(self, mark: Mark) -> None:
        target, head = self.target, await self.target.perceptions.head()
        async with aclosing(perceptions_after(self.source, head, read_bytes=_READ_BYTES)) as pages:
            async for page in pages:
                for run in runs(page):
                    if run[0].seq != head + 1:
                        await target.moving.skip(run[0].seq - 1)
                    receipts = await target.perceptions.append(run)
                    if [(r.seq, r.new) for r in receipts] != [(p.seq, True) for p in run]:
                        raise MoveRefused(f"perception {run[0].id} did not keep its number: somebody else writes there")
                    head = run[-1].seq
                self.tell(mark.stage, head)
        await target.moving.skip(await self.source.perceptions.head())

    async def _traces(self, mark: Mark) -> None:
        count = 0
        while True:
            following, page = await self.source.moving.traces(mark.after, _PAGE)
            for writes in _bounded(_of_traces(page)):
                await self.target.commit(writes, self._fence)
            mark.after = following
            await self._commit([], mark if following else self._next(mark))
            count += len(page)
            self.tell(mark.stage, count)
            if not following:
                return

    async def _entries(self, mark: Mark) -> None:
        head = await self.target.stream.head()
        async with aclosing(entries_after(self.source, head, page=_PAGE)) as pages:
            async for page in pages:
                await self.target.commit([WriteEntries(tuple(page))], self._fence)
                self.tell(mark.stage, page[-1].seq)

    async def _connections(self, mark: Mark) -> None:
        all_of = sorted(await self.source.registry.connections(), key=lambda connection: connection.owner)
        for owner, group in groupby(all_of, key=lambda connection: connection.owner):
            kept = list(group)
            for start in range(0, len(kept), _PAGE):
                write = WriteConnections(owner, tuple(kept[start : start + _PAGE]), (), ())
                await self.target.commit([write], self._fence)
        self.tell(mark.stage, len(all_of))

    async def _changes(self, mark: Mark) -> None:
        count = 0
        while True:
            following, page = await self.source.moving.changes(mark.after, _PAGE)
            writes = [
                WriteConnections(owner, (), (), tuple(group)) for owner, group in groupby(page, key=lambda c: c.owner)
            ]
            mark.after = following
            await self._commit(writes, mark if following else self._next(mark))
            count += len(page)
            self.tell(mark.stage, count)
            if not following:
                return

    async def _states(self, mark: Mark) -> None:
        names = await state_names(self.source)
        for name in names:
            state = await self.source.registry.state(name)
            if state is not None:
                await self.target.commit([WriteState(name, state)], self._fence)
        self.tell(mark.stage, len(names))

    async def _reports(self, mark: Mark) -> None:
        reports = await self.source.registry.reports()
        for report in reports:
            await self.target.commit([WriteReport(report)], self._fence)
        self.tell(mark.stage, len(reports))

    async def _documents(self, mark: Mark) -> None:
        count = 0
        async with aclosing(documents_after(self.source.collections, mark.after, page=_PAGE)) as pages:
            async for mark.after, page in pages:
                for some in _bounded((WriteDocument(each), len(each.body)) for each in page):
                    await self.target.commit(some, self._fence)
                await self._commit([], mark)
                count += len(page)
                self.tell(mark.stage, count)


async def mark_of(stores: Movable) -> Mark | None:
    """How far a copy into ``stores`` has come; None where none was begun."""
    return await MOVING.get(stores.collections, _MARK)


async def state_names(stores: Source) -> list[str]:
    """The states that are part of the mind."""
    return [name for name in await stores.moving.states() if name != PROBE]


async def tally(stores: Source, tell: Tell = _nobody) -> dict[str, Tally]:
    """Read everything: how much of each kind there is, and its digest."""
    tallies = {kind: Tally() for kind in KINDS}

    def take(kind: str, values: Sequence[Any]) -> None:
        for value in values:
            tallies[kind].add(value)
        tell(kind, tallies[kind].count)

    async with aclosing(perceptions_after(stores, 0, read_bytes=_READ_BYTES)) as perceptions:
        async for some in perceptions:
            take("perceptions", some)
    after, more = "", True
    while more:
        after, traces = await stores.moving.traces(after, _PAGE)
        take("traces", traces)
        more = bool(after)
    async with aclosing(entries_after(stores, 0, page=_PAGE)) as entries:
        async for page in entries:
            take("entries", page)
    take("connections", await stores.registry.connections())
    number, more = 0, True
    while more:
        after, changes = await stores.moving.changes(after, _PAGE)
        take("changes", [(number + at, replace(change, mark="")) for at, change in enumerate(changes)])
        number, more = number + len(changes), bool(after)
    for name in await state_names(stores):
        take("states", [(name, await stores.registry.state(name))])
    take("reports", await stores.registry.reports())
    async with aclosing(documents_after(stores.collections, page=_PAGE)) as documents:
        async for _, some_documents in documents:
            take("documents", [(each.version, *each.said) for each in some_documents])
    tallies["perceptions"].add(("head", await stores.perceptions.head()), counts=False)
    return tallies


def differences(source: dict[str, Tally], target: dict[str, Tally]) -> list[str]:
    """The kinds of which the two do not hold the same."""
    return [kind for kind in KINDS if source[kind] != target[kind]]


def _of_traces(traces: Sequence[MovedTrace]) -> Iterator[tuple[Write, int]]:
    """Traces as writes, with their bytes. Writing a version again changes nothing."""
    for trace in traces:
        for revision in trace.revisions:
            yield WriteTrace(revision), len(encoded(revision))
        now = trace.standing
        if now.level != trace.revisions[-1].level:
            yield WriteLevel(now.id, now.level, now.live, now.conscious), 0


def _bounded(writes: Iterable[tuple[Write, int]]) -> Iterator[list[Write]]:
    """Writes as commits of bearable size."""
    commit: list[Write] = []
    size = 0
    for write, weight in writes:
        commit.append(write)
        size += weight
        if size >= _COMMIT_BYTES:
            yield commit
            commit, size = [], 0
    if commit:
        yield commit
