"""Group commit: many callers, one write. Used by everything through which perceptions come in."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from environment.errors import StoreUnavailable
from environment.messages import Instant, NewPerception, PerceptionBatch, Receipt, Receipts
from environment.ports import Appender, PreparedBatch
from orchestration.gateway.errors import IntakeBusy, OverQuota, Stopping
from orchestration.gateway.limits import Limits
from orchestration.gateway.settings import IntakeSettings

_log = structlog.get_logger(__name__)


@dataclass(slots=True, eq=False)
class _Batch:
    """What one caller handed in, and the answer it waits for."""

    perceptions: PreparedBatch
    size: int
    answer: asyncio.Future[Receipts]


class Intake:
    """Takes perceptions in: checks them, gives them their trust, and writes many callers' batches in one commit.

    Guarantees: an answered batch is durable, all of it. A batch that is refused or fails was not taken in, none of
    it, unless the log failed after writing, which only the log knows: sending again under the same keys is safe.
    While one commit runs, the next gathers; what waits is bounded in number and in bytes. Batches are written in the
    order in which they were submitted; when the log is unavailable, all that wait are told so at once. A caller that
    goes away before its commit begins takes its batch with it.
    """

    def __init__(self, log: Appender, settings: IntakeSettings, clock: Callable[[], Instant]) -> None:
        self._log = log
        self._settings = settings
        self._clock = clock
        self._limits = Limits(settings)
        self._queue: deque[_Batch] = deque()
        self._waiting = 0
        self._waiting_bytes = 0
        self._room = asyncio.Event()
        self._room.set()
        self._committer: asyncio.Task[None] | None = None
        self._closing = False
        self._figures = dict.fromkeys(
            ("perceptions_acknowledged_total", "perceptions_known_total", "intake_commits_total"), 0.0
        )
        self._figures["intake_commit_seconds_sum"] = 0.0

    @property
    def settings(self) -> IntakeSettings:
        """What it was configured to."""
        return self._settings

    def now(self) -> Instant:
        """The time that perceptions are received at."""
        return self._clock()

    def trust_of(self, source: str) -> float:
        """How far a source is trusted, 0..1: by its name alone."""
        return self._limits.trust_of(source)

    def figures(self) -> Mapping[str, float]:
        """Counters and gauges since the start, by metric name without prefix."""
        return {
            **self._figures,
            "intake_waiting": float(self._waiting),
            "intake_waiting_bytes": float(self._waiting_bytes),
        }

    def limits(self) -> Mapping[str, float]:
        """The numeric limits in force, by their name in the configuration."""
        values = self._settings.model_dump(include=set(_LIMITS))
        return {f"gateway.intake.{name}": float(value) for name, value in values.items()}

    def limit_hits(self) -> Mapping[str, float]:
        """How often each limit was met, by its name in the configuration."""
        return {f"gateway.intake.{name}": float(hits) for name, hits in self._limits.hits.items()}

    async def accept(self, batch: Sequence[NewPerception]) -> list[Receipt]:
        """Write a batch; its receipts, in its order, once it is durable.

        Raises ``IntakeRejected``, ``IntakeBusy``, ``Stopping``, ``StoreFull`` or ``StoreUnavailable``.
        """
        return list(await self.submit(batch))

    @property
    def known_trust(self) -> Callable[[str], float | None]:
        """How far a source is trusted that was met before; None for any other. Asked for every perception."""
        return self._limits.known_trust

    def size_of_plain(self, batch: PerceptionBatch, sent: int) -> int | None:
        """Bytes of payload of a batch that is surely right, by the schema's rules too; None: it needs a closer look.

        The batch came by the wire, in ``sent`` bytes, with the trust of ``known_trust``.
        """
        return self._limits.size_of_plain(batch, sent, self._clock())

    def submit(self, batch: Sequence[NewPerception]) -> asyncio.Future[Receipts]:
        """Put a batch in the queue: what ``accept`` waits for. Raises the same, but for the store's errors."""
        size = self._limits.check(batch, self._clock())
        trust = [self._limits.trust_of(perception.source) for perception in batch]
        return self.enqueue(replace(PerceptionBatch.of(batch), trust=trust), size)

    def enqueue(self, batch: PerceptionBatch, size: int) -> asyncio.Future[Receipts]:
        """Put a batch of ``size_of_plain`` in the queue. Raises ``IntakeBusy`` or ``Stopping``."""
        if self._closing:
            raise Stopping
        if not self._has_room():
            self._limits.hits["pending"] += 1
            raise IntakeBusy(self._settings.retry_after)
        answer: asyncio.Future[Receipts] = asyncio.get_running_loop().create_future()
        self._queue.append(_Batch(self._log.prepare(batch), size, answer))
        self._waiting += len(batch)
        self._waiting_bytes += size
        if not self._has_room():
            self._room.clear()
        if self._committer is None or self._committer.done():
            self._committer = asyncio.create_task(self._commit_all(), name="intake")
        return answer

    async def room(self) -> None:
        """Return when a batch may be submitted (somebody else may be faster: try again then)."""
        await self._room.wait()

    async def close(self) -> None:
        """Refuse new batches, write what waits, return when it is written. May be called twice."""
        self._closing = True
        if self._committer is not None:
            await asyncio.wait([self._committer])

    def _has_room(self) -> bool:
        return self._waiting < self._settings.pending and self._waiting_bytes < self._settings.pending_bytes

    async def _commit_all(self) -> None:
        """Write until nothing waits."""
        await asyncio.sleep(self._settings.commit_linger)  # 0 lets whoever is ready in this round of the loop join
        while self._queue:
            group = self._gather()
            try:
                await self._commit(group)
            except asyncio.CancelledError:
                self._answer_all([*group, *self._queue], Stopping())
                self._queue.clear()
                raise
            finally:
                self._leave(group)

    def _gather(self) -> list[_Batch]:
        """The next commit: from the front of the queue, without what nobody waits for any more."""
        group: list[_Batch] = []
        count = size = 0
        while self._queue:
            batch = self._queue[0]
            count += len(batch.perceptions)
            size += batch.size
            if group and (count > self._settings.commit or size > self._settings.commit_bytes):
                break
            group.append(self._queue.popleft())
        return group

    def _leave(self, group: Sequence[_Batch]) -> None:
        self._waiting -= sum(len(batch.perceptions) for batch in group)
        self._waiting_bytes -= sum(batch.size for batch in group)
        if self._has_room():
            self._room.set()

    async def _commit(self, group: Sequence[_Batch]) -> None:
        wanted = [batch for batch in group if not batch.answer.done()]
        if not wanted:
            return
        began = asyncio.get_running_loop().time()
        try:
            receipts = await self._log.append_batches([batch.perceptions for batch in wanted])
        except (StoreUnavailable, OverQuota) as error:
            # What waits fails as well: who sent several batches may then send them all again, in their order.
            self._answer_all([*wanted, *self._queue], error)
        except Exception as error:  # noqa: BLE001 - one caller's batch must not fail its neighbours'
            if len(wanted) > 1:
                for batch in wanted:
                    await self._commit([batch])
                return
            _log.exception("intake_failed", perceptions=len(wanted[0].perceptions))
            self._answer_all(wanted, error)
        else:
            self._acknowledge(wanted, receipts)
            self._figures["intake_commits_total"] += 1
            self._figures["intake_commit_seconds_sum"] += asyncio.get_running_loop().time() - began

    def _acknowledge(self, group: Sequence[_Batch], answers: Sequence[Receipts]) -> None:
        for batch, receipts in zip(group, answers, strict=True):
            if not batch.answer.done():
                batch.answer.set_result(receipts)
            self._figures["perceptions_acknowledged_total"] += receipts.count
            self._figures["perceptions_known_total"] += len(receipts.known)

    @staticmethod
    def _answer_all(batches: Sequence[_Batch], error: Exception) -> None:
        for batch in batches:
            if not batch.answer.done():
                batch.answer.set_exception(error)


_LIMITS = (
    "batch",
    "text_bytes",
    "image_bytes",
    "telemetry_names",
    "labels",
    "label_bytes",
    "far_future",
    "pending",
    "pending_bytes",
    "per_second",
)
