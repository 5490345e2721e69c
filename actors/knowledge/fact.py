"""What is kept of a fact, of an entity and of a contradiction. Pure values: time is given."""

from dataclasses import dataclass, field
from enum import StrEnum

from environment.collections import Collection
from environment.messages import Instant, PerceptionRef

_LINES = 20
"""Of each kind in a report of a sleep."""


class FactKind(StrEnum):
    """How fast it fades where nothing comes back to it."""

    EMOTIONAL = "emotional"
    STANDARD = "standard"
    OPERATIONAL = "operational"
    PLACE = "place"


class FactStanding(StrEnum):
    """Whether it is held to be so."""

    HELD = "held"
    DISPUTED = "disputed"
    """Another source says otherwise of the same time, and nothing has settled that."""
    WRONG = "wrong"
    """It was corrected: it never was so."""


@dataclass(slots=True)
class Fact:
    """That something is so, for a time."""

    id: str
    """``f-`` and 20 hexadecimal digits."""
    subject: str
    """As it was said."""
    relation: str
    value: str
    kind: FactKind
    since: Instant
    """World time from which it is so."""
    learned: Instant
    """Mind time at which it was first said."""
    confidence: float
    """0..1: more with each who says so."""
    trust: float
    """0..1: the least of its evidence."""
    evidence: list[PerceptionRef]
    """The first, and the latest, each with who says so; bounded."""
    entity: str = ""
    """Key of its subject."""
    used: Instant = 0.0
    """Mind time at which it was last said or came to mind."""
    strength: float = 1.0
    """0..1 at ``used``."""
    until: Instant | None = None
    """World time from which it is so no more; None: it still is."""
    closed: Instant | None = None
    """Mind time at which that, or that it was wrong, was learnt."""
    sightings: int = 1
    standing: FactStanding = FactStanding.HELD
    reason: str = ""
    """Why it is so no more, or is wrong or disputed."""
    object: str = ""
    """The entity that its value names, if any."""
    recalled: Instant = 0.0
    """Mind time at which it last came to mind; 0: never."""
    faint: bool = False
    """Whether it is so weak that it is not offered beside what is not."""
    perceptions: list[PerceptionRef] = field(default_factory=list)
    """Of a gist those whose very words it tells: it is forgotten with any of them."""
    against: list[PerceptionRef] = field(default_factory=list)
    """What speaks against it: of a routine, what was said when it did not come, or came otherwise; bounded."""

    @property
    def key(self) -> str:
        """Facts of an entity stand together."""
        return f"{self.entity}/{self.id}"

    @property
    def open(self) -> bool:
        """Whether it is so, as far as is known, or may be."""
        return self.until is None and self.standing is not FactStanding.WRONG


def holds(fact: Fact, at: Instant, known: Instant | None = None) -> bool:
    """Whether it is so at the world time ``at``, by what was learnt until the mind time ``known`` (None: by all)."""
    if known is not None and (fact.learned > known or (fact.closed or known) > known):
        return fact.learned <= known and fact.since <= at
    return fact.standing is not FactStanding.WRONG and fact.since <= at and (fact.until is None or at < fact.until)


@dataclass(slots=True)
class Edge:
    """That one entity has to do with another."""

    to: str
    """Key of the other."""
    kind: str
    """A relation; ``with``: named together; ``causes`` and ``prevents``."""
    strength: float
    """0..1 at ``used``."""
    used: Instant
    evidence: PerceptionRef
    """Where it was last met with."""


@dataclass(slots=True)
class Entity:
    """Somebody or something of which something is known."""

    key: str
    """``e-`` and 20 hexadecimal digits."""
    name: str
    first: PerceptionRef
    last: PerceptionRef
    """Where it was last named, or spoke."""
    aliases: dict[str, PerceptionRef] = field(default_factory=dict)
    """Other names, each with what shows that they are the same; bounded."""
    edges: list[Edge] = field(default_factory=list)
    sightings: int = 1
    speaks: bool = False
    """Whether it says something itself: a person, or a system that writes lines."""


@dataclass(slots=True)
class Contradiction:
    """That two sources say different things of the same time."""

    id: str
    """``x-`` and 20 hexadecimal digits."""
    subject: str
    relation: str
    facts: list[str]
    """Their ids, as they came."""
    values: list[str]
    opened: Instant
    entity: str = ""
    """Key of the subject."""
    settled: Instant | None = None
    right: str = ""
    """The fact that is right, where it was settled by one."""
    how: str = ""
    """What settled it."""


@dataclass(slots=True)
class SleepLine:
    """One thing that a sleep did."""

    entity: str
    text: str
    why: str


@dataclass(slots=True)
class SleepPart:
    """Things of one kind that a sleep did: how many, and some of them."""

    count: int = 0
    lines: list[SleepLine] = field(default_factory=list)

    def note(self, fact: Fact, why: str) -> None:
        """What became of a fact."""
        self.tell(fact.subject, f"{fact.relation}: {fact.value}", why)

    def tell(self, entity: str, text: str, why: str) -> None:
        """One more; shown where there is room."""
        self.count += 1
        line = SleepLine(entity, text, why)
        if len(self.lines) < _LINES and line not in self.lines:
            self.lines.append(line)


@dataclass(slots=True)
class SleepReport:
    """What was made of memory in a sleep, and since the one before."""

    id: str = ""
    """``s-`` and 20 hexadecimal digits."""
    at: Instant = 0.0
    """Mind time at which it slept; 0 while it is awake."""
    since: Instant = 0.0
    """Mind time of the sleep before."""
    reason: str = ""
    """``night``, or ``quiet`` where it slept earlier."""
    perceptions: int = 0
    """Texts read since then."""
    gists: SleepPart = field(default_factory=SleepPart)
    merged: SleepPart = field(default_factory=SleepPart)
    faded: SleepPart = field(default_factory=SleepPart)
    contradictions: SleepPart = field(default_factory=SleepPart)
    rehearsed: SleepPart = field(default_factory=SleepPart)


@dataclass(slots=True)
class Progress:
    """How far the log was read, and what was learnt on the way of how relations are used."""

    cursor: int = 0
    """Up to which facts were learnt."""
    gathered: int = 0
    """Up to which the clusters of episodes are written; read again from there."""
    changes: dict[str, int] = field(default_factory=dict)
    """How often a new value took the place of another, by relation."""
    returns: dict[str, int] = field(default_factory=dict)
    """How often the other was said again soon after that: it has several values at a time."""
    marks: dict[str, tuple[Instant, bool]] = field(default_factory=dict)
    """By id of a correction when it was made or taken back, and whether it was: what was done is not done again."""
    pace: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By source the second of its last line, and its lines in that second, as of ``gathered``; bounded."""
    packs: dict[str, str] = field(default_factory=dict)
    """Of each section that was learnt of a pack, by its id, the pack."""
    day: SleepReport = field(default_factory=SleepReport)
    """What consolidation did since the last sleep."""


FACTS = Collection("facts", Fact)
RECURS, HAPPENS = "recurs", "happens"
"""The relations of gists of many episodes: of what comes at certain times, and of what comes at none."""
GISTS = "r-"
"""What the keys of gists begin with: they are about clusters of episodes."""
ENTITIES = Collection("entities", Entity)
NAMES = Collection("names", str)
"""By name, as ``entities.spelled`` spells it, the key of the entity."""
CONTRADICTIONS = Collection("contradictions", Contradiction)
SLEEPS = Collection("sleeps", SleepReport)
PROGRESS = Collection("knowledge", Progress)
"""One document: ``progress``."""
