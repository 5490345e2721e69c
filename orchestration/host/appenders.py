"""What stands before a host's perception log: it takes in while the host leads, and no more than the mind is given."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from environment.errors import FencedOut, StoreUnavailable
from environment.messages import PerceptionBatch, Receipts
from environment.ports import Appender, PreparedBatch
from orchestration.access.quotas import TokenBucket
from orchestration.gateway.errors import OverQuota, StandingBy
from orchestration.gateway.settings import IntakeSettings


class PerceptionQuota:
    """What a mind takes in a second. The host that leads counts it; who takes over from it begins with a full bucket.

    As much as one commit may hold is always granted in the end.
    """

    def __init__(self, settings: IntakeSettings, clock: Callable[[], float]) -> None:
        """``clock``: seconds that never go back."""
        self._clock = clock
        capacity = float(max(settings.burst, settings.commit, settings.batch))
        self._bucket = TokenBucket(settings.per_second, capacity, capacity, clock())
        self.refusals = 0
        """How often the quota was used up."""

    @property
    def limits(self) -> bool:
        """Whether there is a quota at all."""
        return self._bucket.rate > 0

    def take(self, count: int) -> None:
        """Take as many, all or none. Raises ``OverQuota``."""
        self._bucket.fill(self._clock())
        wait = self._bucket.wait(count)
        if wait > 0:
            self.refusals += 1
            raise OverQuota("gateway.intake.per_second", self._bucket.rate, wait)
        self._bucket.level -= count


class HostAppender:
    """An ``Appender`` that refuses with ``StandingBy`` unless it is open and the term still runs.

    Guarantee: nothing is appended by a host that knows that it does not lead. One that does not know yet is
    refused by the log, and ``overtaken`` is called with what it said. What is appended at once is granted by the quota
    as a whole or not at all (``OverQuota``).
    """

    def __init__(
        self, log: Appender, retry_after: float, quota: PerceptionQuota | None = None, told: Path | None = None
    ) -> None:
        """``told``: a file that is written to after each append, where whoever reads cannot watch the log's own."""
        self._log = log
        self._retry_after = retry_after
        self._quota = quota if quota is not None and quota.limits else None
        self._told = -1 if told is None else os.open(told, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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

    def release(self) -> None:
        """Release the file. May be called twice."""
        told, self._told = self._told, -1
        if told >= 0:
            os.close(told)

    @property
    def is_open(self) -> bool:
        """Whether perceptions are taken in."""
        return self._leads is not None and self._leads()

    @property
    def ahead(self) -> int:
        return self._log.ahead if self._quota is None else 1  # nothing overtakes what is refused

    def prepare(self, batch: PerceptionBatch) -> PreparedBatch:
        return self._log.prepare(batch)

    async def append_batches(self, batches: Sequence[PreparedBatch]) -> list[Receipts]:
        if not self.is_open:
            raise StandingBy(self.leader, self._retry_after)
        if self._quota is not None:
            self._quota.take(sum(map(len, batches)))
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
        if self._told >= 0:
            with suppress(OSError):  # who is not told looks by itself, later
                os.pwrite(self._told, b"\n", 0)
        return receipts
