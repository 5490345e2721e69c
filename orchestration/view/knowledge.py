"""What is known of an entity and around it, read from the stores alone."""

import asyncio
from collections.abc import Iterable
from itertools import chain

from actors.answering.episodes import cited
from actors.knowledge.entities import WITH, entity_of, spelled
from actors.knowledge.fact import (
    CONTRADICTIONS,
    ENTITIES,
    FACTS,
    NAMES,
    SLEEPS,
    Contradiction,
    Entity,
    Fact,
    SleepReport,
)
from actors.knowledge.page import (
    Belief,
    EntityPage,
    FactEvidence,
    KnownEntity,
    Neighbourhood,
    brief,
    neighbourhood,
    page,
    parted,
)
from environment.following import CollectionFollower
from environment.goals import GOALS, StandingGoal
from environment.marks import MarkKind
from environment.messages import Instant
from orchestration.view.mind import MindView

_WORDS, _NAME = 64, 4
"""Words that are looked at for names, and of one name, at most."""
_EVERY = 10_000
"""Open loops and matters looked through for a name."""
_EVER: Instant = 2.0**40


class KnowledgeView:
    """What is known, as a reader of the stores sees it. Every method may raise ``StoreUnavailable``."""

    def __init__(self, view: MindView) -> None:
        self._view, self._stores = view, view.stores
        self._denied = CollectionFollower(CONTRADICTIONS, self._stores.collections, view.settings.follow_batch)

    async def know(self, name: str, at: Instant, known: Instant | None = None) -> EntityPage | None:
        """Everything of an entity at a world time, by what was learnt until the mind time ``known``."""
        entity = await entity_of(self._stores.collections, name)
        if entity is None:
            return None
        ends = await self._entities(edge.to for edge in entity.edges)
        others = dict.fromkeys(edge.to for edge in entity.edges if edge.kind != WITH)
        facts, *beside = await asyncio.gather(*(self._facts(key) for key in (entity.key, *others)))
        matters, loops = await self._view.matters(limit=_EVERY)
        names = {key: one.name for key, one in ends.items()}
        denied = await self.contradictions()
        elsewhere = parted(chain.from_iterable(beside), at, known)
        return page(entity, parted(facts, at, known), names, denied, loops, matters, elsewhere)

    async def entities(self, text: str, limit: int) -> list[KnownEntity]:
        """Those named in some words, the longest names first, then those whose names begin so; at most ``limit``.

        Without words those that were met first latest.
        """
        kept, words = self._stores.collections, text.split()[:_WORDS]
        if not words:
            return [brief(ENTITIES.value(one)) for one in await kept.between(ENTITIES.name, 0.0, _EVER, limit)]
        spans = ((i, i + size) for size in range(_NAME, 0, -1) for i in range(len(words) - size + 1))
        said = dict.fromkeys(filter(None, (spelled(" ".join(words[i:j])) for i, j in spans)))
        named = await kept.get(NAMES.name, list(said))
        begun = await kept.scan(NAMES.name, spelled(text) or text, limit=limit)
        found = (*(named[name] for name in said if name in named), *begun)
        return [brief(one) for one in (await self._entities(map(NAMES.value, found))).values()][:limit]

    async def neighbourhood(self, name: str, most: int) -> Neighbourhood | None:
        """An entity and at most ``most - 1`` around it: what stands nearest along the strongest edges goes first."""
        centre = await entity_of(self._stores.collections, name)
        if centre is None:
            return None
        found, rim, near = {centre.key: centre}, [centre], {centre.key: 1.0}
        while rim and len(found) < most:
            reached: dict[str, float] = {}
            for one in rim:
                for edge in one.edges:
                    if edge.to not in found:
                        reached[edge.to] = max(reached.get(edge.to, 0.0), near[one.key] * edge.strength)
            nearest = sorted(reached, key=lambda key: (-reached[key], key))[: most - len(found)]
            there = await self._entities(nearest)
            found, rim, near = found | there, list(there.values()), reached
        return neighbourhood(found)

    async def sleeps(self, limit: int) -> list[SleepReport]:
        """The latest sleeps, the last first."""
        found = await self._stores.collections.scan(SLEEPS.name, limit=limit, backwards=True)
        return [SLEEPS.value(one) for one in found]

    async def believe(self, name: str, relation: str) -> list[Belief] | None:
        """The facts of an entity with what each rests on; those of one relation where it is not empty."""
        entity = await entity_of(self._stores.collections, name)
        if entity is None:
            return None
        facts = await self._facts(entity.key)
        wanted = [f for of in parted(facts, self._view.now()) for f in of if relation.lower() in {"", f.relation}]
        said = await cited(self._stores, chain.from_iterable(fact.evidence for fact in wanted))
        return [
            Belief(fact, [FactEvidence(ref, said[ref.id].text if ref.id in said else "") for ref in fact.evidence])
            for fact in wanted
        ]

    async def contradictions(self, *, settled: bool = False) -> list[Contradiction]:
        """What is denied, the latest first; ``settled`` ones as well."""
        every = (await self._denied.current(self._view.now())).values()
        return sorted((c for c in every if settled or c.settled is None), key=lambda c: (-c.opened, c.id))

    async def goals(self) -> dict[str, StandingGoal]:
        """All that is counted or held, by id, with what operators said already: the mind may not have heard of it."""
        found = await GOALS.all_of(self._stores.collections)
        marks = [mark for mark in await self._view.marks() if mark.kind is MarkKind.GOAL]
        for mark in marks:
            found.setdefault(mark.target, StandingGoal(mark.target, mark.text)).decide(mark)
        return found

    async def _facts(self, entity: str) -> list[Fact]:
        return list((await FACTS.all_of(self._stores.collections, f"{entity}/")).values())

    async def _entities(self, keys: Iterable[str]) -> dict[str, Entity]:
        """Those of the keys that are there, in their order."""
        wanted = list(dict.fromkeys(keys))
        there = await self._stores.collections.get(ENTITIES.name, wanted)
        return {key: ENTITIES.value(there[key]) for key in wanted if key in there}
