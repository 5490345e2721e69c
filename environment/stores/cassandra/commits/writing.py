"""Commits: which lane they go through, what they decide, and what is done when somebody else was first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from typing import TypeAlias

import msgspec

from environment.errors import DuplicateEntry, FencedOut, Outlived, SequenceGap, StaleRevision, StoreUnavailable
from environment.ports import Write, WriteEntries, WriteGrowth, WriteLevel, WriteMember, WriteTrace
from environment.stores.cassandra.commits.doubts import Doubt, Doubts, changed_by
from environment.stores.cassandra.commits.drafts import Draft
from environment.stores.cassandra.commits.lanes import NOTHING_CLAIMED, Decision, Lanes, View
from environment.stores.cassandra.commits.record import (
    CORE,
    GROWTH,
    STREAM,
    TRACES,
    Claim,
    LaneState,
    Payload,
    room_of,
)
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.population import GrowthEvents
from environment.stores.cassandra.stream import EntryNumbers
from environment.stores.cassandra.traces.standings import Standings

_TRIES = 200
_NOTHING = Payload()

Fill: TypeAlias = Callable[[Draft], Awaitable[None]]
"""Puts into a draft what is to be written, checked against the lanes as they are seen now."""


class Writer:
    """Writes to one mind through its lanes, as one opening.

    Guarantees: a commit is decided as a whole, by one conditional write, or not at all; its rows are there when it is
    answered; commits of one room follow each other. Where a decided commit could not be written out, it is the
    first thing that the next one does, and asking for it again only finishes it: for all of it, or for parts, in
    whatever company. Nothing is listed twice, unless others decided on more in the meantime than a record tells of.
    """

    def __init__(
        self,
        lanes: Lanes,
        standings: Standings,
        numbers: EntryNumbers,
        grown: GrowthEvents,
        lane: str,
        rng: Random,
    ) -> None:
        self.lanes = lanes
        self._standings = standings
        self._numbers = numbers
        self._grown = grown
        self._lane = lane
        self._rng = rng
        self._views: dict[tuple[str, str], View] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._unfinished: dict[str, tuple[Sequence[Write], Decision]] = {}
        self._doubts = Doubts()
        self._claims: dict[str, Mapping[str, Claim]] = {}
        """By room, what this opening claimed."""

    async def commit(self, writes: Sequence[Write], fence: int) -> None:
        """See ``Stores.commit``."""
        writes = list(writes)
        room, names = self._home(writes)

        async def fill(draft: Draft) -> None:
            await draft.add(writes, self._standings, self._numbers, self._grown)
            draft.leave_out(self._doubts.missing)

        if changed_by(writes):
            await self._find_out(room)
        async with self._turn(room):
            if room not in self._unfinished or await self._finish(room) != writes:
                await self._decide(room, names, fill, fence, writes)
            self._doubts.told(writes)

    async def claim(self, fence: int, life: int, *, numbers: bool) -> None:
        """See ``Claimed.claim``."""
        rooms = {room_of(self._lane): [self._lane]} | ({CORE: [TRACES, STREAM]} if numbers else {})
        self._claims = {room: {self._lane: Claim(fence, life)} for room in rooms}
        for room, names in rooms.items():
            async with self._turn(room):
                await self._finish(room)
                await self._look(room, names)  # which writes what an earlier life left
                await self._decide(room, names, _nothing, fence, (), claiming=True)

    async def _find_out(self, but: str) -> None:
        """Whether what was asked for before is listed, where that went through other rooms than ``but``."""
        for room in sorted({*self._unfinished, *self._doubts.rooms} - {but}):
            async with self._turn(room):
                await self._finish(room)
                if names := self._doubts.lanes(room):
                    await self._decide(room, names, _nothing, 0, (), settling=True)

    async def decide_traces(self, fill: Fill) -> LaneState:
        """Decide on something about traces that no ``Write`` says; what their lane has counted with it."""
        async with self._turn(CORE):
            await self._finish(CORE)
            await self._decide(CORE, [TRACES], fill, 0, ())
            return self._views[CORE, TRACES].state

    async def traces_state(self) -> LaneState:
        """What the lane of the traces has counted."""
        async with self._turn(CORE):
            await self._finish(CORE)
            (view,) = await self._look(CORE, [TRACES])
            return view.state

    async def lead(self, token: int | None) -> int:
        """See ``Stores.lead``."""
        epoch = await self.lanes.lead(token)
        self._views.clear()
        return epoch

    def _home(self, writes: Sequence[Write]) -> tuple[str, list[str]]:
        """Numbers are given by lanes that all who write share; all else goes through the own one."""
        names = []
        if any(isinstance(write, WriteTrace | WriteLevel) for write in writes):
            names.append(TRACES)
        if any(isinstance(write, WriteEntries) for write in writes):
            names.append(STREAM)
        if any(isinstance(write, WriteGrowth | WriteMember) for write in writes):
            if names:
                raise ValueError("growth is committed by itself, not together with traces or entries")
            return GROWTH, [GROWTH]
        return (CORE, names) if names else (room_of(self._lane), [self._lane])

    def _turn(self, room: str) -> asyncio.Lock:
        return self._turns.setdefault(room, asyncio.Lock())

    async def _decide(
        self,
        room: str,
        names: Sequence[str],
        fill: Fill,
        fence: int,
        writes: Sequence[Write],
        *,
        claiming: bool = False,
        settling: bool = False,
    ) -> None:
        ours = self._claims.get(room, NOTHING_CLAIMED) if fence else NOTHING_CLAIMED
        for attempt in range(_TRIES):
            views = [self._views.get((room, name)) for name in names]
            seen = [view for view in views if view is not None]
            if len(seen) < len(names):
                seen = await self._look(room, names)
            happened = self._doubts.settle(room, seen)
            if (writes and writes in happened) or (settling and not self._doubts.lanes(room)):
                return
            current = max(view.epoch for view in seen)
            if fence and fence < current:
                raise FencedOut(fence, current)
            if _hold(seen, ours) and claiming:
                return
            states = {view.lane: view.state for view in seen} if room == CORE else {}
            growth = seen[0].state if room == GROWTH else LaneState()
            draft = Draft(states.get(TRACES, LaneState()), states.get(STREAM, LaneState()), growth)
            try:
                if TRACES in states and not claiming:
                    await self._standings.follow(states[TRACES])
                await fill(draft)
            except (StaleRevision, SequenceGap, DuplicateEntry):
                if await self._is_current(seen):
                    raise
                continue
            payload = draft.payload()
            if payload == _NOTHING and not claiming and not settling:
                if await self._is_current(seen):
                    return
                continue
            word = self._rng.randbytes(12)
            try:
                states_then = _counted(seen, draft, payload)
                decision = await self.lanes.decide(seen, states_then, payload, fence, word, ours)
            except OutcomeUnknown:
                self._forget(seen)
                self._doubts.add(room, Doubt(tuple(names), writes, word, payload.changed))
                raise
            if decision is not None:
                self._unfinished[room] = (writes, decision)
                self._doubts.moved_on(room, names)
                await self._finish(room)
                return
            self._forget(seen)
            await asyncio.sleep(self._rng.uniform(0.0, 0.002 * min(attempt, 25)))
        raise StoreUnavailable("too many processes write at once", retry_after=0.2)

    async def _finish(self, room: str) -> Sequence[Write] | None:
        """Write the rows of what was decided and could not be written yet; what its writes were."""
        if room not in self._unfinished:
            return None
        writes, decision = self._unfinished[room]
        for view in await self.lanes.apply(decision):
            self._views[view.room, view.lane] = view
            if (view.room, view.lane) == (CORE, TRACES) and decision.payload != _NOTHING:
                self._standings.wrote(view.state, decision.payload.standings, decision.payload.forgotten)
        self._numbers.wrote(decision.payload.entries)
        self._doubts.wrote(decision.payload.changed)
        del self._unfinished[room]
        return writes

    async def _look(self, room: str, names: Sequence[str]) -> list[View]:
        views = await self.lanes.look(room, names)
        self._views.update({(view.room, view.lane): view for view in views})
        return views

    async def _is_current(self, seen: Sequence[View]) -> bool:
        """Whether what was seen still holds: before anything is refused on the strength of it."""
        now = await self._look(seen[0].room, [view.lane for view in seen])
        return all((a.n, a.epoch) == (b.n, b.epoch) for a, b in zip(now, seen, strict=True))

    def _forget(self, seen: Sequence[View]) -> None:
        for view in seen:
            self._views.pop((view.room, view.lane), None)


async def _nothing(draft: Draft) -> None:
    """What is written with a claim."""


def _hold(views: Sequence[View], ours: Mapping[str, Claim]) -> bool:
    """Whether all lanes hold our claims. Raises ``Outlived`` where one holds that of a later life."""
    for view in views:
        for writer, claim in ours.items():
            there = view.claims.get(writer, claim)
            if there > claim:
                raise Outlived(writer, claim.life, there.life)
    return all(view.claims.get(writer) == claim for view in views for writer, claim in ours.items())


def _counted(views: Sequence[View], draft: Draft, payload: Payload) -> list[LaneState]:
    """What each lane has counted with the commit; changes of connections are counted by the first."""
    traces, stream = draft.counted(payload)
    own = {TRACES: traces, STREAM: stream} if views[0].room == CORE else {}
    states = [own.get(view.lane, view.state) for view in views]
    states[0] = msgspec.structs.replace(states[0], entries=states[0].entries + len(payload.growth))
    history = states[0].history + len(payload.changed)
    return [msgspec.structs.replace(states[0], history=history), *states[1:]]
