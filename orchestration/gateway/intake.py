"""Group commit: many callers, one write. Used by everything through which perceptions come in."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TypeAlias

import structlog

from environment.errors import AppendSkipped, StoreUnavailable
from environment.messages import Instant, NewPerception, PerceptionBatch, Receipts
from environment.ports import Appender, PreparedBatch
from orchestration.gateway.errors import IntakeBusy, OverQuota, Stopping
from orchestration.gateway.limits import IntakeLimits, lowered
from orchestration.gateway.settings import IntakeSettings
from orchestration.telemetry import names
from orchestration.telemetry.metrics import Histograms
from orchestration.telemetry.tracing.ids import CALLING, CallerSpan

_log = structlog.get_logger(__name__)

_WORTH = 1024
"""Perceptions that are handed over while another commit is under way; fewer wait for its end, and for company: a commit
costs what tens of batches cost in it."""


Accepted: TypeAlias = Callable[[Receipts, CallerSpan | None, float, float], None]
"""Told of an answered batch: receipts, the caller's span, seconds since it came, and seconds that its commit took."""


@dataclass(slots=True, eq=False)
class _Batch:
    """What one caller handed in, and the answer it waits for."""

    perceptions: PreparedBatch
    size: int
    answer: asyncio.Future[Receipts]
    came: float
    """By the clock of the event loop."""
    caller: CallerSpan | None


@dataclass(slots=True, eq=False)
class _Commit:
    """Batches that the log was given together."""

    group: list[_Batch]
    written: asyncio.Future[list[Receipts]]
    began: float
    behind: BaseException | None = None
    """Why one that was handed over before was refused: this one, not tried, is refused as well."""


@dataclass(eq=False, repr=False)
class Intake:
    """Takes perceptions in: checks them, gives them their trust, and writes many callers' batches in one commit.

    Guarantees: an answered batch is durable, all of it. A batch that is refused or fails was not taken in, none of
    it, unless the log failed after writing, which only the log knows: sending again under the same keys is safe.
    While the log is at as many commits as it takes ``ahead``, the next gathers; what waits is bounded in number and in
    bytes. Batches are written in the order in which they were submitted; when the log is unavailable, all that wait are
    told so at once. A caller that goes away before its commit is handed to the log takes its batch with it.
    """

    _log: Appender
    settings: IntakeSettings
    """What it was configured to."""
    _clock: Callable[[], Instant]
    _: KW_ONLY
    accepted: Accepted | None = None

    def __post_init__(self) -> None:
        self._times = Histograms()
        self._limits = IntakeLimits(self.settings)
        self._queue: deque[_Batch] = deque()
        self._queued = 0
        """Perceptions in the queue."""
        self._waiting = 0
        """Those, and what is under way."""
        self._waiting_bytes = 0
        self._room = asyncio.Event()
        self._room.set()
        self._under_way: deque[_Commit] = deque()
        self._due: asyncio.Handle | None = None
        """The next look at what waits."""
        self._mending: asyncio.Task[None] | None = None
        """While it is found out which batch a commit failed for."""
        self._idle = asyncio.Event()
        self._idle.set()
        self._closing = False
        self._figures = dict.fromkeys(
            ("perceptions_acknowledged_total", "perceptions_known_total", "intake_commits_total"), 0.0
        )

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
            **self._times.flat(),
            "intake_waiting": float(self._waiting),
            "intake_waiting_bytes": float(self._waiting_bytes),
        }

    def limits(self) -> Mapping[str, float]:
        """The numeric limits in force, by their name in the configuration."""
        values = self.settings.model_dump(include=set(_LIMITS))
        return {f"gateway.intake.{name}": float(value) for name, value in values.items()}

    def limit_hits(self) -> Mapping[str, float]:
        """How often each limit was met, by its name in the configuration."""
        return {f"gateway.intake.{name}": float(hits) for name, hits in self._limits.hits.items()}

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
        """Put a batch in the queue; its receipts, in its order, once it is durable.

        Raises ``IntakeRejected``, ``IntakeBusy`` or ``Stopping``; what is waited for, ``StoreFull`` or
        ``StoreUnavailable``.
        """
        size = self._limits.check(batch, self._clock())
        trust = [lowered(self._limits.trust_of(one.source), one.labels) for one in batch]
        return self.enqueue(replace(PerceptionBatch.of(batch), trust=trust), size)

    def enqueue(self, batch: PerceptionBatch, size: int) -> asyncio.Future[Receipts]:
        """Put a batch of ``size_of_plain`` in the queue. Raises ``IntakeBusy`` or ``Stopping``."""
        if self._closing:
            raise Stopping
        if not self._has_room():
            self._limits.hits["pending"] += 1
            raise IntakeBusy(self.settings.retry_after)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Receipts] = loop.create_future()
        self._queue.append(_Batch(self._log.prepare(batch), size, answer, loop.time(), CALLING.get()))
        self._queued += len(batch)
        self._waiting += len(batch)
        self._waiting_bytes += size
        if not self._has_room():
            self._room.clear()
        self._look()
        return answer

    async def room(self) -> None:
        """Return when a batch may be submitted (somebody else may be faster: try again then)."""
        await self._room.wait()

    async def close(self) -> None:
        """Refuse new batches, write what waits, return when it is written. May be called twice."""
        self._closing = True
        await self._idle.wait()

    def _has_room(self) -> bool:
        return self._waiting < self.settings.pending and self._waiting_bytes < self.settings.pending_bytes

    def _look(self) -> None:
        """See to what waits at the end of this round of the loop, so that whoever is ready in it joins."""
        self._idle.clear()
        if self._due is None and self._mending is None:
            loop, linger = asyncio.get_running_loop(), self.settings.commit_linger
            self._due = loop.call_later(linger, self._begin) if linger else loop.call_soon(self._begin)

    def _begin(self) -> None:
        """Hand to the log as many commits as it takes."""
        self._due = None
        while self._queue and self._mending is None and self._may_begin():
            group = self._gather()
            if group:
                self._under_way.append(self._hand_over(group))
        if not self._queue and not self._under_way and self._mending is None:
            self._idle.set()

    def _may_begin(self) -> bool:
        """Whether the log takes another commit, and as many wait as make it worth one."""
        if not self._under_way:
            return True
        return len(self._under_way) < self._log.ahead and self._queued >= min(_WORTH, self.settings.commit)

    def _hand_over(self, group: list[_Batch]) -> _Commit:
        writing = self._log.append_batches([batch.perceptions for batch in group])
        task = asyncio.ensure_future(writing)
        task.add_done_callback(lambda _: self._settle())
        return _Commit(group, task, asyncio.get_running_loop().time())

    def _settle(self) -> None:
        """Answer the commits that are done, in their order."""
        while self._under_way and self._under_way[0].written.done() and self._mending is None:
            commit = self._under_way.popleft()
            if not self._concluded(commit):
                self._under_way.appendleft(commit)
                self._mending = asyncio.create_task(self._mend(), name="intake")
                return
            self._leave(commit.group)
        self._look()

    def _concluded(self, commit: _Commit) -> bool:
        """Answer a commit; false where it is not known which of its batches it failed for, or it was not tried."""
        if commit.written.cancelled():
            self._answer_all([*commit.group, *self._drain()], Stopping())
            return True
        error = commit.written.exception()
        if commit.behind is not None and isinstance(error, AppendSkipped):
            error = commit.behind
        if error is None:
            self._acknowledge(commit.group, commit.written.result(), commit.began)
        elif isinstance(error, StoreUnavailable | OverQuota):
            # What waits fails as well: who sent several batches may then send them all again, in their order.
            self._answer_all([*commit.group, *self._drain()], error)
            self._refuse_later(error)
        elif len(commit.group) > 1 or isinstance(error, AppendSkipped):
            return False
        else:
            _log.error("intake_failed", perceptions=len(commit.group[0].perceptions), exc_info=error)
            self._answer_all(commit.group, error)
        return True

    async def _mend(self) -> None:
        """One caller's batch must not fail its neighbours': write what is under way one by one."""
        await asyncio.wait([commit.written for commit in self._under_way])
        try:
            while self._under_way:
                commit = self._under_way.popleft()
                if not self._concluded(commit):
                    for batch in commit.group:
                        await self._alone(batch, commit)
                self._leave(commit.group)
        finally:
            self._mending = None
            self._look()

    async def _alone(self, batch: _Batch, commit: _Commit) -> None:
        """Write one batch of a commit; once the log is unavailable, none of those after it."""
        if batch.answer.done():
            return
        if commit.behind is not None:
            self._answer_all([batch], commit.behind)
            return
        alone = self._hand_over([batch])
        await asyncio.wait([alone.written])
        error = None if alone.written.cancelled() else alone.written.exception()
        if isinstance(error, AppendSkipped):  # behind nothing
            error = StoreUnavailable("the log takes nothing in", self.settings.retry_after)
            self._answer_all([batch], error)
        else:
            self._concluded(alone)
        if isinstance(error, StoreUnavailable | OverQuota):
            commit.behind = error
            self._refuse_later(error)

    def _refuse_later(self, error: BaseException) -> None:
        """What is under way and was not tried is not tried again: it would stand behind a gap."""
        for later in self._under_way:
            later.behind = error

    def _drain(self) -> list[_Batch]:
        """All that waits, taken out of the queue."""
        waiting = list(self._queue)
        self._queue.clear()
        self._queued = 0
        self._leave(waiting)
        return waiting

    def _gather(self) -> list[_Batch]:
        """The next commit: from the front of the queue, without what nobody waits for any more."""
        group: list[_Batch] = []
        count = size = 0
        while self._queue:
            batch = self._queue[0]
            count += len(batch.perceptions)
            size += batch.size
            if group and (count > self.settings.commit or size > self.settings.commit_bytes):
                break
            self._queue.popleft()
            self._queued -= len(batch.perceptions)
            if batch.answer.done():
                self._leave([batch])
            else:
                group.append(batch)
        return group

    def _leave(self, group: Sequence[_Batch]) -> None:
        self._waiting -= sum(len(batch.perceptions) for batch in group)
        self._waiting_bytes -= sum(batch.size for batch in group)
        if self._has_room():
            self._room.set()

    def _acknowledge(self, group: Sequence[_Batch], answers: Sequence[Receipts], began: float) -> None:
        now = asyncio.get_running_loop().time()
        self._figures["intake_commits_total"] += 1
        self._times.observe(names.COMMIT_SECONDS, now - began)
        for batch, receipts in zip(group, answers, strict=True):
            if not batch.answer.done():
                batch.answer.set_result(receipts)
            self._figures["perceptions_acknowledged_total"] += receipts.count
            self._figures["perceptions_known_total"] += len(receipts.known)
            self._times.observe(names.ACK_SECONDS, now - batch.came)
        if self.accepted is not None:
            for batch, receipts in zip(group, answers, strict=True):
                self.accepted(receipts, batch.caller, now - batch.came, now - began)

    @staticmethod
    def _answer_all(batches: Sequence[_Batch], error: BaseException) -> None:
        for batch in batches:
            if not batch.answer.done():
                batch.answer.set_exception(error)


_LIMITS = tuple(
    """batch text_bytes image_bytes telemetry_names labels label_bytes far_future pending pending_bytes
    per_second""".split()
)
