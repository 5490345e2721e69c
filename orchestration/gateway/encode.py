"""From messages to the wire."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from typing import TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from environment.messages import (
    Connection,
    ConnectionChange,
    Instant,
    NewPerception,
    PerceptionRef,
    Receipt,
    StreamEntry,
    SubmindReport,
    Thought,
    Trace,
)
from orchestration.gateway import decode
from orchestration.pb.submind.v1 import consciousness_pb2, environment_pb2, mind_pb2, perception_pb2
from orchestration.view.json import salience_of

if TYPE_CHECKING:
    from environment.lineage import Explanation
    from environment.search import Hit, SearchFilters
    from orchestration.gateway.errors import InvalidRequest
    from orchestration.view.changes import ChangeFilter
    from orchestration.view.status import MindStatus
    from orchestration.view.tail import EntryFilter

ENTRY_KINDS = {kind: number for number, kind in decode.ENTRY_KINDS.items()}
THOUGHT_KINDS = {kind: number for number, kind in decode.THOUGHT_KINDS.items()}
_NODE_KINDS = {kind: number for number, kind in decode.NODE_KINDS.items()}
_SUBMIND_STATES = {state: number for number, state in decode.SUBMIND_STATES.items()}
_MIND_STATES = {state: number for number, state in decode.MIND_STATES.items()}
_STANDINGS = {standing: number for number, standing in decode.STANDINGS.items()}
_BILLION = 1_000_000_000
_LONGEST = 315_576_000_000
"""Ten thousand years: all that a duration may say."""
_EARLIEST, _LATEST = -62_135_596_800, 253_402_300_799
"""The years 1 and 9999: all that a timestamp may say."""


def _parts(seconds: float) -> tuple[int, int]:
    whole = floor(seconds)
    nanos = round((seconds - whole) * _BILLION)
    return (whole + 1, 0) if nanos == _BILLION else (whole, nanos)


def timestamp(time: Instant) -> Timestamp:
    """Seconds since 1970 as a timestamp, kept within the years 1 to 9999."""
    seconds, nanos = _parts(min(max(time, _EARLIEST), _LATEST))
    return Timestamp(seconds=seconds, nanos=nanos)


def duration(length: float) -> Duration:
    """Seconds, not negative, as a duration."""
    seconds, nanos = _parts(min(max(length, 0.0), _LONGEST))
    return Duration(seconds=seconds, nanos=nanos)


def perception(new: NewPerception) -> perception_pb2.Perception:
    """A perception as a client sends it: when it was received and how far it is trusted the server says."""
    sent = perception_pb2.Perception(
        source=new.source, time=timestamp(new.time), idempotency_key=new.key or "", labels=new.labels
    )
    if new.text is not None:
        sent.text = new.text
    elif new.telemetry is not None:
        sent.telemetry.values.update(new.telemetry)
    elif new.image is not None:
        sent.image.data, sent.image.media_type = new.image.data, new.image.media_type
    return sent


def receipts(answers: Iterable[Receipt]) -> list[perception_pb2.Receipt]:
    """The answer to a batch."""
    made = perception_pb2.Receipt
    return [made(id=answer.id, new=answer.new, seq=answer.seq) for answer in answers]


def refusal(error: InvalidRequest) -> perception_pb2.Refusal:
    """Why a batch of a stream was refused."""
    return perception_pb2.Refusal(
        reason=str(error),
        violations=[
            perception_pb2.FieldViolation(field=violation.field, description=violation.why)
            for violation in error.violations
        ],
    )


def _refs(refs: Iterable[PerceptionRef]) -> list[perception_pb2.PerceptionRef]:
    return [perception_pb2.PerceptionRef(id=ref.id, time=timestamp(ref.time), source=ref.source) for ref in refs]


def entry(made: StreamEntry) -> consciousness_pb2.StreamEntry:
    """An entry of the stream."""
    return consciousness_pb2.StreamEntry(
        seq=made.seq,
        id=made.id,
        kind=ENTRY_KINDS[made.kind],
        text=made.text,
        time=timestamp(made.time),
        at=timestamp(made.at),
        salience=made.salience,
        confidence=made.confidence,
        trust=made.trust,
        perceptions=_refs(made.perceptions),
        lineage=made.lineage,
        focus=made.focus,
        author=made.author,
    )


def thought(made: Thought) -> environment_pb2.Thought:
    """A thought, without its vector."""
    return environment_pb2.Thought(
        id=made.id,
        author=made.author,
        kind=THOUGHT_KINDS[made.kind],
        text=made.text,
        time=timestamp(made.time),
        at=timestamp(made.at),
        salience=made.salience,
        confidence=made.confidence,
        trust=made.trust,
        perceptions=_refs(made.perceptions),
        parents=made.parents,
        topic=made.topic,
        depth=made.depth,
        via=[environment_pb2.Via(sender=via.sender, topic=via.topic) for via in made.via],
        emotions=made.emotions,
        associations=made.associations,
        insights=made.insights,
        count=made.count,
    )


def trace(made: Trace, now: Instant) -> environment_pb2.Trace:
    """A trace, with its salience at mind time ``now``."""
    level = made.level
    return environment_pb2.Trace(
        thought=thought(made.thought),
        version=made.version,
        level=environment_pb2.Level(value=level.value, at=timestamp(level.at), half_life=duration(level.half_life)),
        salience=salience_of(made, now),
        live=made.live,
        conscious=made.conscious,
        authors=made.authors,
    )


def report(made: SubmindReport) -> mind_pb2.SubmindReport:
    """What an actor last said of itself."""
    return mind_pb2.SubmindReport(
        name=made.name,
        role=made.role,
        goal=made.goal,
        state=_SUBMIND_STATES[made.state],
        at=timestamp(made.at),
        topics=made.topics,
        mailbox=made.mailbox,
        metrics=made.metrics,
        reason=made.reason,
    )


def connection(made: Connection) -> mind_pb2.Connection:
    """A connection."""
    return mind_pb2.Connection(
        owner=made.owner,
        topic=made.topic,
        label=made.label,
        peer=made.peer,
        weight=made.weight,
        ltp=made.ltp,
        uses=made.uses,
        credited=made.credited,
        last_use=timestamp(made.last_use),
        history=[mind_pb2.Outcome(time=timestamp(time), outcome=outcome) for time, outcome in made.history],
    )


def change(made: ConnectionChange) -> mind_pb2.ConnectionChange:
    """An event in the life of a connection."""
    return mind_pb2.ConnectionChange(
        mark=made.mark,
        owner=made.owner,
        topic=made.topic,
        label=made.label,
        peer=made.peer,
        at=timestamp(made.at),
        kind=made.kind.value,
        weight=made.weight,
        reason=made.reason,
    )


def change_filter(wants: ChangeFilter) -> mind_pb2.ConnectionChangeFilter:
    """Which changes a reader wants."""
    since = None if wants.since is None else timestamp(wants.since)
    return mind_pb2.ConnectionChangeFilter(owner=wants.owner, topic=wants.topic, since=since)


def status(made: MindStatus) -> mind_pb2.MindStatus:
    """How the mind is."""
    sent = mind_pb2.MindStatus(
        mind=made.mind,
        state=_MIND_STATES[made.state],
        version=made.version,
        uptime=duration(made.uptime),
        perceptions=mind_pb2.PerceptionFigures(
            acknowledged=made.perceptions.acknowledged,
            head=made.perceptions.head,
            per_minute=made.perceptions.per_minute,
        ),
        stream=mind_pb2.StreamFigures(head=made.stream.head, per_hour=made.stream.per_hour),
        traces=mind_pb2.TraceFigures(live=made.traces.live, total=made.traces.total),
        tokens=mind_pb2.TokenFigures(
            input=made.tokens.tokens_in,
            output=made.tokens.tokens_out,
            cost=made.tokens.cost,
            budget_left=made.tokens.budget_left,
        ),
        limits=[mind_pb2.Limit(name=hit.name, limit=hit.limit, hits=hit.hits) for hit in made.limits],
        subminds=made.subminds,
        reasons=made.reasons,
    )
    sent.substrate.update(made.substrate)
    return sent


def traces(made: Sequence[Trace], now: Instant) -> list[environment_pb2.Trace]:
    """Traces, with their salience at mind time ``now``."""
    return [trace(one, now) for one in made]


def hit(made: Hit, now: Instant) -> environment_pb2.Hit:
    """A trace found by meaning."""
    return environment_pb2.Hit(trace=trace(made.trace, now), score=made.score, salience=made.salience, also=made.also)


def explanation(made: Explanation) -> consciousness_pb2.Explanation:
    """A tree of lineage. Its depth is bounded by whoever explained."""
    return consciousness_pb2.Explanation(
        id=made.id,
        kind=_NODE_KINDS[made.kind],
        text=made.text,
        time=timestamp(made.time),
        source=made.source,
        author=made.author,
        salience=made.salience,
        confidence=made.confidence,
        trust=made.trust,
        children=[explanation(child) for child in made.children],
        truncated=made.truncated,
        standing=_STANDINGS[made.standing],
        trace_id=made.trace_id,
    )


def entry_filter(wants: EntryFilter) -> consciousness_pb2.WatchFilter:
    """Which entries a reader wants."""
    return consciousness_pb2.WatchFilter(
        kinds=[ENTRY_KINDS[kind] for kind in sorted(wants.kinds)],
        min_salience=wants.min_salience,
        source=wants.source,
        contains=wants.contains,
    )


def search_filter(filters: SearchFilters) -> environment_pb2.SearchFilter:
    """Which traces a search considers."""
    return environment_pb2.SearchFilter(
        source=filters.source or "",
        author=filters.author or "",
        kind=None if filters.kind is None else THOUGHT_KINDS[filters.kind],
        since=None if filters.since is None else timestamp(filters.since),
        until=None if filters.until is None else timestamp(filters.until),
        min_salience=filters.min_salience,
        live_only=filters.live_only,
    )
