"""What is known of an entity, and why something is believed, as it is told to whoever asks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from actors.knowledge.entities import CAUSES, PREVENTS, WITH, spelled
from actors.knowledge.fact import Contradiction, Entity, Fact, holds
from actors.knowledge.sentences import split_speaker
from actors.matters.matter import Matter, OpenLoop
from environment.messages import Instant, PerceptionRef


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Somebody or something that an entity has to do with."""

    name: str
    kind: str
    strength: float
    """0..1, when it was last used."""


@dataclass(frozen=True, slots=True)
class EntityPage:
    """Everything known of an entity."""

    name: str
    aliases: list[str]
    first: PerceptionRef
    last: PerceptionRef
    sightings: int
    facts: list[Fact]
    """What is so, or was at the time that was asked for; the surest first."""
    others: list[Fact]
    """What was so before, is so only later, or was wrong; the latest first."""
    neighbours: list[Neighbour]
    contradictions: list[Contradiction]
    """Not settled."""
    owed: list[OpenLoop]
    """What it waits for: its own requests, and promises and deadlines of others that name it."""
    owes: list[OpenLoop]
    """What is waited for from it: its own promises and, where it speaks, requests of others that name it."""
    matters: list[Matter]
    """Those that name it or that it speaks in, open ones first."""
    elsewhere: list[Fact]
    """Facts of others whose value it is, what is so first."""


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """Somebody or something, as a list tells of it."""

    id: str
    name: str
    aliases: list[str]
    last: PerceptionRef
    """Where it was last named, or spoke."""
    sightings: int
    speaks: bool


@dataclass(frozen=True, slots=True)
class KnownEdge:
    """That one entity has to do with another."""

    one: str
    """The id of one; where it causes or prevents, the cause."""
    other: str
    kind: str
    strength: float
    """0..1, when it was last used."""
    used: Instant
    evidence: PerceptionRef


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """An entity and what is nearest to it."""

    entities: list[KnownEntity]
    """The entity itself, then the nearest first."""
    edges: list[KnownEdge]
    """Among these: of two that are named together and more, only what more that is."""


@dataclass(frozen=True, slots=True)
class FactEvidence:
    """A perception that a fact rests on; without its text where it is not kept any more."""

    perception: PerceptionRef
    text: str


@dataclass(frozen=True, slots=True)
class Belief:
    """A fact and what it rests on."""

    fact: Fact
    evidence: list[FactEvidence]


def parted(facts: Iterable[Fact], at: Instant, known: Instant | None = None) -> tuple[list[Fact], list[Fact]]:
    """(What is so at a world time by what was known then, the rest), as a page orders them."""
    every = [fact for fact in facts if known is None or fact.learned <= known]
    so = sorted((f for f in every if holds(f, at, known)), key=lambda f: (f.faint, -f.confidence, f.relation, f.id))
    return so, sorted((f for f in every if not holds(f, at, known)), key=lambda f: (-f.since, f.id))


def page(
    entity: Entity,
    facts: tuple[list[Fact], list[Fact]],
    names: Mapping[str, str],
    denied: Iterable[Contradiction],
    loops: Iterable[OpenLoop],
    matters: Iterable[Matter],
    elsewhere: tuple[list[Fact], list[Fact]],
) -> EntityPage:
    """A page; ``facts``, and those of others ``elsewhere``, as ``parted``; ``names`` of those it has to do with."""
    called = {spelled(entity.name), *entity.aliases}
    owed: list[OpenLoop] = []
    owes: list[OpenLoop] = []
    for loop in loops:
        own = spelled(split_speaker(loop.text, loop.perception.source)[0]) in called
        if own or not called.isdisjoint(map(spelled, loop.terms)):
            (owes if own != loop.asked and (own or entity.speaks) else owed).append(loop)
    return EntityPage(
        entity.name,
        list(entity.aliases),
        entity.first,
        entity.last,
        entity.sightings,
        *facts,
        [
            Neighbour(names[edge.to], edge.kind, edge.strength)
            for edge in sorted(entity.edges, key=lambda e: (-e.strength, e.to, e.kind))
            if edge.to in names
        ],
        [one for one in denied if one.entity == entity.key and one.settled is None],
        owed,
        owes,
        [one for one in matters if not called.isdisjoint(map(spelled, (*one.terms, *one.sources)))],
        [fact for part in elsewhere for fact in part if fact.object == entity.key],
    )


def brief(entity: Entity) -> KnownEntity:
    """It as a list tells of it."""
    return KnownEntity(
        entity.key, entity.name, list(entity.aliases), entity.last, entity.sightings, speaks=entity.speaks
    )


def neighbourhood(entities: Mapping[str, Entity]) -> Neighbourhood:
    """Entities, by their keys, and the edges among them, each pair and kind once; but for causes no edge has a way."""
    edges: dict[tuple[str, str, str], KnownEdge] = {}
    more = {frozenset((one.key, e.to)) for one in entities.values() for e in one.edges if e.kind != WITH}
    for one in entities.values():
        for edge in one.edges:
            if edge.to in entities and (edge.kind != WITH or {one.key, edge.to} not in more):
                turned = edge.kind not in {CAUSES, PREVENTS} and edge.to < one.key
                way = (edge.to, one.key, edge.kind) if turned else (one.key, edge.to, edge.kind)
                if way not in edges or edge.used > edges[way].used:
                    edges[way] = KnownEdge(*way, edge.strength, edge.used, edge.evidence)
    return Neighbourhood([brief(one) for one in entities.values()], list(edges.values()))
