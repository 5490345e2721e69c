"""The audit log of growth, and the policy that follows it: decisions of one process that hold for all."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import structlog

from environment import population
from environment.collections import RESERVED, Collection, WriteDocument
from environment.errors import StaleRevision, StoreUnavailable
from environment.messages import Instant
from environment.ports import Stores, Write, WriteState
from orchestration.growth.policy import GrowthPolicy
from orchestration.growth.proposals import GrowthDecision, GrowthProposal, GrowthVerdict
from orchestration.growth.settings import GrowthSettings

T = TypeVar("T")
_log = structlog.get_logger(__name__)
_PAGE = 1000
_TRIES = 200
_POPULATION = {population.GrowthKind.DIVIDED, population.GrowthKind.RETIRED}

HandoverWrites: TypeAlias = Callable[[population.Member], Sequence[Write]]
"""What else a grant writes: a child's first state, or what a retired submind leaves."""


HANDOVERS = Collection(f"{RESERVED}handovers", bytes)
"""By name, what one that ended has left, until its heir has it all."""


@dataclass(eq=False, repr=False)
class GrowthLog:
    """A policy over the stores.

    Guarantees: each decision is made on everything that was decided before, by whichever process, and stands in the
    log together with all it changes, or has not been made; calls of one object are decided one after the other.
    Raises ``StoreUnavailable`` where nothing is known to have been decided, and the call may be repeated, and
    ``FencedOut`` where another leads.

    ``configured``: name to role. ``fence``: the epoch to decide under; 0 for an operator, who leads nothing.
    """

    _stores: Stores
    _settings: GrowthSettings
    _configured: Mapping[str, str]
    _now: Callable[[], Instant]
    _fence: int = 0

    def __post_init__(self) -> None:
        self.policy = GrowthPolicy(self._settings, self._configured)
        self._turn = asyncio.Lock()

    async def follow(self) -> list[population.GrowthEvent]:
        """Apply what others wrote to the log since; those entries. Raises ``StoreUnavailable``."""
        async with self._turn:
            return await self._follow()

    async def consider(
        self, proposal: GrowthProposal, handover: HandoverWrites, nodes: Mapping[str, int] | None = None
    ) -> GrowthDecision:
        """Decide on a proposal; where it is granted, it has happened."""

        def decide() -> tuple[GrowthDecision, list[Write]]:
            decision = self.policy.consider(proposal, self._now(), nodes)
            member = decision.member
            if decision.verdict is not GrowthVerdict.GRANTED or decision.event is None or member is None:
                return decision, []
            return decision, [population.write_member(member), *handover(member)]

        return await self._decide(decide, lambda decision: decision.event)

    async def settle(self, name: str, by: str) -> population.Member | None:
        """``by`` says that what ``name`` got or left is in its hands: the member, now settled.

        None where ``by`` is not the one who can say so.
        """
        async with self._turn:
            await self._follow()
            member = self.policy.members.get(name)
            if member is None or by != (member.parent if member.living else member.heir):
                return None
            if not member.settled:
                member = replace(member, settled=True)
                done: list[Write] = [population.write_member(member)]
                if not member.living:  # its heir has it all: what it left would stay for ever
                    done += [HANDOVERS.remove(name, time=self._now()), WriteState(name, b"")]
                await self._stores.commit(done, self._fence)
                self.policy.take(member)
            return member

    async def freeze(self, by: str, reason: str) -> population.GrowthEvent | None:
        """Stop all growth from now on; None where it was frozen."""
        return await self._operate(lambda now: self.policy.freeze(by, reason, now))

    async def thaw(self, by: str, reason: str) -> population.GrowthEvent | None:
        """Let growth go on; None where it was not frozen."""
        return await self._operate(lambda now: self.policy.thaw(by, reason, now))

    async def approve(self, number: int, by: str, reason: str = "") -> population.GrowthEvent | None:
        """Permit a waiting proposal. Raises ``NotWaiting``, ``Frozen``."""
        return await self._operate(lambda now: self.policy.approve(number, by, reason, now))

    async def reject(self, number: int, by: str, reason: str = "") -> population.GrowthEvent | None:
        """Refuse a waiting proposal. Raises ``NotWaiting``."""
        return await self._operate(lambda now: self.policy.reject(number, by, reason, now))

    async def _operate(
        self, order: Callable[[Instant], population.GrowthEvent | None]
    ) -> population.GrowthEvent | None:
        return await self._decide(lambda: (order(self._now()), []), lambda event: event)

    async def _decide(
        self, decide: Callable[[], tuple[T, list[Write]]], event_of: Callable[[T], population.GrowthEvent | None]
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

    async def _write(self, event: population.GrowthEvent, writes: Sequence[Write]) -> bool:
        """Whether the event is in the log: false where another was first."""
        try:
            await self._stores.commit([population.write_growth(event), *writes], self._fence)
        except StaleRevision:
            return False
        self.policy.apply(event, _members_in(writes))
        return True

    async def _follow(self) -> list[population.GrowthEvent]:
        found: list[population.GrowthEvent] = []
        collections = self._stores.collections
        while page := await population.read_growth(collections, self.policy.seq + len(found), _PAGE):
            found += page
        if found:
            # Read after the events: each of them has its member by then.
            told = _POPULATION & {e.kind for e in found}
            members = await population.MEMBERS.all_of(collections) if told else {}
            for event in found:
                about = event.other if event.kind is population.GrowthKind.DIVIDED else event.submind
                self.policy.apply(event, [members[about]] if event.kind in _POPULATION and about in members else [])
        if ahead := self.policy.set_back(self._now()):
            _log.warning("growth_was_dated_ahead", seconds=round(ahead), reason="a clock was wrong: it counts from now")
        return found


def _members_in(writes: Sequence[Write]) -> list[population.Member]:
    return [
        population.MEMBERS.value(write.document)
        for write in writes
        if isinstance(write, WriteDocument) and write.document.collection == population.MEMBERS.name
    ]
