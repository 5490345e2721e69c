"""Times: in an actor, to be put into its report; and all figures in the host, where Prometheus reads them."""

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
from orchestration.faculties import many
from orchestration.telemetry import names

PREFIX: Final = "submind_"

_INVALID = re.compile(r"[^a-zA-Z0-9_]")
_PARTS = ("_sum", "_count", "_bucket")


class Histograms:
    """Durations of one actor, by what took them; ``flat`` is what its report carries."""

    def __init__(self) -> None:
        self._histograms: dict[str, _Histogram] = {}

    def observe(self, name: str, seconds: float) -> None:
        """Add a duration to a histogram."""
        histogram = self._histograms.get(name)
        if histogram is None:
            histogram = self._histograms[name] = _Histogram(names.BUCKETS.get(name, names.SHORT))
        histogram.observe(seconds)

    def flat(self) -> dict[str, float]:
        """All of it, as ``SubmindReport.metrics`` takes it."""
        return {key: value for name, each in self._histograms.items() for key, value in each.flat(name)}


class _Histogram:
    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._buckets = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        self._buckets[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def flat(self, name: str) -> Iterator[tuple[str, float]]:
        running = 0
        for bound, bucket in zip((*self._bounds, math.inf), self._buckets, strict=True):
            running += bucket
            yield f"{name}_bucket:{_bound(bound)}", float(running)
        yield f"{name}_sum", self._sum
        yield f"{name}_count", float(running)


def _bound(value: float) -> str:
    return "+Inf" if math.isinf(value) else f"{value:g}"


_Key = tuple[str, ...]
"""Values of labels: role and actor of who tells, and what stands behind a colon."""


class ReportCollector(Collector):
    """Shows the actors' last reports to Prometheus as ``submind_NAME{role="...",actor="..."}``; give it news before.

    Cognitive subminds are shown as one, without ``actor``: the number of series does not grow with the mind. Figures
    of the mind as a whole and of this host have neither label. All carry the name of the mind.
    """

    def __init__(self, mind: str = "", *, per_submind: bool = False) -> None:
        """``per_submind``: show each cognitive submind by itself."""
        self._mind = mind
        self._per_submind = per_submind
        self._reports: Sequence[SubmindReport] = ()
        self._figures: Mapping[str, float] = {}
        self._wall: Instant = 0.0

    def update(self, reports: Sequence[SubmindReport], figures: Mapping[str, float], wall: Instant) -> None:
        """What the next scrape shows: the reports, and figures of the host and the mind, as ``names.HOST`` has them."""
        self._reports, self._figures, self._wall = reports, figures, wall

    def collect(self) -> Iterable[Metric]:
        actors = _Families(self._mind, ("role", "actor"))
        for role, actor in {self._who(report) for report in self._reports}:
            for name in (*names.ALWAYS[""], *names.ALWAYS.get(role, ())):
                actors.add(name, _help(name), (role, actor), 0.0)
        for report in self._reports:
            who = self._who(report)
            for name, value in report.metrics.items():
                actors.add(name, _help(name), who, float(value))
        yield from actors.metrics()
        yield from self._states()
        whole = _Families(self._mind, ())
        for name, value in self._figures.items():
            stem, colon, label = name.partition(":")
            base, part = _split(stem)
            told = names.shown(base)
            whole.add(f"{told.name}{part}{colon}{label}", told.help, (), float(value))
        yield from whole.metrics()

    def _who(self, report: SubmindReport) -> _Key:
        alone = self._per_submind or not many(report.role)
        return (report.role, report.name if alone else "")

    def _states(self) -> Iterator[Metric]:
        labels = ["mind", "role", "actor"]
        state = GaugeMetricFamily(f"{PREFIX}actor_state", "Actors in each state.", labels=[*labels, "state"])
        age = GaugeMetricFamily(f"{PREFIX}report_age_seconds", "Since the actor's last report.", labels=labels)
        states: dict[_Key, float] = {}
        ages: dict[_Key, float] = {}
        for report in self._reports:
            who = self._who(report)
            for each in SubmindState:
                key = (*who, each.value)
                states[key] = states.get(key, 0.0) + float(report.state is each)
            ages[who] = max(ages.get(who, 0.0), self._wall - report.at)
        for key, count in states.items():
            state.add_metric([self._mind, *key], count)
        for who, seconds in ages.items():
            age.add_metric([self._mind, *who], seconds)
        yield state
        yield age


def report_collector(registry: CollectorRegistry, mind: str = "", *, per_submind: bool = False) -> ReportCollector:
    """A collector, registered."""
    collector = ReportCollector(mind, per_submind=per_submind)
    registry.register(collector)
    return collector


def _split(stem: str) -> tuple[str, str]:
    """A histogram's name and which part of it this is; for anything else the name."""
    for part in _PARTS:
        base = stem.removesuffix(part)
        if base != stem and base.endswith("_seconds"):
            return base, part
    return stem, ""


class _Families:
    """Sorts flattened metrics into families: a family's type follows from its name, so actors cannot disagree.

    What is told twice under the same labels is added up, or the highest of it is shown (``names.HIGHEST``).
    """

    def __init__(self, mind: str, labels: Sequence[str]) -> None:
        self._mind = mind
        self._labels = ["mind", *labels]
        self._help: dict[str, str] = {}
        self._plain: defaultdict[str, dict[_Key, float]] = defaultdict(dict)
        self._histograms: defaultdict[str, defaultdict[_Key, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))

    def add(self, name: str, told: str, who: _Key, value: float) -> None:
        stem, _, label = name.partition(":")
        base, part = _split(stem)
        shown = _INVALID.sub("_", base)
        self._help.setdefault(shown, told)
        if part:
            parts = self._histograms[shown][who]
            key = f"{part}:{label}"
            parts[key] = parts.get(key, 0.0) + value
            return
        plain, key_of = self._plain[shown], (*who, label)
        before = plain.get(key_of)
        highest = base in names.HIGHEST and before is not None
        plain[key_of] = max(before or 0.0, value) if highest else (before or 0.0) + value

    def metrics(self) -> Iterator[Metric]:
        for name, values in self._plain.items():
            yield self._values(name, values)
        for name, actors in self._histograms.items():
            family = HistogramMetricFamily(PREFIX + name, self._help[name], labels=self._labels)
            for who, parts in actors.items():
                buckets = [(key.partition(":")[2], value) for key, value in parts.items() if key.startswith("_bucket")]
                count = parts.get("_count:", 0.0)
                if not any(bound == "+Inf" for bound, _ in buckets):
                    buckets.append(("+Inf", count))
                buckets.sort(key=lambda bucket: _number(bucket[0]))
                family.add_metric([self._mind, *who], buckets, sum_value=parts.get("_sum:", 0.0))
            yield family

    def _values(self, name: str, values: Mapping[_Key, float]) -> Metric:
        labelled = any(key[-1] for key in values)
        keys = [*self._labels, names.LABELS.get(name, "label")] if labelled else self._labels
        counts = name.endswith("_total") or name == names.LIMIT_HITS
        family: CounterMetricFamily | GaugeMetricFamily = (
            CounterMetricFamily(PREFIX + name, self._help[name], labels=keys)
            if counts
            else GaugeMetricFamily(PREFIX + name, self._help[name], labels=keys)
        )
        for key, value in values.items():
            family.add_metric([self._mind, *(key if labelled else key[:-1])], value)
        return family


def _help(name: str) -> str:
    stem = _split(name.partition(":")[0])[0]
    return names.HELP.get(stem, f"{stem}, as its actor reports it.")


def _number(bound: str) -> float:
    try:
        return float(bound)
    except ValueError:
        return math.inf
