"""What the parts of a mind say to each other about the world: frozen, validated once, at the edge.

An ``Instant`` is a number of seconds since the Unix epoch, UTC. Every message carries up to two of them:
``time``, the *event time* its source gave it, and ``at``, the *mind time* at which it happened to the mind (the wall
clock when live, the watermark in a replay). Evaporation, windows and budgets read mind time only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from environment.decisions import Decision
from environment.identity import perception_id
from environment.relations import Relation
from environment.severity import Severity

Instant: TypeAlias = Annotated[float, msgspec.Meta(extra={"dated": False})]
Deadline: TypeAlias = Annotated[float, msgspec.Meta(extra={"dated": True})]
"""An instant that may lie ahead."""
Vector: TypeAlias = NDArray[np.float32]
"""``(dim,) float32``, L2-normalised, or all zero where there is nothing to say."""

NO_LABELS: Mapping[str, str] = {}


class Modality(StrEnum):
    """The form in which a perception arrived."""

    TEXT = "text"
    TELEMETRY = "telemetry"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Image:
    """An image as it was sent."""

    data: bytes
    """The encoded file."""
    media_type: str
    """For example ``image/png``."""


@dataclass(frozen=True, slots=True)
class NewPerception:
    """Raw input from outside, validated, not yet in the log. Exactly one payload is set."""

    source: str
    """Who or what perceived it: a person, a host, a feed."""
    time: Instant
    """Event time."""
    received: Instant
    """When the gateway took it in."""
    text: str | None = None
    telemetry: Mapping[str, float] | None = None
    image: Image | None = None
    key: str | None = None
    """Idempotency key: within one source the same key is accepted once."""
    labels: Mapping[str, str] = field(default_factory=dict)
    trust: float = 0.5
    """0..1, given by the edge from who sent it, never by the content."""

    @property
    def modality(self) -> Modality:
        """Which payload is set."""
        if self.text is not None:
            return Modality.TEXT
        return Modality.TELEMETRY if self.telemetry is not None else Modality.IMAGE


@dataclass(frozen=True, slots=True)
class Perception(NewPerception):
    """A perception in the log."""

    id: str = ""
    """``perception_id(seq)``."""
    seq: int = 0
    """Position in the mind's perception log, from 1, growing; may have gaps."""


@dataclass(frozen=True, slots=True)
class PerceptionBatch:
    """New perceptions by column, which is how many of them are handled in little time.

    Every column is as long as ``source``; those that have a default may be empty, which means the default for all.
    The columns say what the fields of ``NewPerception`` say, and are not changed once they are in here.
    """

    source: Sequence[str]
    time: Sequence[Instant]
    received: Sequence[Instant]
    text: Sequence[str | None] = ()
    telemetry: Sequence[Mapping[str, float] | None] = ()
    image: Sequence[Image | None] = ()
    key: Sequence[str | None] = ()
    labels: Sequence[Mapping[str, str]] = ()
    trust: Sequence[float] = ()

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def of(cls, perceptions: Sequence[NewPerception]) -> PerceptionBatch:
        """The same perceptions by column."""
        return cls(
            [each.source for each in perceptions],
            [each.time for each in perceptions],
            [each.received for each in perceptions],
            [each.text for each in perceptions],
            [each.telemetry for each in perceptions] if any(each.telemetry is not None for each in perceptions) else (),
            [each.image for each in perceptions] if any(each.image is not None for each in perceptions) else (),
            [each.key for each in perceptions],
            [each.labels for each in perceptions],
            [each.trust for each in perceptions],
        )

    @property
    def modalities(self) -> list[Modality]:
        """Which payload each has."""
        count = len(self)
        pairs = zip(self.text or [None] * count, self.telemetry or [None] * count, strict=True)
        return [
            Modality.TEXT if text is not None else Modality.IMAGE if telemetry is None else Modality.TELEMETRY
            for text, telemetry in pairs
        ]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to one perception: where it is, and whether it was new."""

    id: str
    seq: int
    new: bool


@dataclass(frozen=True, slots=True)
class Receipts:
    """The answer to a batch, in little room: new perceptions are numbered one after the other."""

    first: int
    """The sequence number of the first that was new."""
    count: int
    """How many perceptions the batch had."""
    known: Mapping[int, int] = field(default_factory=dict)
    """Place in the batch to sequence number, of those that were known already."""

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Receipt]:
        following = self.first
        for place in range(self.count):
            seq = self.known.get(place)
            if seq is None:
                yield Receipt(perception_id(following), following, new=True)
                following += 1
            else:
                yield Receipt(perception_id(seq), seq, new=False)


@dataclass(frozen=True, slots=True)
class PerceptionRef:
    """Enough of a perception to cite it."""

    id: str
    time: Instant
    source: str


class ThoughtKind(StrEnum):
    """Where a thought came from."""

    PERCEPT = "percept"
    """What a perceptual submind made of raw input."""
    INSIGHT = "insight"
    """What a cognitive submind bound together."""
    REFLECTION = "reflection"
    """What a metacognitive submind says about the mind itself."""
    RESULT = "result"
    """What active thinking made of a conscious thought."""


@dataclass(frozen=True, slots=True)
class Via:
    """A direct message that led to a thought: whom to credit when the thought proves useful."""

    sender: str
    topic: str
    """The sender's own name for the topic it was sent along."""


@dataclass(frozen=True, slots=True)
class Thought:
    """What a submind produces by binding. Immutable; its lineage leads to the perceptions behind it."""

    id: str
    """``t-`` and 20 hexadecimal digits, derived from author and parents: thinking it again gives the same id."""
    author: str
    kind: ThoughtKind
    text: str
    time: Instant
    """Event time of its focus, the first of ``perceptions``."""
    at: Instant
    """Mind time at which it was thought."""
    vector: Vector = field(compare=False, repr=False)
    salience: float
    """0..1, at ``at``."""
    confidence: float
    """0..1: how sure the author is that the parts belong together."""
    trust: float
    """0..1: at most that of the least trusted thing it came from."""
    perceptions: tuple[PerceptionRef, ...]
    """Focus first, then the others it rests on; bounded."""
    parents: tuple[str, ...] = ()
    """Ids of the thoughts and perceptions it came from directly."""
    topic: str = ""
    """The author's label of what it is about."""
    depth: int = 0
    """Longest path of thoughts below it; a percept has 0."""
    via: tuple[Via, ...] = ()
    emotions: Mapping[str, float] = field(default_factory=dict)  # by name, -1..1
    evidence: Mapping[str, float] = field(default_factory=dict)
    """Of a percept: what each part adds to the log odds that somebody would want it."""
    associations: tuple[str, ...] = ()
    """Terms by which it can be met again: names, hosts, part numbers, keyphrases."""
    insights: tuple[str, ...] = ()
    """What was noticed, in few words (``rate x4``, ``first since 09:10``)."""
    count: int = 1
    """Perceptions folded into it."""
    links: tuple[Relation, ...] = ()
    """Why its parents belong together."""
    worded_by: str = ""
    """Who found its words: ``rule``, or the name of a model; empty where it says what was perceived."""


@dataclass(frozen=True, slots=True)
class Level:
    """Salience as the environment keeps it: a value at an instant, and how fast it evaporates."""

    value: float
    """0..1 at ``at``."""
    at: Instant
    half_life: float
    """Seconds."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A thought in the subliminal environment.

    Guarantee: ``version`` counts the revisions of the content; a writer names the version it builds on.
    """

    thought: Thought
    version: int
    """From 1."""
    level: Level
    live: bool = True
    """False once it sank below the floor: out of the index, still in the log."""
    conscious: int | None = None
    """The sequence number under which the stream last held it."""
    authors: tuple[str, ...] = ()
    """All authors of its revisions, in order."""

    @property
    def id(self) -> str:
        """The id of the first revision's thought, kept through all revisions."""
        return self.thought.id

    def with_level(self, level: Level) -> Trace:
        """The same trace with another salience."""
        return replace(self, level=level)


class EntryKind(StrEnum):
    """What an entry of the stream is."""

    THOUGHT = "thought"
    SEGUE = "segue"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """One entry of the stream of consciousness. Never changes once numbered."""

    seq: int
    """From 1, no gap, no repeat."""
    id: str
    """``c-`` and 20 hexadecimal digits, derived from the focus trace and its version, or from what it answers."""
    kind: EntryKind
    text: str
    time: Instant
    at: Instant
    salience: float
    confidence: float
    trust: float
    perceptions: tuple[PerceptionRef, ...]
    lineage: tuple[str, ...]
    """Ids it came from directly: traces; the entries that a segue joins; of an answer, the question and quotations."""
    focus: str = ""
    """The trace that won attention; only a thought has one."""
    author: str = ""
    vector: Vector | None = field(default=None, compare=False, repr=False)
    links: tuple[Relation, ...] = ()
    """Why its focus belongs to the others that it came from."""
    worded_by: str = ""
    """Who found its words, as of a thought."""
    severity: Severity = Severity.INFO
    why: Decision | None = None
    """Why it became conscious just then; only a thought has that."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Topic to peer, as one submind's registry keeps it (the design's ``Topic -> (submind, history)``)."""

    owner: str
    topic: str
    """The owner's topic key."""
    label: str
    """What people call the topic."""
    peer: str
    weight: float
    """0..1."""
    ltp: bool
    """True in the LTP registry, False in the transient one."""
    uses: int
    credited: int
    last_use: Instant
    history: tuple[tuple[Instant, str], ...]
    """The latest (time, outcome) pairs, oldest first; bounded."""


class ChangeKind(StrEnum):
    """What can happen to a connection."""

    OPENED = "opened"
    CREDITED = "credited"
    UNREWARDED = "unrewarded"
    PROMOTED = "promoted"
    DEMOTED = "demoted"
    FORGOTTEN = "forgotten"
    EVICTED = "evicted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ConnectionChange:
    """A recorded event in the life of a connection, with its reason."""

    owner: str
    topic: str
    peer: str
    at: Instant
    kind: ChangeKind
    weight: float
    """Of the connection after the change; 0 where there is none."""
    reason: str
    label: str = ""
    """What people called the topic at that time."""
    mark: str = field(default="", compare=False)
    """Where it stands in the history, in the words of the store that answered; empty until it was read from one."""


class SubmindState(StrEnum):
    """How a submind is."""

    STARTING = "starting"
    RUNNING = "running"
    RESTARTING = "restarting"
    QUARANTINED = "quarantined"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class SubmindReport:
    """What a submind, or another actor of the mind, last said of itself."""

    name: str
    role: str
    """``perceptual``, ``cognitive``, ``metacognitive``, ``environment``, ``attention``, ``stream``, ``thinking``."""
    goal: str
    state: SubmindState
    at: Instant
    """Wall time of the report."""
    topics: tuple[str, ...] = ()
    mailbox: int = 0
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Counters and gauges by Prometheus name without the ``submind_`` prefix."""
    reason: str = ""
    """Why it is in this state, where that needs saying; of one that runs, why a rule last spoke in a model's place."""
