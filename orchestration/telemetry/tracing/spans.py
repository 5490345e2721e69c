"""Spans, and the bounded queue in which those of a process wait to be sent."""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol, TypeAlias

import structlog

from environment.latest import Latest
from environment.messages import PerceptionRef
from orchestration.telemetry.settings import TracingSettings
from orchestration.telemetry.tracing.ids import TraceIds

_log = structlog.get_logger(__name__)

Nanoseconds: TypeAlias = int
"""Wall time since the Unix epoch, as OpenTelemetry has it."""
Value: TypeAlias = str | int | float | bool
MOST_LINKS = 16
_LATELY = 8192
"""Spans known by id, so that what is done twice is told once."""


class Kind(IntEnum):
    """OpenTelemetry's kinds of spans, by its numbers."""

    INTERNAL = 0
    SERVER = 1
    CLIENT = 2
    PRODUCER = 3
    CONSUMER = 4


@dataclass(frozen=True, slots=True)
class Span:
    """Something that was done, from ``start`` to ``end``."""

    name: str
    trace: int
    id: int
    parent: int | None
    """Of the same trace; None for its root."""
    start: Nanoseconds
    end: Nanoseconds
    kind: Kind = Kind.INTERNAL
    attributes: Mapping[str, Value] = field(default_factory=dict)
    """Ids, names and numbers; never what was said."""
    links: Sequence[tuple[int, int]] = ()
    """(trace, span) of what else it came from."""


class Exporter(Protocol):
    """Sends spans. Called by one thread; may take its time."""

    def export(self, spans: Sequence[Span]) -> bool:
        """Whether they were taken."""

    def close(self) -> None:
        """Send no more."""


class Recorder:
    """The spans of one process, on their way to a receiver. ``start`` once, ``close`` once.

    Guarantees: ``record`` never waits and never fails; at most ``settings.queue`` spans wait; of what was not sent
    every span is counted. A span that was recorded lately is not recorded again.
    """

    def __init__(
        self, mind: str, settings: TracingSettings, exporter: Callable[[], Exporter], clock: Callable[[], Nanoseconds]
    ) -> None:
        """``exporter`` is made by the thread that sends, so that nobody waits for it to be loaded."""
        self.ids = TraceIds(mind, settings.sample)
        self.clock = clock
        self.settings = settings
        self._make = exporter
        self._queue: deque[Span] = deque()
        self._lately = Latest[int, None](_LATELY)
        self._bell = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._counts = dict.fromkeys(("sent", "dropped", "failed"), 0)
        self._away = False

    def start(self) -> None:
        """Begin to send."""
        self._thread = threading.Thread(target=self._send_all, name="spans", daemon=True)
        self._thread.start()

    def close(self, within: float = 5.0) -> None:
        """Send what waits, for at most ``within`` seconds; what is left then is counted as failed."""
        self._closing = True
        self._bell.set()
        if self._thread is not None:
            self._thread.join(within)

    def trace_of(self, refs: Sequence[PerceptionRef]) -> int | None:
        """The trace that something belongs to: that of the perception it focuses on; None where it is not traced."""
        return self.ids.traced(refs[0].id) if refs else None

    def record(self, span: Span) -> None:
        """Take a span in."""
        if span.id in self._lately:
            return
        self._lately[span.id] = None
        if len(self._queue) >= self.settings.queue:
            self._counts["dropped"] += 1
            return
        self._queue.append(span)
        if len(self._queue) >= self.settings.batch:
            self._bell.set()

    def figures(self) -> Mapping[str, float]:
        """Counters and gauges by metric name."""
        return {
            "spans_waiting": float(len(self._queue)),
            "spans_sent_total": float(self._counts["sent"]),
            "spans_dropped_total": float(self._counts["dropped"]),
            "spans_failed_total": float(self._counts["failed"]),
        }

    def _send_all(self) -> None:
        try:
            exporter = self._make()
        except Exception as error:  # noqa: BLE001 - a mind thinks also where nobody watches
            _log.error("tracing_failed", reason=f"{type(error).__name__}: {error}")
            self.settings = self.settings.model_copy(update={"queue": 0})  # everything is dropped, and counted
            return
        try:
            while not self._closing:
                self._bell.wait(self.settings.every)
                self._bell.clear()
                self._send_waiting(exporter)
            self._send_waiting(exporter)
        finally:
            exporter.close()

    def _send_waiting(self, exporter: Exporter) -> None:
        while self._queue:
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), self.settings.batch))]
            taken = exporter.export(batch)
            self._counts["sent" if taken else "failed"] += len(batch)
            if taken == self._away:  # told once, not for every batch
                self._away = not taken
                told = _log.info if taken else _log.warning
                told("spans_taken_again" if taken else "spans_not_taken", endpoint=self.settings.endpoint)
            if not taken:
                return  # a receiver that is away is not asked for every batch that waits
