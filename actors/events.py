"""What can happen to a core. Frozen; everything from another actor arrives as one of these."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from actors.growth import Born, Divided, Gone, GrowthRefused, Inherited, Moved, Permitted, Pressure
from actors.image_features import ImageFeatures
from actors.substrate.ports import Generation
from environment.config import Section
from environment.decisions import Decision
from environment.goals import Pursued
from environment.marks import FeedbackMark
from environment.messages import EntryKind, Instant, Perception, StreamEntry, Thought, Trace, Vector
from environment.packs import PackChange
from environment.recalls import Recalls
from environment.relations import Relation
from environment.severity import Severity


@dataclass(frozen=True, slots=True)
class Started:
    """The first event of every life; what was saved has been restored before it."""


@dataclass(frozen=True, slots=True)
class Tick:
    """The time asked for with ``WakeAt`` has come."""


@dataclass(frozen=True, slots=True)
class Configured:
    """Settings were changed while the mind lives. Comes beside the mailbox, so it is never dropped.

    Only what may change live differs, never sizes of what is remembered. What was spent, measured or remembered stays.
    """

    version: int
    """Of the live configuration: a core is never told an older one."""
    section: Section = field(repr=False)
    """One of those that the core was built with, as it is by now; told once for each of them."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Images that are about to be perceived were looked at elsewhere, in bounds of time and memory."""

    looks: Mapping[bytes, ImageFeatures]
    """By digest of their bytes."""


@dataclass(frozen=True, slots=True)
class Perceived:
    """New perceptions from the log, in order, with their embeddings."""

    perceptions: tuple[Perception, ...]
    vectors: Mapping[str, Vector] = field(compare=False, repr=False)
    """Embedding of each text the core asked for with ``texts``."""


@dataclass(frozen=True, slots=True)
class Message:
    """A thought, sent directly along a connection."""

    thought: Thought
    sender: str
    topic: str
    """The sender's topic key; the receiver maps the vector onto its own topics."""
    label: str
    weight: float


@dataclass(frozen=True, slots=True)
class Register:
    """Ask a peer to list the sender for what it thinks about; the peer may refuse."""

    sender: str
    topic_vector: Vector = field(compare=False, repr=False)
    label: str = ""
    trace_id: str = ""
    """The trace through which they met."""


@dataclass(frozen=True, slots=True)
class Credit:
    """A thought that came of a message of yours proved useful."""

    peer: str
    """Who made the thought."""
    topic: str
    """Your topic key, as you sent it."""
    trace_id: str
    reason: str
    """``reinforced``, ``built on`` or ``conscious``."""


@dataclass(frozen=True, slots=True)
class Post:
    """Leave thoughts as traces. Answered by ``Posted`` when durable. Posting the same id again changes nothing."""

    sender: str
    thoughts: tuple[Thought, ...]
    token: str = ""


@dataclass(frozen=True, slots=True)
class Posted:
    """The traces are durable."""

    token: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reinforce:
    """Raise a trace. ``lineage`` names what the act rests on: from the trace's own descendants it counts nothing."""

    trace_id: str
    by: str
    gain: float
    lineage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diminish:
    """Lower a trace."""

    trace_id: str
    by: str
    loss: float


@dataclass(frozen=True, slots=True)
class Revise:
    """Build on a trace: a new version with both authors in its lineage. Answered by ``Posted`` or ``Refused``."""

    trace_id: str
    base: int
    by: str
    thought: Thought


@dataclass(frozen=True, slots=True)
class Refused:
    """A revision was not made: it named an old version, or the trace is no longer live."""

    trace_id: str


class CrawlKind(StrEnum):
    """How a submind walks the environment."""

    DIRECTED = "directed"
    """Near a focus, by meaning."""
    ASSOCIATIVE = "associative"
    """Along shared associations."""
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Crawl:
    """Ask the environment for traces, answered by ``Found``."""

    sender: str
    token: str
    kind: CrawlKind
    k: int
    vector: Vector | None = field(default=None, compare=False, repr=False)
    terms: tuple[str, ...] = ()
    exclude_author: str = ""
    exclude_lineage: tuple[str, ...] = ()
    """Traces with any of these among id or parents are skipped."""
    before: Instant | None = None
    """Only traces whose event time is earlier."""
    about: str = ""
    """The perception on whose account it asks, where its way is traced; nothing follows from it."""


@dataclass(frozen=True, slots=True)
class Found:
    """Traces met on a crawl, nearest first, with their cosine to what was asked (0 where not by meaning)."""

    token: str
    traces: tuple[Trace, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Generated:
    """The substrate's answer to ``Generate``, with the embedding of its text."""

    token: str
    generation: Generation
    vector: Vector = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of the texts of ``Embed``."""

    vectors: Mapping[str, Vector] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Salient:
    """The environment tells attention which traces were posted, raised or revised."""

    traces: tuple[Trace, ...]
    passed: int = 0
    """Perceptions folded, and percepts not salient enough to be named: attention paces itself by all it is offered."""
    again: bool = False
    """True for the answer to a survey: these were offered before."""
    sources: Mapping[str, int] = field(default_factory=dict)
    """Where folded perceptions came from, and how many."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A conscious thought to be, chosen by attention, not yet ordered or numbered."""

    id: str
    kind: EntryKind
    text: str
    time: Instant
    salience: float
    confidence: float
    trust: float
    focus: Trace
    bound: tuple[Trace, ...]
    """The traces bound with the focus, best first."""
    concerns: tuple[str, ...]
    """Subminds to broadcast to."""
    links: tuple[Relation, ...] = ()
    """Why the focus belongs to each of ``bound``."""
    worded_by: str = ""
    """Who found its words, as of a thought."""
    severity: Severity = Severity.INFO
    why: Decision | None = None


@dataclass(frozen=True, slots=True)
class Conscious:
    """Attention hands a thought to the stream."""

    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Utterance:
    """Something to be said to somebody: the stream numbers it at once, beside attention and its rate.

    Confirmed by ``Broadcast``; said again under the same id it changes nothing.
    """

    entry: StreamEntry
    """Without its number."""


@dataclass(frozen=True, slots=True)
class Broadcast:
    """A numbered entry of the stream, to whom it concerns (attention, environment and thinking always)."""

    entry: StreamEntry
    focus: Trace | None


@dataclass(frozen=True, slots=True)
class Said:
    """The shell tells the stream that a thought was numbered long ago, and that nothing of its step was written."""

    entry: StreamEntry
    head: int
    """The last number of the stream."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Ask the environment for its most salient traces that are not conscious yet, answered by ``Salient``."""

    sender: str
    k: int


@dataclass(frozen=True, slots=True)
class Vitals:
    """What an actor's counters and gauges stand at, told to metacognition from time to time."""

    sender: str
    figures: Mapping[str, float]


class Observation(StrEnum):
    """What monitoring can notice about the mind."""

    REPETITION = "repetition"
    """Neighbours in the stream say the same."""
    DOMINANCE = "dominance"
    """One source fills the stream."""
    LOOP = "loop"
    """The same few things keep coming back."""
    OVERLOAD = "overload"
    """Thoughts are dropped or refused by a limit."""
    BUDGET = "budget"
    """The substrate's budget is nearly spent, or it had to fall back."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Monitoring tells control that a trouble began, or is over."""

    observation: Observation
    over: bool
    reason: str


class Proposal(StrEnum):
    """What metacognition may propose to attention; attention bounds how far each may go."""

    RAISE_THRESHOLD = "raise threshold"
    LOWER_THRESHOLD = "lower threshold"
    WIDEN_INHIBITION = "widen inhibition"
    NARROW_INHIBITION = "narrow inhibition"


@dataclass(frozen=True, slots=True)
class Propose:
    """A metacognitive submind proposes a change of attention, with its reason."""

    sender: str
    proposal: Proposal
    reason: str


@dataclass(frozen=True, slots=True)
class Marked:
    """All marks that people made, and those lately taken back; told again, it changes nothing."""

    marks: tuple[FeedbackMark, ...]


@dataclass(frozen=True, slots=True)
class Muted:
    """Traces of a matter that somebody muted; told with a time that is over, they are muted no more."""

    traces: tuple[str, ...]
    until: Instant


class FacultyEvent:
    """What an event is derived from that a faculty of another package brings along: a frozen dataclass with slots."""

    __slots__ = ()


Event: TypeAlias = (
    Started
    | Configured
    | Tick
    | Seen
    | Perceived
    | Message
    | Register
    | Credit
    | Post
    | Posted
    | Reinforce
    | Diminish
    | Revise
    | Refused
    | Crawl
    | Found
    | Generated
    | Embedded
    | Salient
    | Conscious
    | Broadcast
    | Said
    | Utterance
    | Survey
    | Vitals
    | Observed
    | Propose
    | Marked
    | PackChange
    | Recalls
    | Muted
    | Pursued
    | Pressure
    | Divided
    | GrowthRefused
    | Permitted
    | Born
    | Gone
    | Inherited
    | Moved
    | FacultyEvent
)
