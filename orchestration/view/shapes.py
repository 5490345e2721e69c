"""The JSON objects of a mind, as types: ``json.py`` fills them, and the HTTP schema is generated from them."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


Number = Annotated[float | None, BeforeValidator(_finite)]
"""A number, or null where it is infinite or not a number, which JSON cannot write."""


class Shape(BaseModel):
    """Base of the objects given out."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class RefShape(Shape):
    """A perception, cited."""

    id: str
    time: str
    """Event time, RFC 3339 in UTC."""
    source: str


class EntryShape(Shape):
    """An entry of the stream of consciousness."""

    seq: int
    """From 1, without a gap."""
    time: str
    """Event time, RFC 3339 in UTC."""
    kind: Literal["thought", "segue"]
    text: str
    """Data, never markup: escape it where it is shown."""
    salience: Number
    """0..1, when it became conscious."""
    confidence: Number
    trust: Number
    """0..1: at most that of the least trusted thing it came from."""
    perceptions: list[RefShape]
    """What it rests on, focus first."""
    lineage: list[str]
    """Ids it came from directly."""
    id: str
    focus: str
    """The trace that won attention; empty for a segue."""
    author: str
    at: str
    """Mind time, RFC 3339 in UTC."""


class LevelShape(Shape):
    """Salience as it was last set, and how fast it evaporates."""

    value: Number
    at: str
    half_life: Number
    """Seconds."""


class TraceShape(Shape):
    """A trace in the subliminal environment, at one version."""

    id: str
    version: int
    author: str
    authors: list[str]
    kind: Literal["percept", "insight", "reflection", "result"]
    text: str
    time: str
    at: str
    salience: Number
    """Now: evaporated since ``level``."""
    level: LevelShape
    live: bool
    """False once it sank below the floor: still readable, no longer met on a crawl."""
    confidence: Number
    trust: Number
    topic: str
    parents: list[str]
    perceptions: list[RefShape]
    associations: list[str]
    emotions: dict[str, Number]
    insights: list[str]
    count: int
    """Perceptions folded into it."""
    conscious: int | None
    """The sequence number under which the stream last held it."""


class ReportShape(Shape):
    """What a submind, or another actor of the mind, last said of itself."""

    name: str
    role: str
    goal: str
    state: Literal["starting", "running", "restarting", "quarantined", "stopped"]
    at: str
    topics: list[str]
    mailbox: int
    metrics: dict[str, Number]
    reason: str


class OutcomeShape(Shape):
    """One use of a connection, and what came of it."""

    time: str
    outcome: str


class ConnectionShape(Shape):
    """A connection: topic to peer, in one submind's registry."""

    owner: str
    topic: str
    label: str
    peer: str
    weight: Number
    ltp: bool
    """True in the registry of strong connections, false in that of transient ones."""
    uses: int
    credited: int
    last_use: str
    history: list[OutcomeShape]


class ChangeShape(Shape):
    """An event in the life of a connection."""

    mark: str
    """Where it stands in the history: what to ask for as ``before`` or ``after``."""
    owner: str
    topic: str
    label: str
    """What people called the topic at that time."""
    peer: str
    at: str
    kind: Literal["opened", "credited", "unrewarded", "promoted", "demoted", "forgotten", "evicted", "refused"]
    weight: Number
    reason: str


class ReceiptShape(Shape):
    """The answer to one perception."""

    id: str
    new: bool
    """False when the same key was already known from this source."""


class HitShape(Shape):
    """A trace found by meaning."""

    score: Number
    """Cosine to what was asked."""
    also: list[str]
    """Ids of other traces, as near, that say the same of the same perceptions, and so are no hits of their own."""
    trace: TraceShape


class NodeShape(Shape):
    """A node of an explanation: a conscious thought, a trace or a perception, and what it came from."""

    id: str
    kind: Literal["entry", "trace", "perception"]
    text: str
    time: str
    source: str | None = None
    """Of a perception."""
    author: str | None = None
    """Of an entry or a trace."""
    salience: Number = None
    confidence: Number = None
    trust: Number = None
    children: list[NodeShape] = Field(default_factory=list)
    truncated: bool = False
    """True where there is more below than an explanation shows."""
    trace_id: str | None = None
    """Of a perception: the id of its OpenTelemetry trace."""


class PerceptionFiguresShape(Shape):
    """Perceptions taken in."""

    acknowledged: int
    head: int
    per_minute: Number


class StreamFiguresShape(Shape):
    """The stream of consciousness."""

    head: int
    per_hour: Number
    """In the last hour of mind time."""


class TraceFiguresShape(Shape):
    """The subliminal environment."""

    live: int
    total: int


class TokenFiguresShape(Shape):
    """What thinking has cost since the mind started."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    in_: int = Field(alias="in")
    out: int
    cost: Number
    budget_left: Number
    """Null when no budget is set."""


class LimitShape(Shape):
    """A limit, and how often it was met."""

    name: str
    limit: Number
    """Null when only the hits are known."""
    hits: int


class StatusShape(Shape):
    """How the mind is."""

    mind: str
    state: Literal["starting", "running", "degraded", "down"]
    version: str
    uptime_s: Number
    perceptions: PerceptionFiguresShape
    stream: StreamFiguresShape
    traces: TraceFiguresShape
    tokens: TokenFiguresShape
    substrate: dict[str, Number | str]
    limits: list[LimitShape]
    subminds: dict[str, int]
    """How many are in which state; ``silent`` counts those with work waiting that no longer report."""
    reasons: list[str]
    """Why the state is not ``running``."""
