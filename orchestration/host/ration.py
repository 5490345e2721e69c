"""No more perceptions than a mind is given: a quota that its hosts share, also when another of them leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from environment.messages import Instant, PerceptionBatch, Receipts
from environment.ports import Appender, PreparedBatch
from orchestration.gateway.errors import OverQuota
from orchestration.gateway.settings import IntakeSettings
from orchestration.membership.errors import CoordinationUnavailable
from orchestration.membership.ports import Allowance, Quotas

_NAME = "perceptions"


class Rationed:
    """An ``Appender`` that takes what it appends from the mind's quota, and refuses with ``OverQuota``.

    What is appended at once is granted as a whole or not at all; as much as one commit may hold is always granted in
    the end. While nobody can be asked, nothing is refused: the lease of who leads runs out soon after.
    """

    def __init__(self, log: Appender, quotas: Quotas, settings: IntakeSettings, wall: Callable[[], Instant]) -> None:
        self._log = log
        self._quotas = quotas
        self._wall = wall
        capacity = max(settings.burst, settings.commit, settings.batch)
        self._allowance = Allowance(float(capacity), settings.per_second)
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
