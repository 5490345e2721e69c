"""Copying a mind: everything that one store holds of it, into another, and the proof that it is all there.

Copying goes on where it was left: what has arrived is told by the target itself, perceptions and stream by their heads,
the rest by a mark that is written in the same commit as what it speaks of.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

import msgspec

from environment import ports
from environment.collections import LOCAL, Collection, Document, WriteDocument
from environment.errors import MoveRefused
from environment.messages import Connection, ConnectionChange, Perception
from environment.stores.movable import Leaving, Movable, MovedTrace
from environment.stores.paging import runs
from environment.stores.tally import Tally, encoded

BACKUP = "backup "
"""What the name of a source begins with that is a backup; its id follows."""
KINDS = (*("perceptions", "traces", "entries", "connections", "changes", "states", "reports", "documents"),)
"""All there is of a mind, in the order in which it is copied."""
MARGIN = 16_384
"""Terms of leading that the mind may have begun since it was copied, and yet write nothing: after a backup, many."""
_MOVES = 127
"""After about so many copies of copies the margin shrinks: half of all terms there are stay for those who lead."""
_COMMIT_BYTES = 1 << 19

Tell: TypeAlias = Callable[[str, int], None]
"""Told the kind and how many of it there are so far."""


def margin(epoch: int) -> int:
    """``MARGIN``, or less where a mind was copied so often that terms would run out: a store counts no further."""
    return max(0, min(MARGIN, (ports.LAST_EPOCH // 2 - epoch) // _MOVES))


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

    Guarantees: after ``run`` the target holds everything, with its ids and numbers; when ``run`` ends early,
    another one goes on from there, and nothing is there twice. ``name`` is what the source is called: a target that
    was begun from another is refused, and so is one that holds anything else of this mind. Whoever wrote to the source,
    up to ``margin`` epochs after what is copied, is refused at the target.
    """

    source: Leaving
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
        epoch = await self.source.epoch()
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
            await self._copy(mark)
            following = KINDS.index(mark.stage) + 1
            mark = Mark(self.name, KINDS[following] if following < len(KINDS) else "")
            await self._commit([], mark)

    async def _see_that_it_is_empty(self) -> None:
        there = self.target.moving
        held = ["perceptions"] if await there.head() else []
        for kind in KINDS[1:]:
            async with aclosing(there.pages(kind)) as pages:
                held += [kind] if await anext(pages, None) else []
        if held:
            told = ", ".join(held)
            raise MoveRefused(f"there is a mind of this name already, with {told}: give a place where there is none")

    async def _commit(self, writes: Sequence[ports.Write], mark: Mark) -> None:
        await self.target.commit([*writes, MOVING.write(_MARK, mark)], self._fence)

    async def _copy(self, mark: Mark) -> None:
        """One kind, from where it was left: each page ends with a commit that holds its mark."""
        kind, count, target = mark.stage, 0, self.target
        if kind == "perceptions":
            mark.after = str(await target.perceptions.head())
        async with aclosing(self.source.pages(kind, mark.after)) as pages:
            async for mark.after, page in pages:
                if kind == "perceptions":
                    await self._append(page)
                else:
                    *some, last = _bounded(_WRITES[kind](page)) or [[]]
                    for writes in some:
                        await target.commit(writes, self._fence)
                    await self._commit(last, mark)
                count += len(page)
                self.tell(kind, count)
        if kind == "perceptions":
            await target.moving.skip(await self.source.head())

    async def _append(self, page: Sequence[Perception]) -> None:
        head = await self.target.perceptions.head()
        for run in runs(page):
            if run[0].seq != head + 1:
                await self.target.moving.skip(run[0].seq - 1)
            receipts = await self.target.perceptions.append(run)
            if [(r.seq, r.new) for r in receipts] != [(p.seq, True) for p in run]:
                raise MoveRefused(f"perception {run[0].id} did not keep its number: somebody else writes there")
            head = run[-1].seq


async def mark_of(stores: Movable) -> Mark | None:
    """How far a copy into ``stores`` has come; None where none was begun."""
    return await MOVING.get(stores.collections, _MARK)


async def tally(source: Leaving, tell: Tell = _nobody) -> dict[str, Tally]:
    """Read everything: how much of each kind there is, and its digest."""
    tallies = {kind: Tally() for kind in KINDS}
    for kind, taken in tallies.items():
        async with aclosing(source.pages(kind)) as pages:
            async for _, page in pages:
                for each in page:
                    taken.add((each.version, *each.said) if isinstance(each, Document) else each)
                tell(kind, taken.count)
    tallies["perceptions"].add(("head", await source.head()), counts=False)
    return tallies


def differences(source: dict[str, Tally], target: dict[str, Tally]) -> list[str]:
    """The kinds of which the two do not hold the same."""
    return [kind for kind in KINDS if source[kind] != target[kind]]


def _of_traces(traces: Sequence[MovedTrace]) -> Iterator[tuple[ports.Write, int]]:
    """Traces as writes, with their bytes. Writing a version again changes nothing."""
    for trace in traces:
        for revision in trace.revisions:
            yield ports.WriteTrace(revision), len(encoded(revision))
        now = trace.standing
        if now.level != trace.revisions[-1].level:
            yield ports.WriteLevel(now.id, now.level, now.live, now.conscious), 0


def _of_connections(connections: Sequence[Connection]) -> Iterator[tuple[ports.Write, int]]:
    for owner, kept in groupby(connections, key=lambda each: each.owner):
        yield ports.WriteConnections(owner, tuple(kept), (), ()), 0


def _of_changes(changes: Sequence[ConnectionChange]) -> Iterator[tuple[ports.Write, int]]:
    """Of no weight: all of a page go with its mark, since writing one again would list it twice."""
    for owner, made in groupby(changes, key=lambda each: each.owner):
        yield ports.WriteConnections(owner, (), (), tuple(made)), 0


_WRITES: Mapping[str, Callable[[Sequence[Any]], Iterable[tuple[ports.Write, int]]]] = {
    "traces": _of_traces,
    "entries": lambda page: [(ports.WriteEntries(tuple(page)), 0)],
    "connections": _of_connections,
    "changes": _of_changes,
    "states": lambda page: [(ports.WriteState(each.name, each.state), len(each.state)) for each in page],
    "reports": lambda page: [(ports.WriteReport(each), 0) for each in page],
    "documents": lambda page: [(WriteDocument(each), len(each.body)) for each in page],
}
"""What writes a page of each kind, with the bytes of each write."""


def _bounded(writes: Iterable[tuple[ports.Write, int]]) -> list[list[ports.Write]]:
    """Writes as commits of bearable size."""
    commits: list[list[ports.Write]] = []
    size = _COMMIT_BYTES
    for write, weight in writes:
        if size >= _COMMIT_BYTES:
            commits.append([])
            size = 0
        commits[-1].append(write)
        size += weight
    return commits
