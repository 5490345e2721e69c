"""What is known of an entity, and why something is believed, as it is told to whoever asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from actors.knowledge.entities import spelled
from actors.knowledge.fact import Contradiction, Entity, Fact, holds
from actors.matters.matter import OpenLoop
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
    so = sorted((f for f in every if holds(f, at, known)), key=lambda f: (-f.confidence, f.relation, f.id))
    return so, sorted((f for f in every if not holds(f, at, known)), key=lambda f: (-f.since, f.id))


def page(
    entity: Entity,
    facts: tuple[list[Fact], list[Fact]],
    names: Mapping[str, str],
    denied: Iterable[Contradiction],
    loops: Iterable[OpenLoop],
) -> EntityPage:
    """A page; ``facts`` as ``parted``, ``names`` of the entities at the ends of its edges by their keys."""
    called = {spelled(entity.name), *entity.aliases}
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
        [one for one in loops if one.open and not called.isdisjoint(map(spelled, one.terms))],
    )
