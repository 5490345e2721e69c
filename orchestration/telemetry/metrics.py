"""Counting: in an actor, to be put into its report; and in the host, where Prometheus reads all of it."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from environment.messages import Instant, SubmindReport, SubmindState
from orchestration.telemetry import names

PREFIX: Final = "submind_"
BUCKETS: Final = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
"""Upper bounds of the histograms' buckets, in seconds."""

_INVALID = re.compile(r"[^a-zA-Z0-9_]")
_PARTS = ("_sum", "_count", "_bucket")


class Metrics:
    """Counters, gauges and histograms of one actor; ``flat`` is what its report carries.

    Guarantee: as many names as ``names`` of different (name, label) pairs were used, at most ``limit``; what comes
    beyond is counted under ``metrics_dropped_total``.
    """

    def __init__(self, limit: int = 512) -> None:
        self._limit = limit
        self._values: dict[str, float] = {}
        self._histograms: dict[str, _Histogram] = {}
        self._dropped = 0

    def count(self, name: str, amount: float = 1.0, label: str = "") -> None:
        """Add to a counter."""
        key = f"{name}:{label}" if label else name
        if self._room(key):
            self._values[key] = self._values.get(key, 0.0) + amount

    def gauge(self, name: str, value: float, label: str = "") -> None:
        """Set a gauge."""
        key = f"{name}:{label}" if label else name
        if self._room(key):
            self._values[key] = value

    def observe(self, name: str, seconds: float) -> None:
        """Add a duration to a histogram."""
        histogram = self._histograms.get(name)
        if histogram is None:
            histogram = self._histograms[name] = _Histogram()
        histogram.observe(seconds)

    def limit_hit(self, limit: str) -> None:
        """Count that a configured limit was met."""
        self.count(names.limit_hit(limit))

    def flat(self) -> dict[str, float]:
        """All of it, as ``SubmindReport.metrics`` takes it."""
        flat = dict(self._values)
        for name, histogram in self._histograms.items():
            flat.update(histogram.flat(name))
        if self._dropped:
            flat["metrics_dropped_total"] = float(self._dropped)
        return flat

    def _room(self, key: str) -> bool:
        if key in self._values or len(self._values) < self._limit:
            return True
        self._dropped += 1
        return False


class _Histogram:
    def __init__(self) -> None:
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        self._buckets[bisect_left(BUCKETS, seconds)] += 1
        self._sum += seconds

    def flat(self, name: str) -> Iterator[tuple[str, float]]:
        running = 0
        for bound, bucket in zip((*BUCKETS, math.inf), self._buckets, strict=True):
            running += bucket
            yield f"{name}_bucket:{_bound(bound)}", float(running)
        yield f"{name}_sum", self._sum
        yield f"{name}_count", float(running)


def _bound(value: float) -> str:
    return "+Inf" if math.isinf(value) else f"{value:g}"


class ReportCollector(Collector):
    """Shows the actors' last reports to Prometheus as ``submind_NAME{actor="..."}``. Give it news before a scrape."""

    def __init__(self) -> None:
        self._reports: Sequence[SubmindReport] = ()
        self._figures: Mapping[str, float] = {}
        self._wall: Instant = 0.0

    def update(self, reports: Sequence[SubmindReport], figures: Mapping[str, float], wall: Instant) -> None:
        """What the next scrape shows: the reports, and figures of the mind as a whole (``submind_mind_NAME``)."""
        self._reports, self._figures, self._wall = reports, figures, wall

    def collect(self) -> Iterable[Metric]:
        families = _Families()
        for report in self._reports:
            for name, value in report.metrics.items():
                families.add(name, report.name, float(value))
        yield from families.metrics()
        yield from self._states()
        for name, value in self._figures.items():
            yield _single(name, value)

    def _states(self) -> Iterator[Metric]:
        state = GaugeMetricFamily(
            f"{PREFIX}actor_state", "1 for the state an actor is in.", labels=["actor", "role", "state"]
        )
        age = GaugeMetricFamily(f"{PREFIX}report_age_seconds", "Since the actor's last report.", labels=["actor"])
        for report in self._reports:
            for each in SubmindState:
                state.add_metric([report.name, report.role, each.value], float(report.state is each))
            age.add_metric([report.name], max(0.0, self._wall - report.at))
        yield state
        yield age


def report_collector(registry: CollectorRegistry) -> ReportCollector:
    """A collector, registered."""
    collector = ReportCollector()
    registry.register(collector)
    return collector


def _single(name: str, value: float) -> Metric:
    shown = f"{PREFIX}mind_{_INVALID.sub('_', name)}"
    if name.endswith("_total"):
        family: CounterMetricFamily | GaugeMetricFamily = CounterMetricFamily(shown, f"{name} of the mind.")
    else:
        family = GaugeMetricFamily(shown, f"{name} of the mind.")
    family.add_metric([], value)
    return family


class _Families:
    """Sorts flattened metrics into families: a family's type follows from its name, so actors cannot disagree."""

    def __init__(self) -> None:
        self._plain: defaultdict[str, dict[tuple[str, str], float]] = defaultdict(dict)
        self._histograms: defaultdict[str, defaultdict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))

    def add(self, name: str, actor: str, value: float) -> None:
        base, _, label = name.partition(":")
        for part in _PARTS:
            stem = base.removesuffix(part)
            if stem != base and stem.endswith("_seconds"):
                self._histograms[_INVALID.sub("_", stem)][actor][f"{part}:{label}"] = value
                return
        self._plain[_INVALID.sub("_", base)][actor, label] = value

    def metrics(self) -> Iterator[Metric]:
        for name, values in self._plain.items():
            yield self._values(name, values)
        for name, actors in self._histograms.items():
            family = HistogramMetricFamily(PREFIX + name, _help(name), labels=["actor"])
            for actor, parts in actors.items():
                buckets = [(key.partition(":")[2], value) for key, value in parts.items() if key.startswith("_bucket")]
                count = parts.get("_count:", 0.0)
                if not any(bound == "+Inf" for bound, _ in buckets):
                    buckets.append(("+Inf", count))
                buckets.sort(key=lambda bucket: _number(bucket[0]))
                family.add_metric([actor], buckets, sum_value=parts.get("_sum:", 0.0))
            yield family

    def _values(self, name: str, values: Mapping[tuple[str, str], float]) -> Metric:
        labelled = any(label for _, label in values)
        keys = ["actor", "limit" if name.startswith(names.LIMIT_HITS) else "label"] if labelled else ["actor"]
        counts = name.endswith("_total") or name == names.LIMIT_HITS
        family: CounterMetricFamily | GaugeMetricFamily = (
            CounterMetricFamily(PREFIX + name, _help(name), labels=keys)
            if counts
            else GaugeMetricFamily(PREFIX + name, _help(name), labels=keys)
        )
        for (actor, label), value in values.items():
            family.add_metric([actor, label] if labelled else [actor], value)
        return family


def _help(name: str) -> str:
    return names.HELP.get(name, f"{name}, as its actor reports it.")


def _number(bound: str) -> float:
    try:
        return float(bound)
    except ValueError:
        return math.inf
