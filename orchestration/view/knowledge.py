"""What is known of an entity, read from the stores alone."""

from __future__ import annotations

from actors.knowledge.entities import spelled
from actors.knowledge.fact import CONTRADICTIONS, ENTITIES, FACTS, NAMES, Contradiction, Entity, Fact
from actors.knowledge.page import Belief, EntityPage, FactEvidence, page, parted
from actors.matters.matter import LOOPS
from environment.identity import perception_seq
from environment.messages import Instant, PerceptionRef
from environment.packs import INNATE, PACKS
from environment.ports import Stores


async def entity_of(stores: Stores, name: str) -> Entity | None:
    """The entity that is called so."""
    key = await NAMES.get(stores.collections, spelled(name))
    return await ENTITIES.get(stores.collections, key) if key else None


async def know(stores: Stores, name: str, at: Instant, known: Instant | None = None) -> EntityPage | None:
    """Everything of an entity at a world time, by what was learnt until the mind time ``known``."""
    entity = await entity_of(stores, name)
    if entity is None:
        return None
    kept = stores.collections
    ends = await kept.get(ENTITIES.name, list(dict.fromkeys(edge.to for edge in entity.edges)))
    facts = await FACTS.all_of(kept, f"{entity.key}/")
    return page(
        entity,
        parted(facts.values(), at, known),
        {key: ENTITIES.value(document).name for key, document in ends.items()},
        await contradictions(stores),
        (await LOOPS.all_of(kept)).values(),
    )


async def believe(stores: Stores, name: str, relation: str, at: Instant) -> list[Belief] | None:
    """The facts of an entity with what each rests on; those of one relation where it is not empty."""
    entity = await entity_of(stores, name)
    if entity is None:
        return None
    facts = (await FACTS.all_of(stores.collections, f"{entity.key}/")).values()
    wanted = [fact for of in parted(facts, at) for fact in of if relation.lower() in {"", fact.relation}]
    return [Belief(fact, await _evidence(stores, fact)) for fact in wanted]


async def contradictions(stores: Stores, *, settled: bool = False) -> list[Contradiction]:
    """What is denied, the latest first; ``settled`` ones as well."""
    every = (await CONTRADICTIONS.all_of(stores.collections)).values()
    return sorted((c for c in every if settled or c.settled is None), key=lambda c: (-c.opened, c.id))


async def _evidence(stores: Stores, fact: Fact) -> list[FactEvidence]:
    return [FactEvidence(ref, await _said(stores, ref)) for ref in fact.evidence]


async def _said(stores: Stores, ref: PerceptionRef) -> str:
    if ref.id.startswith(INNATE):
        section = await PACKS.get(stores.collections, ref.id)
        return section.text if section else ""
    seq = perception_seq(ref.id)
    found = await stores.perceptions.read(seq - 1, 1) if seq else []
    return (found[0].text or "") if found and found[0].seq == seq else ""
