"""From the wire to messages. Nothing is checked here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from environment.lineage import Explanation, NodeKind, Standing
from environment.messages import (
    NO_LABELS,
    ChangeKind,
    Connection,
    ConnectionChange,
    EntryKind,
    Image,
    Instant,
    Level,
    NewPerception,
    PerceptionBatch,
    PerceptionRef,
    Receipt,
    StreamEntry,
    SubmindReport,
    SubmindState,
    Thought,
    ThoughtKind,
    Trace,
    Via,
)
from environment.search import Hit, SearchFilters
from orchestration.pb.submind.v1 import consciousness_pb2, environment_pb2, mind_pb2, perception_pb2
from orchestration.view.changes import ChangeFilter
from orchestration.view.status import (
    LimitHits,
    MindState,
    MindStatus,
    PerceptionFigures,
    StreamFigures,
    TokenFigures,
    TraceFigures,
)
from orchestration.view.tail import EVERYTHING, EntryFilter

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

_NO_VECTOR = np.zeros(0, np.float32)
"""Vectors are the mind's own and do not travel."""

ENTRY_KINDS = {
    consciousness_pb2.ENTRY_KIND_THOUGHT: EntryKind.THOUGHT,
    consciousness_pb2.ENTRY_KIND_SEGUE: EntryKind.SEGUE,
}
THOUGHT_KINDS = {
    environment_pb2.THOUGHT_KIND_PERCEPT: ThoughtKind.PERCEPT,
    environment_pb2.THOUGHT_KIND_INSIGHT: ThoughtKind.INSIGHT,
    environment_pb2.THOUGHT_KIND_REFLECTION: ThoughtKind.REFLECTION,
    environment_pb2.THOUGHT_KIND_RESULT: ThoughtKind.RESULT,
}
NODE_KINDS = {
    consciousness_pb2.EXPLANATION_KIND_ENTRY: NodeKind.ENTRY,
    consciousness_pb2.EXPLANATION_KIND_TRACE: NodeKind.TRACE,
    consciousness_pb2.EXPLANATION_KIND_PERCEPTION: NodeKind.PERCEPTION,
}
STANDINGS = {
    consciousness_pb2.STANDING_KEPT: Standing.KEPT,
    consciousness_pb2.STANDING_RETIRED: Standing.RETIRED,
    consciousness_pb2.STANDING_FORGOTTEN: Standing.FORGOTTEN,
}
MIND_STATES = {
    mind_pb2.MIND_STATE_STARTING: MindState.STARTING,
    mind_pb2.MIND_STATE_RUNNING: MindState.RUNNING,
    mind_pb2.MIND_STATE_DEGRADED: MindState.DEGRADED,
    mind_pb2.MIND_STATE_DOWN: MindState.DOWN,
}
SUBMIND_STATES = {
    mind_pb2.SUBMIND_STATE_STARTING: SubmindState.STARTING,
    mind_pb2.SUBMIND_STATE_RUNNING: SubmindState.RUNNING,
    mind_pb2.SUBMIND_STATE_RESTARTING: SubmindState.RESTARTING,
    mind_pb2.SUBMIND_STATE_QUARANTINED: SubmindState.QUARANTINED,
    mind_pb2.SUBMIND_STATE_STOPPED: SubmindState.STOPPED,
}


def instant(timestamp: Timestamp) -> Instant:
    """A timestamp as seconds since 1970."""
    return timestamp.seconds + timestamp.nanos * 1e-9


def perceptions(
    batch: Iterable[perception_pb2.Perception], received: Instant, trust_of: Callable[[str], float]
) -> list[NewPerception]:
    """A batch as it goes to the log. One without a time happened when it was received."""
    made: list[NewPerception] = []
    for perception in batch:
        source, text, labels, time = perception.source, perception.text, perception.labels, perception.time
        seconds = time.seconds
        payload = "text" if text else perception.WhichOneof("payload")
        made.append(
            NewPerception(
                source,
                seconds + time.nanos * 1e-9 if seconds or perception.HasField("time") else received,
                received,
                text if payload == "text" else None,
                dict(perception.telemetry.values) if payload == "telemetry" else None,
                Image(perception.image.data, perception.image.media_type) if payload == "image" else None,
                perception.idempotency_key or None,
                dict(labels) if labels else NO_LABELS,
                trust_of(source),
            )
        )
    return made


def texts(
    batch: Iterable[perception_pb2.Perception], received: Instant, trust_of: Callable[[str], float | None]
) -> PerceptionBatch | None:
    """A batch by column, where all of it is text; None otherwise. ``trust`` is what ``trust_of`` says, None included.

    Each access to a message costs: what most batches are goes this way, in a third of the time of ``perceptions``.
    """
    rows = list(batch)
    text = [row.text for row in rows]
    if not all(text):
        return None
    source = [row.source for row in rows]
    times = [row.time for row in rows]
    time, nanos = [float(sent.seconds) for sent in times], [sent.nanos for sent in times]
    if any(nanos):
        time = [seconds + rest * 1e-9 for seconds, rest in zip(time, nanos, strict=True)]
    if 0.0 in time:
        time = [at or (at if row.HasField("time") else received) for at, row in zip(time, rows, strict=True)]
    key: list[str | None] = [row.idempotency_key for row in rows]
    if "" in key:
        key = [each or None for each in key]
    labels = [row.labels for row in rows]
    return PerceptionBatch(
        source,
        time,
        [received] * len(rows),
        text,
        key=key,
        labels=[dict(each) for each in labels] if any(labels) else (),
        trust=list(map(trust_of, source)),  # type: ignore[arg-type]  # whoever asks looks for None
    )


def receipts(answers: Iterable[perception_pb2.Receipt]) -> list[Receipt]:
    """The answer to a batch."""
    return [Receipt(answer.id, answer.seq, answer.new) for answer in answers]


def _refs(refs: Iterable[perception_pb2.PerceptionRef]) -> tuple[PerceptionRef, ...]:
    return tuple(PerceptionRef(ref.id, instant(ref.time), ref.source) for ref in refs)


def entry(sent: consciousness_pb2.StreamEntry) -> StreamEntry:
    """An entry of the stream; a kind that this version does not know reads as a thought."""
    return StreamEntry(
        seq=sent.seq,
        id=sent.id,
        kind=ENTRY_KINDS.get(sent.kind, EntryKind.THOUGHT),
        text=sent.text,
        time=instant(sent.time),
        at=instant(sent.at),
        salience=sent.salience,
        confidence=sent.confidence,
        trust=sent.trust,
        perceptions=_refs(sent.perceptions),
        lineage=tuple(sent.lineage),
        focus=sent.focus,
        author=sent.author,
    )


def thought(sent: environment_pb2.Thought) -> Thought:
    """A thought, without its vector."""
    return Thought(
        id=sent.id,
        author=sent.author,
        kind=THOUGHT_KINDS.get(sent.kind, ThoughtKind.INSIGHT),
        text=sent.text,
        time=instant(sent.time),
        at=instant(sent.at),
        vector=_NO_VECTOR,
        salience=sent.salience,
        confidence=sent.confidence,
        trust=sent.trust,
        perceptions=_refs(sent.perceptions),
        parents=tuple(sent.parents),
        topic=sent.topic,
        depth=sent.depth,
        via=tuple(Via(via.sender, via.topic) for via in sent.via),
        emotions=dict(sent.emotions),
        associations=tuple(sent.associations),
        insights=tuple(sent.insights),
        count=sent.count,
    )


def trace(sent: environment_pb2.Trace) -> Trace:
    """A trace, without its vector; its salience now follows from its level."""
    half_life = sent.level.half_life
    return Trace(
        thought=thought(sent.thought),
        version=sent.version,
        level=Level(sent.level.value, instant(sent.level.at), half_life.seconds + half_life.nanos * 1e-9),
        live=sent.live,
        conscious=sent.conscious if sent.HasField("conscious") else None,
        authors=tuple(sent.authors),
    )


def report(sent: mind_pb2.SubmindReport) -> SubmindReport:
    """What an actor last said of itself."""
    return SubmindReport(
        name=sent.name,
        role=sent.role,
        goal=sent.goal,
        state=SUBMIND_STATES.get(sent.state, SubmindState.STOPPED),
        at=instant(sent.at),
        topics=tuple(sent.topics),
        mailbox=sent.mailbox,
        metrics=dict(sent.metrics),
        reason=sent.reason,
    )


def connection(sent: mind_pb2.Connection) -> Connection:
    """A connection."""
    return Connection(
        owner=sent.owner,
        topic=sent.topic,
        label=sent.label,
        peer=sent.peer,
        weight=sent.weight,
        ltp=sent.ltp,
        uses=sent.uses,
        credited=sent.credited,
        last_use=instant(sent.last_use),
        history=tuple((instant(outcome.time), outcome.outcome) for outcome in sent.history),
    )


def change(sent: mind_pb2.ConnectionChange) -> ConnectionChange:
    """An event in the life of a connection."""
    return ConnectionChange(
        owner=sent.owner,
        topic=sent.topic,
        peer=sent.peer,
        at=instant(sent.at),
        kind=ChangeKind(sent.kind),
        weight=sent.weight,
        reason=sent.reason,
        label=sent.label,
        mark=sent.mark,
    )


def change_filter(sent: mind_pb2.ConnectionChangeFilter) -> ChangeFilter:
    """Which changes a reader wants."""
    since = instant(sent.since) if sent.HasField("since") else None
    return ChangeFilter(sent.owner, sent.topic, since=since)


def entry_filter(sent: consciousness_pb2.WatchFilter) -> EntryFilter:
    """Which entries a reader wants."""
    wants = EntryFilter(
        kinds=frozenset(ENTRY_KINDS[kind] for kind in sent.kinds),
        min_salience=sent.min_salience,
        source=sent.source,
        contains=sent.contains,
    )
    return EVERYTHING if wants == EVERYTHING else wants


def search_filters(sent: environment_pb2.SearchFilter) -> SearchFilters:
    """Which traces a search considers."""
    return SearchFilters(
        source=sent.source or None,
        author=sent.author or None,
        kind=THOUGHT_KINDS.get(sent.kind),
        since=instant(sent.since) if sent.HasField("since") else None,
        until=instant(sent.until) if sent.HasField("until") else None,
        min_salience=sent.min_salience,
        live_only=sent.live_only,
    )


def hit(sent: environment_pb2.Hit) -> Hit:
    """A trace found by meaning."""
    return Hit(trace(sent.trace), sent.score, sent.salience, tuple(sent.also))


def explanation(sent: consciousness_pb2.Explanation) -> Explanation:
    """A tree of lineage."""
    return Explanation(
        id=sent.id,
        kind=NODE_KINDS.get(sent.kind, NodeKind.TRACE),
        text=sent.text,
        time=instant(sent.time),
        source=sent.source,
        author=sent.author,
        salience=sent.salience if sent.HasField("salience") else None,
        confidence=sent.confidence if sent.HasField("confidence") else None,
        trust=sent.trust if sent.HasField("trust") else None,
        children=tuple(explanation(child) for child in sent.children),
        truncated=sent.truncated,
        standing=STANDINGS.get(sent.standing, Standing.KEPT),
        trace_id=sent.trace_id,
    )


def status(sent: mind_pb2.MindStatus) -> MindStatus:
    """How the mind is; a state that this version does not know reads as degraded."""
    tokens = sent.tokens
    return MindStatus(
        mind=sent.mind,
        state=MIND_STATES.get(sent.state, MindState.DEGRADED),
        version=sent.version,
        uptime=sent.uptime.seconds + sent.uptime.nanos * 1e-9,
        perceptions=PerceptionFigures(
            sent.perceptions.acknowledged, sent.perceptions.head, sent.perceptions.per_minute
        ),
        stream=StreamFigures(sent.stream.head, sent.stream.per_hour),
        traces=TraceFigures(sent.traces.live, sent.traces.total),
        tokens=TokenFigures(
            tokens.input, tokens.output, tokens.cost, tokens.budget_left if tokens.HasField("budget_left") else None
        ),
        substrate={
            name: value.string_value if value.HasField("string_value") else value.number_value
            for name, value in sent.substrate.fields.items()
        },
        limits=tuple(
            LimitHits(one.name, one.limit if one.HasField("limit") else None, one.hits) for one in sent.limits
        ),
        subminds=dict(sent.subminds),
        reasons=tuple(sent.reasons),
    )
