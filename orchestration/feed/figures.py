"""What the feed counts of itself, and what Prometheus is shown of the mind."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Gauge, Histogram
from prometheus_client import Counter as Counted
from prometheus_client.exposition import choose_encoder
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

from environment.messages import Instant, SubmindReport
from orchestration.telemetry.metrics import report_collector
from orchestration.view.status import MindState, MindStatus

_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS"})
_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
Rendering: TypeAlias = Callable[[str], tuple[bytes, str]]
"""From an ``Accept`` header to figures as text, and its media type."""


class FeedFigures:
    """The counters of one feed, in a registry of its own unless one is given."""

    def __init__(self, registry: CollectorRegistry | None = None, mind: str = "", *, per_submind: bool = False) -> None:
        """``per_submind``: show each cognitive submind by itself."""
        self.registry = registry or CollectorRegistry()
        self.limit_hits: Counter[str] = Counter()
        if registry is None:
            ProcessCollector(registry=self.registry)
            GCCollector(registry=self.registry)
        self._requests = Counted(
            "submind_http_requests", "HTTP requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "submind_http_seconds",
            "Time to answer an HTTP request, streams apart.",
            ["route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.streams = Gauge("submind_http_streams", "Readers of the event stream.", registry=self.registry)
        self.entries = Counted(
            "submind_http_stream_entries", "Events sent to readers of event streams.", registry=self.registry
        )
        self._limits = Counted(
            "submind_http_limit_hits", "Times a limit of the feed was met.", ["limit"], registry=self.registry
        )
        self._reports = report_collector(self.registry, mind, per_submind=per_submind)

    def request(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Count an answer. ``seconds``: that it took; None for a stream."""
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(route).observe(seconds)

    def limit_hit(self, limit: str) -> None:
        """Count that a limit was met."""
        self.limit_hits[limit] += 1
        self._limits.labels(limit).inc()

    def show(
        self, status: MindStatus, reports: list[SubmindReport], more: Mapping[str, float], wall: Instant
    ) -> Rendering:
        """Take in what is known of the mind; the answer renders everything for an ``Accept`` header."""
        self._reports.update(reports, {**_of_the_mind(status), **more}, wall)
        return self._render

    def show_own(self, more: Mapping[str, float], wall: Instant) -> Rendering:
        """The same for a process that is not the mind's: of ``more`` and itself alone."""
        self._reports.update((), more, wall)
        return self._render

    def _render(self, accept: str) -> tuple[bytes, str]:
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type


def _of_the_mind(status: MindStatus) -> dict[str, float]:
    figures = {
        "up": float(status.state in {MindState.RUNNING, MindState.DEGRADED}),
        "degraded": float(status.state is MindState.DEGRADED),
        "uptime_seconds": status.uptime,
        "perceptions_head": float(status.perceptions.head),
        "perceptions_per_minute": status.perceptions.per_minute,
        "stream_head": float(status.stream.head),
        "thoughts_per_hour": status.stream.per_hour,
        "traces_live": float(status.traces.live),
        "traces": float(status.traces.total),
    }
    figures.update({f"actors:{state}": float(count) for state, count in status.subminds.items()})
    if status.tokens.budget_left is not None:
        figures["budget_left"] = status.tokens.budget_left
    return figures
