"""Where operators read the audit log of growth, and order."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass

from environment.messages import Instant
from environment.population import GrowthEvent, GrowthKind, Member, growth_head, read_growth
from environment.ports import Stores
from orchestration.growth.errors import NotWaiting
from orchestration.growth.log import GrowthLog
from orchestration.growth.settings import GrowthSettings
from orchestration.pages import place_of, size_of, token_of

_PAGE = 1000
_MOST_MEMBERS = 1000
"""Members in one page."""
_LOOK = 0.5
"""Seconds between two looks at the log for who follows it."""


@dataclass(frozen=True, slots=True)
class PopulationPage:
    """Who lives, and within which bounds."""

    living: int
    """Subminds, configured ones included."""
    ceiling: int
    births: int
    """In the last hour."""
    births_per_hour: int
    approval: str
    """``none``, ``divisions`` or ``all``."""
    frozen: GrowthEvent | None
    """By what growth is frozen."""
    waiting: tuple[GrowthEvent, ...]
    """Proposals that wait for an approval, the oldest first."""
    members: tuple[Member, ...]
    """Who was born, in the order of their births: one page of them."""
    head: int
    """The last number of the audit log."""
    mind_runs: bool
    """Whether the mind process runs: while it does not, nobody is born, and what is ordered holds when it does."""
    born: int = 0
    """How many were ever born."""
    next_page_token: str = ""
    """Asks for the next page of members; empty when this is the last."""


@dataclass(frozen=True, slots=True)
class OrderOutcome:
    """What came of an operator's order, once it is durable."""

    event: GrowthEvent | None
    """The entry of the audit log; None where it was so already."""
    mind_runs: bool


async def _nobody() -> None:
    """Nobody is to be told."""


@dataclass(eq=False, repr=False)
class GrowthAdmin:
    """Growth as operators see it, whether the mind process runs or not.

    Guarantee: what an order answers is in the log of the store, so it holds for every process of the mind from then on
    and over every restart. The same order given again is answered with what it decided. Raises ``StoreUnavailable``,
    ``NotWaiting`` and ``Frozen``.

    ``runs``: whether the mind process does. ``told`` is called after each order, so that it looks at the log.
    """

    _stores: Stores
    _settings: GrowthSettings
    _configured: Mapping[str, str]
    _now: Callable[[], Instant]
    _: KW_ONLY
    runs: Callable[[], bool] = lambda: False
    told: Callable[[], Awaitable[None]] = _nobody

    def __post_init__(self) -> None:
        self._log = GrowthLog(self._stores, self._settings, self._configured, self._now)
        self._collections = self._stores.collections

    async def population(self, size: int = 0, token: str = "", *, living: bool = False) -> PopulationPage:
        """As it is, with a page of its members; ``living``: of those that live.

        Raises ``ValueError`` for a token of another list.
        """
        (after,) = place_of(token, 1)
        if after and not after.isdecimal():
            raise ValueError(f"{token[:64]!r} is no token of this list: leave it out to begin anew")
        await self._log.follow()
        policy, settings = self._log.policy, self._settings
        behind = [m for m in policy.members.values() if m.number > int(after or 0) and (m.living or not living)]
        behind.sort(key=lambda member: member.number)
        size = size_of(size, _MOST_MEMBERS)
        return PopulationPage(
            living=len(policy.living),
            ceiling=settings.ceiling,
            births=policy.births(self._now()),
            births_per_hour=settings.births_per_hour,
            approval=settings.approval.value,
            frozen=policy.frozen,
            waiting=tuple(policy.waiting.values()),
            members=tuple(behind[:size]),
            head=policy.seq,
            mind_runs=self.runs(),
            born=len(policy.members),
            next_page_token=token_of(str(behind[size - 1].number)) if len(behind) > size else "",
        )

    async def events(self, after: int, limit: int) -> tuple[list[GrowthEvent], int]:
        """A stretch of the log, and its last number."""
        found = await read_growth(self._collections, after, limit)
        return found, max([await growth_head(self._collections), *(event.seq for event in found[-1:])])

    async def follow(self, after: int) -> AsyncIterator[GrowthEvent]:
        """The log from a number on, without end."""
        while True:
            found = await read_growth(self._collections, after, _PAGE)
            for event in found:
                yield event
                after = event.seq
            if not found:
                await asyncio.sleep(_LOOK)

    async def freeze(self, by: str, reason: str) -> OrderOutcome:
        """Stop all growth, at once, also for what is on its way. Raises ``StoreUnavailable``."""
        return await self._outcome(await self._log.freeze(by, reason))

    async def thaw(self, by: str, reason: str) -> OrderOutcome:
        """Let growth go on. Nothing happens where it was not frozen. Raises ``StoreUnavailable``."""
        return await self._outcome(await self._log.thaw(by, reason))

    async def approve(self, proposal: int, by: str, reason: str) -> OrderOutcome:
        """Permit what a waiting proposal asks for, once; the same order again changes nothing.

        Raises ``NotWaiting``, ``Frozen``, ``StoreUnavailable``.
        """
        try:
            return await self._outcome(await self._log.approve(proposal, by, reason))
        except NotWaiting as error:
            return self._again(error, GrowthKind.APPROVED, by, reason)

    async def reject(self, proposal: int, by: str, reason: str) -> OrderOutcome:
        """Refuse a waiting proposal; the same order again changes nothing.

        Raises ``NotWaiting``, ``StoreUnavailable``.
        """
        try:
            return await self._outcome(await self._log.reject(proposal, by, reason))
        except NotWaiting as error:
            return self._again(error, GrowthKind.REJECTED, by, reason)

    def _again(self, error: NotWaiting, kind: GrowthKind, by: str, reason: str) -> OrderOutcome:
        """The answer to an order whose answer was lost: what it decided. Raises ``error`` where another decided."""
        decided = error.decision
        if decided is None or (decided.kind, decided.reason) != (kind, reason) or not self._same(decided.by, by):
            raise error
        return OrderOutcome(decided, self.runs())

    def _same(self, signed: str, by: str) -> bool:
        """Whether what somebody ``signed`` is an order of ``by``."""
        return signed == by

    async def _outcome(self, event: GrowthEvent | None) -> OrderOutcome:
        runs = self.runs()
        if event is not None and runs:
            await self.told()
        return OrderOutcome(event, runs)
