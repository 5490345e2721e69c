"""Facts as they are held: said again, changed, corrected, ended, denied. Nothing is overwritten without a trace."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from actors.knowledge.claim import FactClaim
from actors.knowledge.entities import CAUSES, PREVENTS, EntityGraph, named
from actors.knowledge.fact import CONTRADICTIONS, FACTS, Contradiction, Entity, Fact, FactStanding, Progress
from actors.knowledge.grammar import words
from actors.knowledge.patterns import kind_of
from actors.knowledge.phrases import compared
from actors.knowledge.settings import KnowledgeSettings
from environment.collections import RemoveDocument, WriteDocument
from environment.identity import derived
from environment.messages import Instant, Perception, PerceptionRef

_BORN, _SURE = 0.6, 0.99
_TRUSTED = 0.7
"""Trust above which a fact is no better defended."""
_QUICK = 12.0
"""How many times sooner a state or a reading is another."""
_AHEAD = 1.1
_THRICE = 3
"""Uses after which the half-life is doubled."""
_KNOWN_CHANGES = 6
"""Changes of a relation before its use says how many values it has."""
_RELATIONS = 256
"""... of which its use is counted, at most."""


class FactLedger:
    """All facts, by entity, and the contradictions among them; bounded. What changed is written by ``writes``."""

    def __init__(
        self,
        facts: Mapping[str, Fact],
        contradictions: Mapping[str, Contradiction],
        progress: Progress,
        graph: EntityGraph,
        settings: KnowledgeSettings,
    ) -> None:
        self.settings = settings
        self.graph = graph
        self.progress = progress
        self.contradictions = dict(contradictions)
        self.facts: dict[str, dict[str, Fact]] = {}
        self.count = 0
        """Facts kept."""
        self._of: dict[str, dict[str, None]] = {}
        self._changed: dict[str, Fact | None] = {}
        self._disputed: dict[str, None] = {}
        for fact in facts.values():
            self.keep(fact)
        self._changed.clear()

    def cited(self, perception: str) -> list[Fact]:
        """The facts for which a perception is evidence."""
        return [
            self.facts[entity][fact] for entity, _, fact in (k.partition("/") for k in self._of.get(perception, ()))
        ]

    def strength(self, fact: Fact, now: Instant) -> float:
        """Of a fact by now; what still is so keeps a floor."""
        half_life: float = getattr(self.settings, f"half_life_{fact.kind.value}")
        half_life *= 2 if fact.sightings >= _THRICE else 1
        faded: float = fact.strength * 0.5 ** (max(0.0, now - fact.used) / max(half_life, 1.0))
        return max(faded, min(self.settings.floor, fact.strength)) if fact.open else faded

    def functional(self, relation: str) -> bool:
        """Whether it has one value at a time, by how it was used until now."""
        if relation in words("plural"):
            return False
        changes, returns = (of.get(relation, 0) for of in (self.progress.changes, self.progress.returns))
        return changes < _KNOWN_CHANGES or returns <= self.settings.several * changes

    def take(self, claim: FactClaim, speaker: str, perception: Perception, now: Instant) -> None:
        """Learn what somebody claims."""
        ref = PerceptionRef(perception.id, perception.time, perception.source)
        entity = self.graph.find(claim.subject)
        if claim.relation == "alias":
            self._same(claim, entity or self.graph.meet(claim.subject, ref), ref)
            return
        if claim.ended:
            for fact in self._open(entity.key, claim.relation) if entity else []:
                if self._alike(fact, claim.value):
                    self.close(fact, claim.since or perception.time, now, f"said to be over: {perception.id}")
            return
        entity = self.graph.meet(claim.subject, ref)
        if claim.takes_from and not claim.relation:
            claim = replace(claim, relation=self._taken(entity.key, claim.takes_from))
        made = self._made(claim, entity, speaker, perception, now)
        self._compare(made, claim, now)
        if made.object:
            self._join(entity, made, ref, now)

    def _made(self, claim: FactClaim, entity: Entity, speaker: str, perception: Perception, now: Instant) -> Fact:
        ref = PerceptionRef(perception.id, perception.time, speaker or perception.source)
        known = self.graph.find(claim.value)
        relates = claim.relation in {CAUSES, PREVENTS} or named(claim.value)
        if known or relates:
            known = self.graph.meet(claim.value, PerceptionRef(perception.id, perception.time, perception.source))
        return Fact(
            id=derived("f", entity.key, claim.relation, compared(claim.value), perception.id),
            entity=entity.key,
            subject=claim.subject,
            relation=claim.relation,
            value=claim.value,
            kind=claim.kind,
            since=claim.since if claim.since is not None else perception.time,
            learned=now,
            confidence=_BORN,
            trust=perception.trust,
            evidence=[ref],
            used=now,
            until=claim.until,
            object=known.key if known else "",
        )

    def _join(self, entity: Entity, made: Fact, ref: PerceptionRef, now: Instant) -> None:
        other = self.graph.entities[made.object]
        against = self.graph.join(entity, other, made.relation, ref, now)
        if made.relation not in {CAUSES, PREVENTS}:
            self.graph.join(other, entity, made.relation, ref, now)
        elif against is not None:
            facts = [f for f in self.facts.get(entity.key, {}).values() if f.open and f.object == other.key]
            facts = [f for f in facts if f.relation in {CAUSES, PREVENTS}]
            if len({f.relation for f in facts}) > 1:
                self._dispute(facts[-1], facts[0], now, [f"{f.relation} {f.value}" for f in (facts[0], facts[-1])])

    def _compare(self, made: Fact, claim: FactClaim, now: Instant) -> None:
        """What a new fact does to those that are held."""
        held = others = self._open(made.entity, made.relation)
        again = next((fact for fact in held if self._alike(fact, made.value, made.object)), None)
        if again is not None:
            self._again(again, made, now)
            others = [fact for fact in held if fact is not again and claim.changed]
        else:
            self._returned(made, now)
        if not self.functional(made.relation):
            others = [f for f in others if claim.instead and self._alike(f, claim.instead)]
        for fact in others:
            self._meet(fact, again or made, claim, now)
        if again is None:
            self.keep(made)

    def _meet(self, fact: Fact, made: Fact, claim: FactClaim, now: Instant) -> None:
        """Two values of what has one at a time."""
        last = max(ref.time for ref in fact.evidence)
        said, at = made.evidence[-1], made.evidence[-1].time
        trusted = min(fact.trust, _TRUSTED) - made.trust <= self.settings.deference
        quick = _QUICK if made.relation in {"state", "level"} else 1.0
        same = said.source in {ref.source for ref in fact.evidence}
        if claim.corrects and trusted:
            fact.standing, fact.closed, fact.reason = FactStanding.WRONG, now, f"corrected: {said.id}"
            made.since = min(made.since, fact.since)
        elif at < last and not claim.changed and made.until is None:
            made.until, made.closed, made.reason = fact.since, now, f"overtaken before it was read: {fact.id}"
            return
        elif trusted and (claim.changed or same or at - last >= self.settings.same_time / quick):
            self.close(fact, max(made.since, fact.since), now, f"changed: {said.id}")
            self._add(self.progress.changes, made.relation)
        else:
            self._dispute(made, fact, now, [fact.value, made.value])
            if not trusted or now - fact.recalled >= self.settings.labile:
                return
            self.keep(made)
            self.close(fact, max(made.since, fact.since), now, f"said otherwise when it was told: {said.id}")
        self._changed[fact.key] = fact
        self.settle(fact, made.id, fact.reason, now)

    def _again(self, fact: Fact, made: Fact, now: Instant) -> None:
        """Said once more: surer and stronger; of trust the least remains. Who takes back what it said settles that."""
        said = made.evidence[0]
        if any(ref.id == said.id for ref in fact.evidence):
            return
        gain = self.settings.gain * (1.0 if said.source not in {ref.source for ref in fact.evidence} else 0.5)
        fact.confidence = min(_SURE, fact.confidence + gain * (1 - fact.confidence))
        fact.trust = min(fact.trust, made.trust)
        self.remember(fact, said)
        self.use(fact, now)
        for one in [c for c in self.contradictions.values() if not c.settled and fact.id in c.facts]:
            for other in [self.facts[fact.entity].get(i) for i in one.facts if i != fact.id]:
                if other is not None and said.source in {ref.source for ref in other.evidence}:
                    other.standing, other.closed, other.reason = FactStanding.WRONG, now, f"taken back: {said.id}"
                    self._changed[other.key] = other
                    self.settle(other, fact.id, other.reason, now)

    def use(self, fact: Fact, now: Instant) -> None:
        """It was said again, or came to mind."""
        was = self.strength(fact, now)
        fact.strength, fact.used, fact.sightings = was + self.settings.gain * (1 - was), now, fact.sightings + 1
        fact.faint = False
        self._changed[fact.key] = fact

    def remember(self, fact: Fact, ref: PerceptionRef) -> None:
        fact.evidence.append(ref)
        if len(fact.evidence) > self.settings.evidence:
            self._forget(fact.evidence.pop(1), fact)
        self._of.setdefault(ref.id, {})[fact.key] = None

    def _returned(self, made: Fact, now: Instant) -> None:
        """A value that was replaced a moment ago is said again: the relation may have several."""
        for fact in self.facts.get(made.entity, {}).values():
            lately = fact.relation == made.relation and fact.closed and now - fact.closed < self.settings.same_time
            if lately and self._alike(fact, made.value, made.object):
                self._add(self.progress.returns, made.relation)
                return

    @staticmethod
    def _add(counts: dict[str, int], relation: str) -> None:
        counts[relation] = counts.get(relation, 0) + 1
        if len(counts) > _RELATIONS:
            del counts[min(counts, key=counts.__getitem__)]

    def _dispute(self, made: Fact, fact: Fact, now: Instant, values: list[str]) -> None:
        """Neither is overwritten: both wait for somebody to say which is right."""
        for one, other in ((made, fact), (fact, made)):
            one.standing, one.reason = FactStanding.DISPUTED, f"denied by {other.id}"
        self._changed[fact.key] = fact
        key, ids = derived("x", *sorted((fact.id, made.id))), [fact.id, made.id]
        denial = Contradiction(key, fact.subject, fact.relation, ids, values, now, fact.entity)
        self.contradictions.setdefault(denial.id, denial)
        self._disputed[denial.id] = None
        if len(self.contradictions) > _AHEAD * self.settings.contradictions:
            self.forget_denials()

    def settle(self, gone: Fact, right: str, how: str, now: Instant) -> None:
        """What one of the two is no more is no contradiction any more."""
        for one in [c for c in self.contradictions.values() if c.settled is None and gone.id in c.facts]:
            one.settled, one.right, one.how = now, right if right in one.facts else "", how
            self._disputed[one.id] = None
            for fact in filter(None, map(self.facts.get(gone.entity, {}).get, one.facts)):
                still = any(c.settled is None and fact.id in c.facts for c in self.contradictions.values())
                if fact.standing is FactStanding.DISPUTED and fact is not gone and not still:
                    fact.standing, fact.reason = FactStanding.HELD, ""
                    self._changed[fact.key] = fact

    def correct(self, entity: Entity, relation: str, value: str, ref: PerceptionRef, now: Instant) -> None:
        """An operator says what is right, or with no value that nothing of it is."""
        key = derived("f", entity.key, relation, ref.id)
        right = next((f for f in self._open(entity.key, relation) if value and self._alike(f, value)), None)
        if value and right is None:
            kind = kind_of(relation, value)
            right = Fact(key, entity.name, relation, value, kind, ref.time, now, _SURE, 1.0, [ref], entity.key, now)
            self.keep(right)
        elif right is not None:
            right.confidence, right.standing, right.reason = _SURE, FactStanding.HELD, f"corrected: {ref.id}"
            self.remember(right, ref)
            self._changed[right.key] = right
        others = self._open(entity.key, relation) if not value or self.functional(relation) else []
        for fact in others:
            if fact is not right:
                fact.standing, fact.closed, fact.reason = FactStanding.WRONG, now, f"corrected: {ref.id}"
                self._changed[fact.key] = fact
                self.settle(fact, right.id if right else "", fact.reason, now)
                if right is not None and right.id == key:
                    right.since = min(right.since, fact.since)

    def take_back(self, entity: Entity, relation: str, ref: PerceptionRef, now: Instant) -> None:
        """What an operator corrected is as it was, contradictions included."""
        of, how = self.facts.get(entity.key, {}), f"corrected: {ref.id}"
        for fact in [
            f for f in of.values() if f.relation == relation and (f.reason == how or f.evidence[0].id == ref.id)
        ]:
            if fact.evidence[0].id == ref.id:
                fact.standing, fact.closed, fact.reason = FactStanding.WRONG, now, f"taken back: {ref.id}"
            else:
                fact.standing, fact.reason = FactStanding.HELD, ""
                fact.closed = fact.closed if fact.until is not None else None
                fact.evidence = [each for each in fact.evidence if each.id != ref.id]
                self._forget(ref, fact)
            self._changed[fact.key] = fact
        for one in [c for c in self.contradictions.values() if c.how == how]:
            one.settled, one.right, one.how = None, "", ""
            self._disputed[one.id] = None
            for fact in filter(None, map(of.get, one.facts)):
                fact.standing = FactStanding.DISPUTED

    def _same(self, claim: FactClaim, entity: Entity, ref: PerceptionRef) -> None:
        """Two names are of one."""
        other = self.graph.find(claim.value)
        if other is None:
            self.graph.alias(entity, claim.value, ref)
        elif other.key != entity.key:
            for fact in list(self.facts.get(other.key, {}).values()):
                self.let_go(fact)
                self.keep(replace(fact, entity=entity.key))
            self.graph.absorb(entity, other, ref)

    def _open(self, entity: str, relation: str) -> list[Fact]:
        return [f for f in self.facts.get(entity, {}).values() if f.relation == relation and f.open]

    def _taken(self, entity: str, value: str) -> str:
        """The relation in which somebody stands who is relieved."""
        found = [f for f in self.facts.get(entity, {}).values() if f.open and self._alike(f, value)]
        return found[-1].relation if found else "responsible"

    def _alike(self, fact: Fact, value: str, entity: str = "") -> bool:
        known = entity or (found.key if (found := self.graph.find(value)) else "")
        return bool(known and known == fact.object) or compared(fact.value) == compared(value)

    def close(self, fact: Fact, until: Instant, now: Instant, reason: str) -> None:
        """It is so no more, and stays known."""
        fact.until, fact.closed, fact.reason = until, now, reason
        if fact.standing is FactStanding.DISPUTED:
            fact.standing = FactStanding.HELD
        self._changed[fact.key] = fact

    def keep(self, fact: Fact) -> None:
        """Hold it, whatever else is held."""
        of = self.facts.setdefault(fact.entity, {})
        self.count += fact.id not in of
        of[fact.id] = fact
        for ref in fact.evidence:
            self._of.setdefault(ref.id, {})[fact.key] = None
        self._changed[fact.key] = fact

    def let_go(self, fact: Fact) -> None:
        """Know it no more."""
        kept = self.facts[fact.entity]
        del kept[fact.id]
        self.count -= 1
        if not kept:
            del self.facts[fact.entity]
        for ref in fact.evidence:
            self._forget(ref, fact)
        self._changed[fact.key] = None

    def _forget(self, ref: PerceptionRef, fact: Fact) -> None:
        of = self._of.get(ref.id, {})
        of.pop(fact.key, None)
        if not of:
            self._of.pop(ref.id, None)

    @property
    def full(self) -> bool:
        """Whether it is so far beyond a bound that it cannot wait for the next look."""
        facts, entities = self.settings.facts, self.settings.entities
        return self.count > _AHEAD * facts or len(self.graph.entities) > _AHEAD * entities

    def forget_denials(self) -> None:
        """Of facts that are gone, and those beyond the bound."""
        known = [c for c in self.contradictions.values() if any(i in self.facts.get(c.entity, {}) for i in c.facts)]
        known.sort(key=lambda c: (c.settled is not None, -c.opened, c.id))
        kept = {one.id for one in known[: self.settings.contradictions]}
        for key in [key for key in self.contradictions if key not in kept]:
            del self.contradictions[key]
            self._disputed[key] = None

    def writes(self) -> Iterator[WriteDocument | RemoveDocument]:
        """What changed since the last time."""
        for key, fact in self._changed.items():
            yield FACTS.write(key, fact, time=fact.learned) if fact else FACTS.remove(key)
        for key in self._disputed:
            one = self.contradictions.get(key)
            yield CONTRADICTIONS.write(key, one, time=one.opened) if one else CONTRADICTIONS.remove(key)
        self._changed, self._disputed = {}, {}
