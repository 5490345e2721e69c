"""What stands before a host's perception log: it takes in while the host leads, and no more than the mind is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from environment.errors import FencedOut, StoreUnavailable
from environment.messages import Instant, PerceptionBatch, Receipts
from environment.ports import Appender, PreparedBatch
from orchestration.gateway.errors import OverQuota, StandingBy
from orchestration.gateway.settings import IntakeSettings
from orchestration.membership.errors import CoordinationUnavailable
from orchestration.membership.ports import QuotaRate, SharedQuotas

_NAME = "perceptions"


class LeaderOnlyAppender:
    """An ``Appender`` that refuses with ``StandingBy`` unless it is open and the term still runs.

    Guarantee: nothing is appended by a host that knows that it does not lead. One that does not know yet is
    refused by the log, and ``overtaken`` is called with what it said.
    """

    def __init__(self, log: Appender, retry_after: float) -> None:
        self._log = log
        self._retry_after = retry_after
        self.overtaken: Callable[[str], None] | None = None
        self._leads: Callable[[], bool] | None = None
        self.refusals = 0
        """Appends that the store could not take."""
        self.reachable = True
        """Whether the store took the last one."""
        self.leader = ""
        """Who leads instead, as far as is known; for whoever is refused."""

    def open(self, leads: Callable[[], bool]) -> None:
        """Let perceptions in for as long as ``leads`` says so."""
        self._leads = leads

    def close(self) -> None:
        """Let nothing in. May be called twice."""
        self._leads = None

    @property
    def is_open(self) -> bool:
        """Whether perceptions are taken in."""
        return self._leads is not None and self._leads()

    @property
    def ahead(self) -> int:
        return self._log.ahead

    def prepare(self, batch: PerceptionBatch) -> PreparedBatch:
        return self._log.prepare(batch)

    async def append_batches(self, batches: Sequence[PreparedBatch]) -> list[Receipts]:
        if not self.is_open:
            raise StandingBy(self.leader, self._retry_after)
        try:
            receipts = await self._log.append_batches(batches)
        except StoreUnavailable:
            self.refusals += 1
            self.reachable = False
            raise
        except FencedOut as error:
            self.close()
            if self.overtaken is not None:
                self.overtaken(str(error))
            raise StandingBy(self.leader, self._retry_after) from error
        self.reachable = True
        return receipts


class RateLimitedAppender:
    """An ``Appender`` that takes what it appends from the mind's quota, and refuses with ``OverQuota``.

    What is appended at once is granted as a whole or not at all; as much as one commit may hold is always granted in
    the end. While nobody can be asked, nothing is refused: the lease of who leads runs out soon after.
    """

    def __init__(
        self, log: Appender, quotas: SharedQuotas, settings: IntakeSettings, wall: Callable[[], Instant]
    ) -> None:
        self._log = log
        self._quotas = quotas
        self._wall = wall
        capacity = max(settings.burst, settings.commit, settings.batch)
        self._allowance = QuotaRate(float(capacity), settings.per_second)
        self.refusals = 0
        """How often the quota was used up."""

    @property
    def ahead(self) -> int:
        return 1 if self._allowance.per_second else self._log.ahead  # a quota is asked for one at a time, in order

    def prepare(self, batch: PerceptionBatch) -> PreparedBatch:
        return self._log.prepare(batch)

    async def append_batches(self, batches: Sequence[PreparedBatch]) -> list[Receipts]:
        if self._allowance.per_second:
            await self._take(sum(map(len, batches)))
        return await self._log.append_batches(batches)

    async def _take(self, count: int) -> None:
        try:
            taken = await self._quotas.take(_NAME, count, self._allowance, self._wall())
        except CoordinationUnavailable:
            return
        if not taken.granted:
            self.refusals += 1
            raise OverQuota("gateway.intake.per_second", self._allowance.per_second, taken.retry_after)
