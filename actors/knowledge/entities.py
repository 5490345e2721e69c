"""Who and what is known: names that are one, and how strongly each has to do with others."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from actors.knowledge.fact import ENTITIES, NAMES, Edge, Entity
from actors.knowledge.phrases import bare
from actors.knowledge.settings import KnowledgeSettings
from environment.collections import Collections, RemoveDocument, WriteDocument
from environment.identity import derived
from environment.messages import Instant, PerceptionRef

WITH, CAUSES, PREVENTS = "with", "causes", "prevents"
_ETA = 0.2
"""What one use together adds to an edge, of what is missing to 1."""
_CAUSE, _AGAIN, _SURE, _CAUSE_FLOOR = 0.6, 0.05, 0.99, 0.15
"""Confidence of a cause: at birth, more when seen again, at most; and what is left of it at least."""
_PERSON = re.compile(r"@?[^\W\d_][\w'’-]*(?:[ .][^\W\d_][\w'’-]*){0,2}\.?")
_NAME = 80


@lru_cache(maxsize=8192)
def spelled(name: str) -> str:
    """How names are compared: without case, determiners, the ``@`` of a handle and what follows that of an address."""
    said = bare(name).casefold()
    said = said[1:].replace(".", " ").replace("_", " ") if said.startswith("@") else said.partition("@")[0]
    return " ".join(said.rstrip(".").split())[:_NAME]


def same_person(one: str, other: str) -> bool:
    """Whether one spelled name is the beginning of the other, initials standing for names: "mags", "mags o"."""
    short, long = sorted((one.split(), other.split()), key=len)
    return short[:1] == long[:1] and all(
        a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) for a, b in zip(short, long, strict=False)
    )


def named(text: str, *, speaks: bool = False) -> bool:
    """Whether a text may be the name of a person; of one who speaks also without a capital."""
    return bool(_PERSON.fullmatch(text)) and (speaks or text[0] == "@" or text[0].isupper())


async def entity_of(collections: Collections, name: str) -> Entity | None:
    """The entity that is called so, where one is kept."""
    key = await NAMES.get(collections, spelled(name))
    return await ENTITIES.get(collections, key) if key else None


class EntityGraph:
    """All entities; bounded, and so are their aliases and edges. What changed is written by ``writes``."""

    def __init__(self, entities: Mapping[str, Entity], names: Mapping[str, str], settings: KnowledgeSettings) -> None:
        self.settings = settings
        self.entities = dict(entities)
        self._names = {name: key for name, key in names.items() if key in self.entities}
        self._first: dict[str, dict[str, None]] = {}
        for name, key in self._names.items():
            self._first.setdefault(name.partition(" ")[0], {})[key] = None
        self._changed: dict[str, None] = {}
        self._renamed: dict[str, None] = {}

    def find(self, name: str) -> Entity | None:
        """The entity of a name, where it has one."""
        key = self._names.get(spelled(name))
        return self.entities[key] if key is not None else None

    def meet(self, name: str, ref: PerceptionRef, *, speaks: bool = False, key: str = "") -> Entity:
        """The entity of a name that was said: known, known by another name, or new. With a ``key`` that one, or new."""
        known = self.entities.get(key) if key else self.find(name) or self._alike(name, ref, speaks=speaks)
        if known is None:
            mine = not key or spelled(name) not in self._names
            key = key or derived("e", spelled(name))
            known = self.entities[key] = Entity(key, bare(name).removeprefix("@")[:_NAME], ref, ref, speaks=speaks)
            if mine:
                self._call(known, spelled(name))
        elif ref.id != known.last.id:
            known.sightings += 1
        if ref.time >= known.last.time:
            known.last = ref
        known.speaks = known.speaks or speaks
        self._changed[known.key] = None
        return known

    def _alike(self, name: str, ref: PerceptionRef, *, speaks: bool) -> Entity | None:
        """The one person whom a shorter or longer name means, where there is only one."""
        said = spelled(name)
        if not named(bare(name), speaks=speaks):
            return None
        found = [
            one
            for one in map(self.entities.__getitem__, self._first.get(said.partition(" ")[0], ()))
            if (speaks or one.speaks or any(len(part) == 1 for part in f"{said} {spelled(one.name)}".split()))
            and all(same_person(said, each) for each in (spelled(one.name), *one.aliases))
        ]
        if len(found) != 1 or len(found[0].aliases) >= self.settings.aliases:
            return None
        self.alias(found[0], name, ref)
        return found[0]

    def alias(self, entity: Entity, name: str, ref: PerceptionRef) -> None:
        """Give it another name; the longest one it is called by."""
        said = spelled(name)
        if said != spelled(entity.name) and len(entity.aliases) < self.settings.aliases:
            entity.aliases[said] = ref
            if len(said) > len(spelled(entity.name)) and same_person(said, spelled(entity.name)):
                entity.aliases[spelled(entity.name)] = entity.aliases.pop(said)
                entity.name = bare(name)
            self._call(entity, said)

    def absorb(self, entity: Entity, other: Entity, ref: PerceptionRef) -> None:
        """The other is the same one: its names and edges go over, and it ends."""
        for name, shown in {spelled(other.name): ref, **other.aliases}.items():
            if len(entity.aliases) < self.settings.aliases:
                entity.aliases[name] = shown
            self._call(entity, name)
        for edge in other.edges:
            if edge.to != entity.key:
                entity.edges.append(edge)
        entity.edges = sorted(entity.edges, key=lambda e: -e.strength)[: self.settings.edges]
        entity.sightings += other.sightings
        self.drop(other.key)

    def _call(self, entity: Entity, name: str) -> None:
        self._names[name] = entity.key
        self._first.setdefault(name.partition(" ")[0], {})[entity.key] = None
        self._changed[entity.key] = self._renamed[name] = None

    def drop(self, key: str) -> None:
        """Forget an entity and the names that are still its own."""
        gone = self.entities.pop(key)
        for name in (spelled(gone.name), *gone.aliases):
            if self._names.get(name) == key:
                del self._names[name]
                self._renamed[name] = None
            self._first.get(name.partition(" ")[0], {}).pop(key, None)
        self._changed[key] = None

    def strength(self, edge: Edge, now: Instant) -> float:
        """Of an edge by now."""
        cause = edge.kind in {CAUSES, PREVENTS}
        half_life = self.settings.cause_half_life if cause else self.settings.edge_half_life
        faded: float = edge.strength * 0.5 ** (max(0.0, now - edge.used) / max(half_life, 1.0))
        return max(faded, min(_CAUSE_FLOOR, edge.strength)) if cause else faded

    def join(self, one: Entity, other: Entity, kind: str, ref: PerceptionRef, now: Instant) -> Edge | None:
        """They were used together: the edge is strengthened (Hebb). The edge that says the opposite, if any."""
        if one.key == other.key:
            return None
        edge = next((each for each in one.edges if each.to == other.key and each.kind == kind), None)
        cause = kind in {CAUSES, PREVENTS}
        if edge is None:
            one.edges.append(Edge(other.key, kind, _CAUSE if cause else _ETA, now, ref))
            if len(one.edges) > self.settings.edges:
                one.edges.remove(min(one.edges[:-1], key=lambda e: (self.strength(e, now), e.to)))
        elif edge.evidence.id != ref.id:
            was = self.strength(edge, now)
            edge.strength = min(_SURE, was + _AGAIN) if cause else was + _ETA * (1 - was)
            edge.used, edge.evidence = now, ref
        self._changed[one.key] = None
        opposite = {CAUSES: PREVENTS, PREVENTS: CAUSES}.get(kind)
        return next((each for each in one.edges if each.to == other.key and each.kind == opposite), None)

    def surplus(self, known: Mapping[str, object]) -> list[Entity]:
        """Those beyond the bound: of which nothing is known first, then those named longest ago."""
        most = len(self.entities) - self.settings.entities
        if most <= 0:
            return []
        return sorted(self.entities.values(), key=lambda e: (e.key in known, e.last.time, e.key))[:most]

    def writes(self) -> Iterator[WriteDocument | RemoveDocument]:
        """What changed since the last time."""
        for key in self._changed:
            entity = self.entities.get(key)
            yield ENTITIES.write(key, entity, time=entity.first.time) if entity else ENTITIES.remove(key)
        for name in self._renamed:
            found = self._names.get(name)
            yield NAMES.write(name, found) if found else NAMES.remove(name)
        self._changed, self._renamed = {}, {}
