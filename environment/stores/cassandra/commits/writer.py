"""Commits: which log they go through, what they decide, and what is done when somebody else was first."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from typing import TypeAlias

import msgspec

from environment.collections import RemoveDocument, WriteDocument
from environment.errors import DuplicateEntry, FencedOut, Outlived, SequenceGap, StaleRevision, StoreUnavailable
from environment.latest import Latest
from environment.messages import ConnectionChange
from environment.ports import Write, WriteEntries, WriteLevel, WriteTrace
from environment.stores.cassandra.commits import record
from environment.stores.cassandra.commits.commit_logs import NO_CLAIMS, CommitLogs, Decided, LogView
from environment.stores.cassandra.commits.drafts import Draft, Known, changes_of
from environment.stores.cassandra.driver.errors import OutcomeUnknown

_TRIES = 200
_UNTOLD = 4096
"""Changes of connections that are remembered where nobody was told that they are listed, and looked back for."""

Fill: TypeAlias = Callable[[Draft], Awaitable[None]]
"""Puts into a draft what is to be written, checked against the logs as they are seen now."""
Listed: TypeAlias = Callable[[ConnectionChange, int], Awaitable[bool]]
"""Whether a change is in the history, among so many since its time."""


class CommitWriter:
    """Writes to one mind through its commit logs, as one opening.

    Guarantees: a commit is decided as a whole, by one conditional write, or not at all; its rows are there when it is
    answered; commits of one family follow each other. Where a decided commit could not be written out, it is the
    first thing that the next one does, and asking for it again only finishes it: for all of it, or for parts, in
    whatever company. Changes of connections alone are added and not put: of one whose commit failed it is found out,
    before it is written again, whether it is listed.
    """

    def __init__(self, logs: CommitLogs, known: Known, is_listed: Listed, writer: str, rng: Random) -> None:
        """``writer`` names this one; it has a log of its own."""
        self.logs = logs
        self._known = known
        self._is_listed = is_listed
        self._writer = writer
        self._rng = rng
        self._views: dict[tuple[str, str], LogView] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._unfinished: dict[str, tuple[Sequence[Write], Decided, Draft]] = {}
        """By family, what was decided and could not be written yet."""
        self._indeterminate: dict[str, set[str]] = {}
        """By family, logs with a commit of which nobody told what became, until another is decided there."""
        self._untold = Latest[ConnectionChange, None](_UNTOLD)
        """Changes that may be listed although who asked for them was told that they might not be."""
        self._claims: dict[str, Mapping[str, record.WriterLife]] = {}
        """By family, what this opening claimed."""

    async def commit(self, writes: Sequence[Write], fence: int) -> None:
        """See ``Stores.commit``."""
        writes = list(writes)
        family, names = self._home(writes)
        changes = changes_of(writes)
        untold = self._untold.keys() & set(changes)
        if untold:
            await self._settle(family)

        async def fill(draft: Draft) -> None:
            await draft.add(writes)
            if untold:
                draft.changed = [
                    each for each in changes if each not in untold or not await self._is_listed(each, _UNTOLD)
                ]

        try:
            async with self._turn(family):
                if family not in self._unfinished or await self._finish(family) != writes:
                    await self._decide(family, names, fill, fence, writes)
        except StoreUnavailable:
            self._untold.update(dict.fromkeys(changes))
            raise
        for each in untold:
            self._untold.pop(each, None)

    async def claim(self, fence: int, life: int, *, numbers: bool) -> None:
        """See ``Claimed.claim``."""
        families = {record.family_of(self._writer): [self._writer]} | (
            {record.CORE: [record.TRACES, record.STREAM, record.DOCUMENTS]} if numbers else {}
        )
        self._claims = {family: {self._writer: record.WriterLife(fence, life)} for family in families}
        for family, names in families.items():
            async with self._turn(family):
                await self._finish(family)
                await self._look(family, names)  # which writes what an earlier life left
                await self._decide(family, names, _nothing, fence, (), claiming=True)

    async def _settle(self, home: str) -> None:
        """Write what is unfinished, and decide on nothing where a commit may yet come to pass: then it never will."""
        for family in sorted({*self._unfinished, *self._indeterminate}):
            if family == home and not self._indeterminate.get(home):
                continue  # who commits there finishes it
            async with self._turn(family):
                await self._finish(family)
                if names := sorted(self._indeterminate.get(family, ())):
                    await self._decide(family, names, _nothing, 0, (), settling=True)

    async def decide_on(self, log: str, fill: Fill) -> None:
        """Decide on something in a log of the core that no ``Write`` says."""
        async with self._turn(record.CORE):
            await self._finish(record.CORE)
            await self._decide(record.CORE, [log], fill, 0, ())

    async def supersede(self) -> None:
        """Put an empty record in the place of the last one of each log, whose rows are there."""
        for family, log in await self.logs.names():
            async with self._turn(family):
                await self._finish(family)
                await self._look(family, [log])
                await self._decide(family, [log], _nothing, 0, (), settling=True)

    async def traces_counted(self) -> record.Counters:
        """What the log of the traces has counted."""
        async with self._turn(record.CORE):
            await self._finish(record.CORE)
            (view,) = await self._look(record.CORE, [record.TRACES])
            return view.counters

    async def lead(self, token: int | None) -> int:
        """See ``Stores.lead``."""
        epoch = await self.logs.lead(token)
        self._views.clear()
        return epoch

    def _home(self, writes: Sequence[Write]) -> tuple[str, list[str]]:
        """Numbers are given by logs that all who write share; all else goes through the own one."""
        names = []
        if any(isinstance(write, WriteTrace | WriteLevel) for write in writes):
            names.append(record.TRACES)
        if any(isinstance(write, WriteEntries) for write in writes):
            names.append(record.STREAM)
        if any(isinstance(write, WriteDocument | RemoveDocument) for write in writes):
            names.append(record.DOCUMENTS)
        return (record.CORE, names) if names else (record.family_of(self._writer), [self._writer])

    def _turn(self, family: str) -> asyncio.Lock:
        return self._turns.setdefault(family, asyncio.Lock())

    async def _decide(
        self,
        family: str,
        names: Sequence[str],
        fill: Fill,
        fence: int,
        writes: Sequence[Write],
        *,
        claiming: bool = False,
        settling: bool = False,
    ) -> None:
        ours = self._claims.get(family, NO_CLAIMS) if fence else NO_CLAIMS
        for attempt in range(_TRIES):
            known = [self._views.get((family, name)) for name in names]
            seen = [view for view in known if view is not None]
            if len(seen) < len(names):
                seen = await self._look(family, names)
            current = max(view.row.epoch for view in seen)
            if fence and fence < current:
                raise FencedOut(fence, current)
            if _hold(seen, ours) and claiming:
                return
            counters = {view.row.log: view.counters for view in seen} if family == record.CORE else {}
            draft = Draft(self.logs.stamp(seen), self._known, counters, history=seen[0].counters.history)
            try:
                if record.TRACES in counters and not claiming and not settling:
                    await self._known.statuses.follow(counters[record.TRACES])
                await fill(draft)
            except (StaleRevision, SequenceGap, DuplicateEntry):
                if await self._is_current(seen):
                    raise
                continue
            rows = draft.finish()
            if not rows and not claiming and not settling:
                if await self._is_current(seen):
                    return
                continue
            try:
                commit = self._rng.randbytes(12), draft.stamp
                decided = await self.logs.decide(seen, _counted(seen, draft), rows, fence, commit, ours)
            except OutcomeUnknown:
                self._forget(seen)
                self._indeterminate.setdefault(family, set()).update(names)
                raise
            if decided is not None:
                self._unfinished[family] = (writes, decided, draft)
                self._indeterminate.get(family, set()).difference_update(names)
                await self._finish(family)
                return
            self._forget(seen)
            await asyncio.sleep(self._rng.uniform(0.0, 0.002 * min(attempt, 25)))
        raise StoreUnavailable("too many processes write at once", retry_after=0.2)

    async def _finish(self, family: str) -> Sequence[Write] | None:
        """Write the rows of what was decided and could not be written yet; what its writes were."""
        if family not in self._unfinished:
            return None
        writes, decided, draft = self._unfinished[family]
        await self.logs.apply(decided)
        for view in decided.views:
            self._views[view.place] = view
            if view.place == (record.CORE, record.TRACES) and decided.rows:
                self._known.statuses.wrote(view.counters, draft.statuses(), draft.forgotten)
        self._known.numbers.wrote(draft.entries)
        del self._unfinished[family]
        return writes

    async def _look(self, family: str, names: Sequence[str]) -> list[LogView]:
        views = await self.logs.look(family, names)
        self._views.update({view.place: view for view in views})
        return views

    async def _is_current(self, seen: Sequence[LogView]) -> bool:
        """Whether what was seen still holds: before anything is refused on the strength of it."""
        now = await self._look(seen[0].row.family, [view.row.log for view in seen])
        return all((a.row.n, a.row.epoch) == (b.row.n, b.row.epoch) for a, b in zip(now, seen, strict=True))

    def _forget(self, seen: Sequence[LogView]) -> None:
        for view in seen:
            self._views.pop(view.place, None)


async def _nothing(draft: Draft) -> None:
    """What is written with a claim."""


def _hold(views: Sequence[LogView], ours: Mapping[str, record.WriterLife]) -> bool:
    """Whether all logs hold our claims. Raises ``Outlived`` where one holds that of a later life."""
    for view in views:
        for writer, claim in ours.items():
            there = view.claims.get(writer, claim)
            if there > claim:
                raise Outlived(writer, claim.life, there.life)
    return all(view.claims.get(writer) == claim for view in views for writer, claim in ours.items())


def _counted(views: Sequence[LogView], draft: Draft) -> list[record.Counters]:
    """What each log has counted with the commit; changes of connections are counted by the first."""
    own = draft.counted() if views[0].row.family == record.CORE else {}
    counted = [own.get(view.row.log, view.counters) for view in views]
    first = counted[0]
    counted[0] = msgspec.structs.replace(first, history=first.history + len(draft.changed))
    return counted
