"""Write the list of metrics, of ``orchestration/telemetry/names.py``: ``python docs/metrics.py [--check]``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from generated import write_or_check
from prometheus_client import CollectorRegistry

from orchestration.feed.figures import FeedFigures
from orchestration.telemetry import names

FILE = Path(__file__).resolve().parent / "metrics.md"

HEAD = """\
# Metrics

<!-- Written by `make docs` from the names that are counted under: change those. -->

What Prometheus reads at `/metrics` of a host. [operations.md](operations.md#what-to-watch) says which of them to watch,
[runbook.md](runbook.md) what to do about alerts. There are the usual ones of a Python process as well (`process_...`).

A counter (`_total`) begins anew with its process or actor; most are there from the beginning, some appear with their
first count. A histogram (`_seconds`) has `_bucket`, `_sum` and `_count`; all else are gauges. Durations are in seconds,
sizes in bytes.

**Every host of a mind tells the same of the mind and its actors**, as it reads them in the store: aggregate them with
`max`, not with `sum`. What begins with `submind_host_`, `submind_gateway_` or `submind_http_` is the process's own.

**The number of series does not grow with the mind.** Actors that every mind has are told apart by `actor`; cognitive
subminds, of which there may be any number, are one, with `role="cognitive"` and no `actor`: counters, histograms and
gauges are added up, of some gauges the highest is shown. `telemetry.metrics.per_submind: true` shows each by itself.
All but `submind_http_` carry the name of the `mind`.
"""


def _rows(found: Iterator[tuple[str, str, str]]) -> list[str]:
    lines = ["| metric | labels | meaning |", "|---|---|---|"]
    return [*lines, *(f"| `{name}` | {labels} | {told} |" for name, labels, told in sorted(found))]


def _labels(*labels: str) -> str:
    return ", ".join(f"`{one}`" for one in labels)


def _whole() -> Iterator[tuple[str, str, str]]:
    for name, told in names.HOST.values():
        label = names.LABELS.get(name)
        yield f"submind_{name}", _labels(*([label] if label else [])), told


def _actors() -> Iterator[tuple[str, str, str]]:
    for name, told in names.HELP.items():
        label = names.LABELS.get(name)
        shown = f"{name}_total" if name == names.LIMIT_HITS else name
        yield f"submind_{shown}", _labels("role", "actor", *([label] if label else [])), told
    yield "submind_actor_state", _labels("role", "actor", "state"), "Actors in each state."
    yield (
        "submind_report_age_seconds",
        _labels("role", "actor"),
        "Since the actor's last report, the oldest of several.",
    )


def _http() -> Iterator[tuple[str, str, str]]:
    registry = CollectorRegistry()
    feed = FeedFigures(registry)
    feed.request("GET", "/", 200, 0.1)
    feed.limit_hit("x")
    for family in registry.collect():
        if family.name.startswith("submind_http"):
            label = sorted({key for sample in family.samples for key in sample.labels} - {"le"})
            yield f"{family.name}{'_total' if family.type == 'counter' else ''}", _labels(*label), family.documentation


def document() -> str:
    """The whole file."""
    lines = [HEAD, "## Of the mind and its hosts", "", *_rows(_whole()), "", "## Of HTTP", "", *_rows(_http()), ""]
    return "\n".join([*lines, "## Of actors", "", *_rows(_actors())]) + "\n"


if __name__ == "__main__":
    write_or_check(FILE, document(), "Write docs/metrics.md from the names in the code.")
