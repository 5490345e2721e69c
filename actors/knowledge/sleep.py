"""What sleep makes of memory: gists of many episodes, and a report of what became of it."""

from collections.abc import Iterable
from dataclasses import replace

from actors.knowledge.clusters import EpisodeCluster, EpisodeClusters, rarest
from actors.knowledge.entities import EntityGraph
from actors.knowledge.fact import RECURS, Fact, FactKind, FactStanding, SleepPart, SleepReport, holds
from actors.knowledge.ledger import FactLedger
from actors.knowledge.routines import Routine, day, routine
from actors.substrate.plain import clip
from environment.identity import derived
from environment.messages import Instant, PerceptionRef

OWED = "promised"
"""The relation of what somebody promised."""
_QUOTE = 72
_OVER = 8
"""Times that something must have come for it to be told when it is over already."""
_BEFORE, _AFTER = 5400.0, 10_800.0
"""Around the time at which something was expected, where it is looked for what came instead."""
_INSTEAD, _SELDOM = 0.3, 0.2
"""Weight of the words that this shares with what was expected, of all that has; and how often it comes beside that, at
most."""
_NAMED = 2
"""Days on which it did not come, and lines that speak against it, that a gist names: the latest."""


class Sleep:
    """Makes gists of clusters, as facts: what comes again and again, when, and what speaks against it."""

    def __init__(self, clusters: EpisodeClusters, graph: EntityGraph, ledger: FactLedger) -> None:
        self._clusters, self._graph, self._ledger = clusters, graph, ledger

    def report(self, reason: str, now: Instant) -> SleepReport:
        """What became of memory since the last time, that which is denied and that which is owed."""
        day = self._ledger.progress.day
        denied = [one for one in self._ledger.contradictions.values() if one.settled is None]
        for one in sorted(denied, key=lambda one: (-one.opened, one.id)):
            day.contradictions.tell(one.subject, f"{one.relation}: {' or '.join(one.values)}", "nothing settled it")
        for fact in [fact for of in self._ledger.facts.values() for fact in of.values()]:
            if fact.relation == OWED and holds(fact, now):
                day.rehearsed.note(fact, "owed")
        return replace(day, id=derived("s", repr(now)), at=now, reason=reason)

    def gists(self, now: Instant) -> None:
        """Renew the gists of all that came since the last time, and of all that should have."""
        part = self._ledger.progress.day.gists
        clusters = self._clusters
        due = {key: one for key, one in clusters.all.items() if key in clusters.moved or one.gist}
        clusters.moved.clear()
        for one in due.values():
            if any(fact.standing is FactStanding.WRONG for fact in self._ledger.facts.get(one.id, {}).values()):
                continue  # somebody said that it is none
            if self._held(one) is None:
                one.gist, one.routine = "", None
            self._renew(one, part, now)

    def _held(self, one: EpisodeCluster) -> Fact | None:
        fact = self._ledger.facts.get(one.id, {}).get(one.gist)
        return fact if fact is not None and fact.open else None

    def _renew(self, one: EpisodeCluster, part: SleepPart, now: Instant) -> None:
        found, held = routine(one.times, now), self._held(one)
        if found is not None and found.over is not None:
            if held is None and found.came >= _OVER:  # it was over before anybody heard of it
                held = self._hold(one, found, part, now)
            if held is not None:
                one.routine = found
                self._say(one, held, now)
                self._end(one, held, found.over, part, now)
            one.times = [at for at in one.times if at > found.over]
            found, held = routine(one.times, now), None
            found = found if found is not None and found.over is None else None
        if held is not None and (found is None or one.routine is None or not found.same(one.routine)):
            self._end(one, held, one.last, part, now)
            held = None
        if held is not None:
            one.routine = found
            self._say(one, held, now)
        elif found is not None:
            self._hold(one, found, part, now)

    def _hold(self, one: EpisodeCluster, found: Routine, part: SleepPart, now: Instant) -> Fact:
        first = one.evidence[0]
        entity = self._graph.meet(one.label, first, key=one.id)
        again = any(fact.relation == RECURS for fact in self._ledger.facts.get(one.id, {}).values())
        fact = Fact(
            derived("f", one.id, RECURS, repr(one.times[0])),
            entity.name,
            RECURS,
            "",
            FactKind.STANDARD,
            one.times[0],
            now,
            0.0,
            one.trust,
            [],
            one.id,
            now,
        )
        one.gist, one.routine = fact.id, found
        self._ledger.keep(fact)
        self._say(one, fact, now)
        part.note(fact, "otherwise than before" if again else "new")
        return fact

    def _say(self, one: EpisodeCluster, fact: Fact, now: Instant) -> None:
        """Bring a gist up to date."""
        if (found := one.routine) is None:
            return
        came = sum(at >= fact.since for at in one.times) if fact.since > one.evidence[0].time else one.came
        rests = list(one.evidence)
        if found.over is not None:
            came -= sum(at > found.over for at in one.times)
            rests = [ref for ref in fact.evidence or rests if ref.time <= found.over]
        against = [*one.odd, *self._instead(one, found)]
        told = f"{found.words()}, {came} times since {day(fact.since, now)}"
        if found.missed:
            told += f"; not on {' and '.join(day(at, now) for at in found.missed[-_NAMED:])}"
        if len(found.missed) > _NAMED:
            told += f" and {len(found.missed) - _NAMED} times before"
        for ref, text in against[-_NAMED:]:
            told += f"; on {day(ref.time, now)} “{clip(text, _QUOTE)}”"
        fact.value, fact.sightings, fact.trust = told, came, min(fact.trust, one.trust)
        fact.confidence = (came + 1) / (came + len(found.missed) + 2)
        if {ref.id for ref in rests} - {ref.id for ref in fact.evidence}:
            fact.strength, fact.used = 1.0, now
        self._ledger.let_go(fact)
        fact.evidence, fact.against = rests, [ref for ref, _ in against]
        self._ledger.keep(fact)
        self._clusters.touch(one)

    def _instead(self, one: EpisodeCluster, found: Routine) -> Iterable[tuple[PerceptionRef, str]]:
        """What was said in like words about the time at which it did not come."""
        core = one.core
        whole = sum(self._clusters.weight(one.source, term) for term in core)
        for at in found.missed[-_NAMED:]:
            best: tuple[float, str, PerceptionRef, str] | None = None
            for weight, other in self._clusters.sharing(one.source, core):
                near = [ref for ref in other.evidence if -_BEFORE <= ref.time - at <= _AFTER]
                alike = weight >= _INSTEAD * whole and other.came <= max(2, _SELDOM * one.came)
                if other is one or not near or not alike or (best is not None and (weight, other.id) < best[:2]):
                    continue
                if rarest({term: self._clusters.weight(one.source, term, other) for term in core}) & other.terms.keys():
                    best = weight, other.id, near[0], other.text
            if best is not None:
                yield best[2:]

    def _end(self, one: EpisodeCluster, fact: Fact, until: Instant, part: SleepPart, now: Instant) -> None:
        """It comes so no more, and stays known."""
        self._ledger.close(fact, max(until, fact.since), now, f"did not come so since {day(until, now)}")
        one.gist, one.routine = "", None
        self._clusters.touch(one)
        part.note(fact, fact.reason)
