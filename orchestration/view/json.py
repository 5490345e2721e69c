"""The one place that says how messages look as JSON: over HTTP, in ``--json`` output, in a replay.

Times are RFC 3339 in UTC with ``Z``. A number that JSON cannot write (infinite, not a number) becomes ``null``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, cast

from environment.lineage import Explanation
from environment.messages import (
    Connection,
    ConnectionChange,
    Instant,
    PerceptionRef,
    Receipt,
    StreamEntry,
    SubmindReport,
    Trace,
)
from environment.salience import at
from environment.search import Hit
from orchestration.telemetry.escape import escape_json
from orchestration.view import shapes
from orchestration.view.status import MindStatus

JsonObject: TypeAlias = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = datetime(1, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
_RFC3339 = re.compile(r"^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$")


def rfc3339(instant: Instant) -> str:
    """An instant as ``2026-01-02T03:04:05Z``, with microseconds where there are any; kept within years 1 to 9999."""
    at = _EPOCH + timedelta(seconds=min(max(instant, _EARLIEST), _LATEST))
    return at.isoformat().replace("+00:00", "Z")


def instant(text: str) -> Instant:
    """The instant an RFC 3339 text or a number of seconds since the epoch names. Raises ValueError, saying the form."""
    try:
        if _RFC3339.match(text):
            return datetime.fromisoformat(text.upper().replace(" ", "T")).timestamp()
        seconds = float(text)
    except (ValueError, OverflowError) as error:
        raise ValueError(_TIME_FORM) from error
    if not _EARLIEST <= seconds <= _LATEST:
        raise ValueError(_TIME_FORM)
    return seconds


_TIME_FORM = "a time is RFC 3339 with its offset, for example 2026-01-02T03:04:05Z, or seconds since 1970"


def dumps(value: object) -> str:
    """One line of JSON that is safe to print: no control, direction or invisible character stands in it unescaped."""
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def ref_shape(ref: PerceptionRef) -> shapes.RefShape:
    """A cited perception."""
    return shapes.RefShape(id=ref.id, time=rfc3339(ref.time), source=ref.source)


def entry_shape(entry: StreamEntry) -> shapes.EntryShape:
    """An entry of the stream."""
    return shapes.EntryShape(
        seq=entry.seq,
        time=rfc3339(entry.time),
        kind=entry.kind.value,
        text=entry.text,
        salience=entry.salience,
        confidence=entry.confidence,
        trust=entry.trust,
        perceptions=[ref_shape(ref) for ref in entry.perceptions],
        lineage=list(entry.lineage),
        id=entry.id,
        focus=entry.focus,
        author=entry.author,
        at=rfc3339(entry.at),
    )


def trace_shape(trace: Trace, now: Instant) -> shapes.TraceShape:
    """A trace, with its salience at mind time ``now``."""
    thought = trace.thought
    return shapes.TraceShape(
        id=trace.id,
        version=trace.version,
        author=thought.author,
        authors=list(trace.authors or (thought.author,)),
        kind=thought.kind.value,
        text=thought.text,
        time=rfc3339(thought.time),
        at=rfc3339(thought.at),
        salience=salience_of(trace, now),
        level=shapes.LevelShape(value=trace.level.value, at=rfc3339(trace.level.at), half_life=trace.level.half_life),
        live=trace.live,
        confidence=thought.confidence,
        trust=thought.trust,
        topic=thought.topic,
        parents=list(thought.parents),
        perceptions=[ref_shape(ref) for ref in thought.perceptions],
        associations=list(thought.associations),
        emotions=cast("dict[str, float | None]", dict(thought.emotions)),
        insights=list(thought.insights),
        count=thought.count,
        conscious=trace.conscious,
    )


def report_shape(report: SubmindReport) -> shapes.ReportShape:
    """What an actor last said of itself."""
    return shapes.ReportShape(
        name=report.name,
        role=report.role,
        goal=report.goal,
        state=report.state.value,
        at=rfc3339(report.at),
        topics=list(report.topics),
        mailbox=report.mailbox,
        metrics=cast("dict[str, float | None]", dict(report.metrics)),
        reason=report.reason,
    )


def connection_shape(connection: Connection) -> shapes.ConnectionShape:
    """A connection."""
    return shapes.ConnectionShape(
        owner=connection.owner,
        topic=connection.topic,
        label=connection.label,
        peer=connection.peer,
        weight=connection.weight,
        ltp=connection.ltp,
        uses=connection.uses,
        credited=connection.credited,
        last_use=rfc3339(connection.last_use),
        history=[shapes.OutcomeShape(time=rfc3339(time), outcome=outcome) for time, outcome in connection.history],
    )


def change_shape(change: ConnectionChange) -> shapes.ChangeShape:
    """An event in the life of a connection."""
    return shapes.ChangeShape(
        mark=change.mark,
        owner=change.owner,
        topic=change.topic,
        label=change.label,
        peer=change.peer,
        at=rfc3339(change.at),
        kind=change.kind.value,
        weight=change.weight,
        reason=change.reason,
    )


def hit_shape(hit: Hit, now: Instant) -> shapes.HitShape:
    """A trace found by meaning."""
    return shapes.HitShape(score=hit.score, also=list(hit.also), trace=trace_shape(hit.trace, now))


def status_shape(status: MindStatus) -> shapes.StatusShape:
    """How the mind is."""
    return shapes.StatusShape(
        mind=status.mind,
        state=status.state.value,
        version=status.version,
        uptime_s=status.uptime,
        perceptions=shapes.PerceptionFiguresShape(
            acknowledged=status.perceptions.acknowledged,
            head=status.perceptions.head,
            per_minute=status.perceptions.per_minute,
        ),
        stream=shapes.StreamFiguresShape(head=status.stream.head, per_hour=status.stream.per_hour),
        traces=shapes.TraceFiguresShape(live=status.traces.live, total=status.traces.total),
        tokens=shapes.TokenFiguresShape(
            in_=status.tokens.tokens_in,
            out=status.tokens.tokens_out,
            cost=status.tokens.cost,
            budget_left=status.tokens.budget_left,
        ),
        substrate=dict(status.substrate),
        limits=[shapes.LimitShape(name=hit.name, limit=hit.limit, hits=hit.hits) for hit in status.limits],
        subminds=dict(status.subminds),
        reasons=list(status.reasons),
    )


def explanation_shape(node: Explanation) -> shapes.NodeShape:
    """A lineage tree. Depth is bounded by whoever explained."""
    return shapes.NodeShape(
        id=node.id,
        kind=node.kind.value,
        text=node.text,
        time=rfc3339(node.time),
        source=node.source or None,
        author=node.author or None,
        salience=node.salience,
        confidence=node.confidence,
        trust=node.trust,
        children=[explanation_shape(child) for child in node.children],
        truncated=node.truncated,
        trace_id=node.trace_id or None,
    )


def salience_of(trace: Trace, now: Instant) -> float:
    """0..1: what is left of a trace's level at mind time ``now``."""
    return at(trace.level, now)


def entry_json(entry: StreamEntry) -> JsonObject:
    """An entry of the stream as a JSON object."""
    return entry_shape(entry).model_dump()


def trace_json(trace: Trace, now: Instant) -> JsonObject:
    """A trace as a JSON object, with its salience at mind time ``now``."""
    return trace_shape(trace, now).model_dump()


def traces_json(traces: Iterable[Trace], now: Instant) -> list[JsonObject]:
    """Traces as JSON objects."""
    return [trace_json(trace, now) for trace in traces]


def report_json(report: SubmindReport) -> JsonObject:
    """An actor's report as a JSON object."""
    return report_shape(report).model_dump()


def connection_json(connection: Connection) -> JsonObject:
    """A connection as a JSON object."""
    return connection_shape(connection).model_dump()


def change_json(change: ConnectionChange) -> JsonObject:
    """A change of a connection as a JSON object."""
    return change_shape(change).model_dump()


def hit_json(hit: Hit, now: Instant) -> JsonObject:
    """A search hit as a JSON object."""
    return hit_shape(hit, now).model_dump()


def status_json(status: MindStatus) -> JsonObject:
    """The status as a JSON object."""
    return status_shape(status).model_dump()


def explanation_json(node: Explanation) -> JsonObject:
    """A lineage tree as nested JSON objects; only perceptions have a ``source``, only the others an ``author``."""
    return explanation_shape(node).model_dump(exclude_none=True)


def receipt_json(receipt: Receipt) -> JsonObject:
    """The answer to one perception as a JSON object."""
    return shapes.ReceiptShape(id=receipt.id, new=receipt.new).model_dump()
