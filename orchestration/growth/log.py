"""The audit log of growth, and the guard that follows it: decisions of one process that hold for all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

import structlog

from environment.errors import SequenceGap, StoreUnavailable
from environment.messages import Instant
from environment.population import GrowthEvent, GrowthKind, Member
from environment.ports import Stores, Write, WriteGrowth, WriteMember, WriteState
from orchestration.growth.guard import Guard
from orchestration.growth.proposals import Decision, Proposal, Verdict
from orchestration.growth.settings import GrowthSettings

T = TypeVar("T")
_log = structlog.get_logger(__name__)
_PAGE = 1000
_TRIES = 200
_POPULATION = {GrowthKind.DIVIDED, GrowthKind.RETIRED}

Bequest: TypeAlias = Callable[[Member], Sequence[Write]]
"""What else a grant writes: a child's first state, or what a retired submind leaves."""


def will_of(name: str) -> str:
    """Under which name the states hold what one that ended has left: it may save its own once more."""
    return f"~will/{name}"


class GrowthLog:
    """A guard over the stores.

    Guarantees: each decision is made on everything that was decided before, by whichever process, and stands in the
    log together with all it changes, or has not been made; calls of one object are decided one after the other.
    Raises ``StoreUnavailable`` where nothing is known to have been decided, and the call may be repeated, and
    ``FencedOut`` where another leads.
    """

    def __init__(
        self,
        stores: Stores,
        settings: GrowthSettings,
        configured: Mapping[str, str],
        now: Callable[[], Instant],
        fence: int = 0,
    ) -> None:
        """``configured``: name to role. ``fence``: the epoch to decide under; 0 for an operator, who leads nothing."""
        self.guard = Guard(settings, configured)
        self._stores = stores
        self._now = now
        self._fence = fence
        self._turn = asyncio.Lock()

    async def follow(self) -> list[GrowthEvent]:
        """Read on; what was new."""
        async with self._turn:
            return await self._follow()

    async def consider(self, proposal: Proposal, bequest: Bequest, nodes: Mapping[str, int] | None = None) -> Decision:
        """Decide on a proposal; where it is granted, it has happened."""

        def decide() -> tuple[Decision, list[Write]]:
            decision = self.guard.consider(proposal, self._now(), nodes)
            member = decision.member
            if decision.verdict is not Verdict.GRANTED or decision.event is None or member is None:
                return decision, []
            return decision, [WriteMember(member), *bequest(member)]

        return await self._decide(decide, lambda decision: decision.event)

    async def settle(self, name: str, by: str) -> Member | None:
        """``by`` says that what ``name`` got or left is in its hands: the member, now settled.

        None where ``by`` is not the one who can say so.
        """
        async with self._turn:
            await self._follow()
            member = self.guard.members.get(name)
            if member is None or by != (member.parent if member.living else member.heir):
                return None
            if not member.settled:
                member = replace(member, settled=True)
                done: list[Write] = [WriteMember(member)]
                if not member.living:  # its heir has it all: what it left would stay for ever
                    done += [WriteState(will_of(name), b""), WriteState(name, b"")]
                await self._stores.commit(done, self._fence)
                self.guard.take(member)
            return member

    async def freeze(self, by: str, reason: str) -> GrowthEvent | None:
        """Stop all growth from now on; None where it was frozen."""
        return await self._operate(lambda now: self.guard.freeze(by, reason, now))

    async def thaw(self, by: str, reason: str) -> GrowthEvent | None:
        """Let growth go on; None where it was not frozen."""
        return await self._operate(lambda now: self.guard.thaw(by, reason, now))

    async def approve(self, number: int, by: str, reason: str = "") -> GrowthEvent | None:
        """Permit a waiting proposal. Raises ``NotWaiting``, ``Frozen``."""
        return await self._operate(lambda now: self.guard.approve(number, by, reason, now))

    async def reject(self, number: int, by: str, reason: str = "") -> GrowthEvent | None:
        """Refuse a waiting proposal. Raises ``NotWaiting``."""
        return await self._operate(lambda now: self.guard.reject(number, by, reason, now))

    async def _operate(self, order: Callable[[Instant], GrowthEvent | None]) -> GrowthEvent | None:
        return await self._decide(lambda: (order(self._now()), []), lambda event: event)

    async def _decide(
        self, decide: Callable[[], tuple[T, list[Write]]], event_of: Callable[[T], GrowthEvent | None]
    ) -> T:
        async with self._turn:
            await self._follow()
            for _ in range(_TRIES):
                made, writes = decide()
                event = event_of(made)
                if event is None or await self._write(event, writes):
                    return made
                await self._follow()
            raise StoreUnavailable("too many decide on growth at once", retry_after=0.5)

    async def _write(self, event: GrowthEvent, writes: Sequence[Write]) -> bool:
        """Whether the event is in the log: false where another was first."""
        try:
            await self._stores.commit([WriteGrowth(event), *writes], self._fence)
        except SequenceGap:
            return False
        self.guard.apply(event, [write.member for write in writes if isinstance(write, WriteMember)])
        return True

    async def _follow(self) -> list[GrowthEvent]:
        found: list[GrowthEvent] = []
        registry = self._stores.registry
        while page := await registry.growth(self.guard.seq + len(found), _PAGE):
            found += page
        if found:
            # Read after the events: each of them has its member by then.
            members = {m.name: m for m in await registry.members()} if _POPULATION & {e.kind for e in found} else {}
            for event in found:
                about = event.other if event.kind is GrowthKind.DIVIDED else event.submind
                self.guard.apply(event, [members[about]] if event.kind in _POPULATION and about in members else [])
        if ahead := self.guard.set_back(self._now()):
            _log.warning("growth_was_dated_ahead", seconds=round(ahead), reason="a clock was wrong: it counts from now")
        return found
