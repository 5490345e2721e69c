"""What packs say becomes facts: beside those that were learnt, superseded and withdrawn with their packs."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from actors.knowledge.claim import FactClaim
from actors.knowledge.entities import EntityGraph
from actors.knowledge.fact import Fact
from actors.knowledge.fact_reader import FactReader
from actors.knowledge.ledger import FactLedger
from actors.knowledge.patterns import kind_of
from actors.knowledge.phrases import compared
from environment.messages import Instant, Perception, PerceptionRef
from environment.packs import ALWAYS, INNATE, PackSection, source_of

_LONGEST_VALUE = 80
_TIMED = {"time", "promised"}
"""What prose that is of no time says nothing of."""


class InnateKnowledge:
    """Learns and unlearns sections of packs.

    Guarantees: told again it changes nothing. What was perceived is never overwritten by what a mind is born with, but
    by another version of it that says something else than the one before. With a section goes what rests on it alone;
    with a pack, all that it ever said.
    """

    def __init__(self, ledger: FactLedger, graph: EntityGraph, reader: FactReader) -> None:
        self._ledger, self._graph, self._reader = ledger, graph, reader

    def teach(self, came: Sequence[PackSection], gone: Collection[str], now: Instant) -> None:
        """Learn sections, and withdraw those of the ids that went."""
        known = self._ledger.progress.packs
        packs = {one: known.pop(one) for one in sorted(known.keys() & set(gone))}
        stale = {fact.key: fact for one in packs for fact in self._ledger.cited(one)}
        named = {key for fact in stale.values() for key in (fact.entity, fact.object)}
        for section in came:
            if section.id not in known:
                for claim in self._claims(section):
                    self._learn(claim, section, stale, now)
                known[section.id] = section.pack
        for fact in stale.values():
            self._withdraw(fact, packs, now)
        self._tidy(set(packs.values()) - set(known.values()), named)

    def _claims(self, section: PackSection) -> Iterator[FactClaim]:
        for subject, relation, value in section.facts:
            if len(value) <= _LONGEST_VALUE:
                said = relation if relation == "alias" else self._reader.relation(relation.lower())
                yield FactClaim(subject, said, value, kind_of(said, value))
        if not section.facts:
            claims = self._reader.read(section.text, section.source, ALWAYS)[1]
            yield from (c for c in claims if c.since is c.until is None and c.relation not in _TIMED)

    def _learn(self, claim: FactClaim, section: PackSection, stale: dict[str, Fact], now: Instant) -> None:
        """Take a claim; what the version before said as well only rests on another section now."""
        entity = self._graph.find(claim.subject)
        before = [f for f in stale.values() if entity and (f.entity, f.relation) == (entity.key, claim.relation)]
        same = next((f for f in before if compared(f.value) == compared(claim.value)), None)
        if same is not None:
            ref = PerceptionRef(section.id, ALWAYS, section.source)
            rest = [one for one in same.evidence if one.id in self._ledger.progress.packs or one.id[:2] != INNATE]
            stale.pop(same.key)
            self._ledger.let_go(same)
            self._ledger.keep(replace(same, evidence=[ref, *rest]))
            return
        at = now if before else ALWAYS
        said = Perception(section.source, at, now, section.text, trust=section.trust, id=section.id, seq=0)
        self._ledger.take(replace(claim, changed=bool(before)), section.source, said, now)

    def _withdraw(self, fact: Fact, gone: Collection[str], now: Instant) -> None:
        """What rests on nothing else is let go; what another version changed stays as what was."""
        rest = [one for one in fact.evidence if one.id not in gone]
        self._ledger.let_go(fact)
        if rest or not fact.open:
            self._ledger.keep(replace(fact, evidence=rest or fact.evidence))
        else:
            self._ledger.settle(fact, "", "its pack says so no more", now)

    def _tidy(self, packs: Collection[str], named: set[str]) -> None:
        """Nothing is left of packs that are gone, and of entities that only packs named."""
        sources = tuple(source_of(pack) for pack in packs)
        for fact in [f for of in self._ledger.facts.values() for f in of.values()] if packs else []:
            if all(ref.id.startswith(INNATE) and ref.source.startswith(sources) for ref in fact.evidence):
                self._ledger.let_go(fact)
                named |= {fact.entity, fact.object}
        for one in filter(None, map(self._graph.entities.get, sorted(named))):
            if one.key not in self._ledger.facts and one.first.id[:2] == one.last.id[:2] == INNATE:
                self._graph.drop(one.key)
