"""How a mind is, read from what its actors reported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from environment.ancestry import Ancestor
from environment.messages import Instant, SubmindReport, SubmindState
from orchestration.telemetry import names

_LATEST = 3
"""Actors whose last reason for falling back is told."""


class MindState(StrEnum):
    """How a mind is, in a word."""

    STARTING = "starting"
    RUNNING = "running"
    DEGRADED = "degraded"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class ProcessState:
    """What the supervisor says of the mind process."""

    state: MindState
    """``STARTING``, ``RUNNING`` or ``DOWN``."""
    since: Instant
    """Wall time since when."""
    restarts: int = 0
    reason: str = ""
    """Why it is not running."""


@dataclass(frozen=True, slots=True)
class PerceptionFigures:
    """Perceptions taken in."""

    acknowledged: int
    head: int
    per_minute: float


@dataclass(frozen=True, slots=True)
class StreamFigures:
    """The stream of consciousness."""

    head: int
    per_hour: float
    """In the last hour of mind time."""


@dataclass(frozen=True, slots=True)
class TraceFigures:
    """The subliminal environment."""

    live: int
    total: int


@dataclass(frozen=True, slots=True)
class TokenFigures:
    """What thinking has cost since the mind started."""

    input: int
    output: int
    cost: float
    budget_left: float | None
    """None when no actor reports a budget."""


@dataclass(frozen=True, slots=True)
class LimitHits:
    """A limit, and how often it was met."""

    name: str
    limit: float | None
    """None when only the hits are known."""
    hits: int


@dataclass(frozen=True, slots=True)
class MindStatus:
    """How the mind is."""

    mind: str
    state: MindState
    version: str
    uptime: float
    """Seconds."""
    perceptions: PerceptionFigures
    stream: StreamFigures
    traces: TraceFigures
    tokens: TokenFigures
    substrate: Mapping[str, float | str]
    limits: tuple[LimitHits, ...]
    subminds: Mapping[str, int]
    """How many are in which state; ``silent`` counts those with work waiting that no longer report."""
    reasons: tuple[str, ...] = ()
    """Why the state is not ``RUNNING``."""
    now: Instant = 0.0
    """Mind time."""
    lineage: tuple[Ancestor, ...] = ()
    """Whom it is a clone of, the latest first."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What the reports say of the actors together."""

    state: MindState
    counts: Mapping[str, int] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()


def condition(
    reports: Sequence[SubmindReport],
    wall: Instant,
    stale_after: float,
    process: ProcessState | None = None,
    *,
    unheard: bool = False,
) -> Condition:
    """Judge a mind by its actors' last reports and its supervisor's word.

    Actors report when something changed, so an old report alone is no trouble: an actor is *silent* when its last
    report is older than ``stale_after`` seconds and left events waiting, or when ``unheard`` says that perceptions
    arrived since anybody reported. Without a supervisor (the mind is run elsewhere, or not at all) a mind whose
    actors all have old reports is down.
    """
    if process is not None and process.state is not MindState.RUNNING:
        why = process.reason or f"the mind process is {process.state.value}"
        return Condition(process.state, _counts(reports, set()), (why,))
    present = [report for report in reports if report.state is not SubmindState.STOPPED]
    if not present:
        state = MindState.STARTING if process is not None else MindState.DOWN
        return Condition(state, _counts(reports, set()), ("no actor has reported yet",))
    old = {report.name for report in present if wall - report.at > stale_after}
    everyone = len(old) == len(present)
    if everyone and (process is None or unheard):
        last = wall - max(report.at for report in present)
        state = MindState.DOWN if process is None else MindState.DEGRADED
        return Condition(state, _counts(reports, old), (f"no actor has reported for {last:.0f} s",))
    silent = {report.name for report in present if report.name in old and report.mailbox}
    told = tuple(filter(None, (_trouble(report, wall, report.name in silent) for report in present)))
    starting = all(report.state is SubmindState.STARTING for report in present)
    state = MindState.STARTING if starting else MindState.DEGRADED if told else MindState.RUNNING
    return Condition(state, _counts(reports, silent), told)


def _counts(reports: Sequence[SubmindReport], silent: set[str]) -> dict[str, int]:
    counts = {state.value: 0 for state in SubmindState}
    for report in reports:
        counts[report.state.value] += 1
    return {**counts, "silent": len(silent)}


def _trouble(report: SubmindReport, wall: Instant, silent: bool) -> str:
    """What is wrong with one actor; empty when nothing is."""
    because = f": {report.reason}" if report.reason else ""
    match report.state:
        case SubmindState.QUARANTINED:
            return f"{report.name} is quarantined{because}"
        case SubmindState.RESTARTING:
            return f"{report.name} is restarting{because}"
        case SubmindState.STARTING:
            return f"{report.name} is starting{because}"
        case _:
            late = f"{report.name} has not reported for {wall - report.at:.0f} s with {report.mailbox} events waiting"
            return late if silent else ""


def total(reports: Sequence[SubmindReport], metric: str) -> float:
    """The sum of one metric over all actors that report it."""
    return sum(report.metrics.get(metric, 0.0) for report in reports)


def tokens(reports: Sequence[SubmindReport]) -> TokenFigures:
    """What thinking has cost. Shares of a budget add up; of one for all the least that is said of it is the latest."""
    common = [one.metrics[names.BUDGET_LEFT_OF_ALL] for one in reports if names.BUDGET_LEFT_OF_ALL in one.metrics]
    budgets = [report.metrics[names.BUDGET_LEFT] for report in reports if names.BUDGET_LEFT in report.metrics]
    return TokenFigures(
        input=int(total(reports, names.TOKENS_IN)),
        output=int(total(reports, names.TOKENS_OUT)),
        cost=total(reports, names.COST),
        budget_left=sum(budgets) if budgets else min(common, default=None),
    )


def limit_hits(
    reports: Sequence[SubmindReport], known: Mapping[str, float], own: Mapping[str, float]
) -> list[LimitHits]:
    """Every limit that is configured (``known``: name to value) or was met, by actors or by this process (``own``)."""
    hits: dict[str, float] = dict.fromkeys(known, 0.0)
    for report in reports:
        for name, value in report.metrics.items():
            limit = names.limit_of(name)
            if limit is not None:
                hits[limit] = hits.get(limit, 0.0) + value
    for limit, value in own.items():
        hits[limit] = hits.get(limit, 0.0) + value
    return [LimitHits(name, known.get(name), int(count)) for name, count in sorted(hits.items())]


def substrate(reports: Sequence[SubmindReport], described: Mapping[str, float | str]) -> dict[str, float | str]:
    """What the configuration says of the substrate, and what the actors that use it reported."""
    figures: dict[str, float | str] = dict(described)
    figures["generations"] = asked = total(reports, names.GENERATIONS)
    figures["cached"] = total(reports, names.GENERATIONS_CACHED)
    figures["fallbacks"] = total(reports, names.FALLBACKS)
    if asked and described.get("fast"):
        figures["share_of_model"] = round(total(reports, names.WORDED) / asked, 3)
    labelled = {name for report in reports for name in report.metrics if name.startswith(f"{names.FALLBACK_CAUSES}:")}
    figures |= {f"fallbacks_{name.partition(':')[2]}": total(reports, name) for name in labelled}
    fell = [one for one in reports if one.reason and one.metrics.get(names.FALLBACKS)]
    latest = sorted(fell, key=lambda one: -one.at)[:_LATEST]
    if latest:
        figures["last_fallbacks"] = "; ".join(f"{one.name}: {one.reason}" for one in latest)
    seconds, count = total(reports, names.GENERATE_SECONDS_SUM), total(reports, names.GENERATE_SECONDS_COUNT)
    if count:
        figures["mean_s"] = seconds / count
    return figures
