"""From a binding to a request to the substrate, and from its answer to a thought."""

import math
from collections.abc import Sequence

from actors.events import Generated
from actors.submind.binding import Bound
from actors.submind.linking import source_of
from actors.substrate.ports import Act, Material, Request, Role
from environment.identity import thought_id
from environment.messages import Instant, PerceptionRef, Thought, ThoughtKind, Via
from environment.severity import log_odds

_PERCEPTIONS = 16
_TERMS = 8
_CERTAIN = 0.8
_KIN, _SPAN, _LIFT = 0.75, 0.5, 0.2
"""Kinship from which a connection across sources lifts its event, over which it comes to its full, and how far."""


def clock_time(time: Instant) -> str:
    """``HH:MM`` UTC, by arithmetic: a core has no calendar."""
    minutes = int(time // 60) % 1440
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def apart(time: Instant, event: Instant) -> str:
    """How much earlier than an event, or later, as people say it."""
    seconds = abs(event - time)
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} {'earlier' if time < event else 'later'}"
    return "just before" if time <= event else "just after"


def material(role: Role, thought: Thought, when: str, first: Sequence[str] = ()) -> Material:
    """A thought as something given to the substrate; ``first`` names the terms that matter most here."""
    terms = tuple(dict.fromkeys((*first, *thought.associations)))
    return Material(role, thought.text, source_of(thought), when, terms)


def request(author: str, bound: Bound) -> Request:
    """Ask for the thought that binds an event, a memory and a goal."""
    materials = [material(Role.EVENT, bound.event, clock_time(bound.event.time), bound.shared)]
    when = apart(bound.memory.time, bound.event.time)
    materials.append(material(Role.MEMORY, bound.memory, when, bound.shared))
    materials.append(Material(Role.GOAL, bound.goal.text))
    return Request(Act.BIND, author, tuple(materials))


def perceptions_of(parts: Sequence[Thought]) -> tuple[PerceptionRef, ...]:
    """What some thoughts rest on, focus first, bounded."""
    refs = {p.id: p for part in parts for p in part.perceptions}
    return tuple(refs.values())[:_PERCEPTIONS]


def compose(author: str, bound: Bound, generated: Generated, via: Sequence[Via], topic: str, now: Instant) -> Thought:
    """The thought of a binding: salient as its event, more where it joins sources; trusted as its least part.

    An event that was lifted so before is lifted no further by a weaker connection, and never by both.
    """
    parts = [bound.event, bound.memory]
    parents = tuple(p.id for p in parts)
    confidence = min(_CERTAIN, 0.3 + 0.1 * len(bound.shared) + 0.3 * bound.focus)
    across = source_of(bound.event) != source_of(bound.memory)
    lift = _LIFT * min(1.0, max(0.0, (bound.tie.strength - _KIN) / _SPAN)) if across else 0.0
    before = log_odds(bound.event.salience) - bound.event.evidence.get("sources", 0.0)
    alone = 1 / (1 + math.exp(-before))
    salience = max(bound.event.salience, alone + (1 - alone) * lift)
    terms = tuple(dict.fromkeys((*bound.shared, *bound.event.associations)))[:_TERMS]
    return Thought(
        id=thought_id(author, parents),
        author=author,
        kind=ThoughtKind.INSIGHT,
        text=generated.generation.text,
        time=bound.event.time,
        at=now,
        vector=generated.vector,
        salience=salience,
        confidence=confidence,
        trust=min(p.trust for p in parts),
        perceptions=perceptions_of(parts),
        parents=parents,
        topic=topic,
        depth=1 + max(p.depth for p in parts),
        via=tuple(via),
        emotions=bound.event.emotions,
        evidence={**bound.event.evidence, "sources": round(log_odds(salience) - before, 3)},
        associations=terms,
        insights=bound.shared[:3],
        count=sum(p.count for p in parts),
        links=(bound.tie.to(bound.memory.id),),
        worded_by=generated.generation.model,
    )
