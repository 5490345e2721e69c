"""What sleep makes of memory: gists of many episodes, and a report of what became of it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from actors.knowledge.clusters import EpisodeCluster, EpisodeClusters, rarest
from actors.knowledge.companions import Timeline
from actors.knowledge.entities import EntityGraph
from actors.knowledge.fact import HAPPENS, RECURS, Fact, FactKind, FactStanding, SleepPart, SleepReport, holds
from actors.knowledge.ledger import FactLedger
from actors.knowledge.routines import Routine, day, listed, routine
from actors.perception.severity import WARNING, severity
from actors.substrate.plain import clip
from environment.episodes.question import TROUBLE
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
_OFTEN, _MOSTLY, _MONTHS = 3, 0.7, 6
"""Times that something without a routine must have come; share of them of who says it mostly; months that are told."""
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
        came, clusters.moved = clusters.moved, {}
        timeline = Timeline({key: one.times for key, one in clusters.all.items()}, now)
        for one in [one for one in clusters.all.values() if one.id in came or one.routine]:
            if any(fact.standing is FactStanding.WRONG for fact in self._ledger.facts.get(one.id, {}).values()):
                continue  # somebody said that it is none
            if self._held(one, RECURS) is self._held(one, HAPPENS):
                one.gist, one.routine = "", None
            self._renew(one, part, now)
            if one.routine is None and one.id in came:
                self._happens(one, timeline, part, now)

    def _held(self, one: EpisodeCluster, relation: str) -> Fact | None:
        fact = self._ledger.facts.get(one.id, {}).get(one.gist)
        return fact if fact is not None and fact.open and fact.relation == relation else None

    def _renew(self, one: EpisodeCluster, part: SleepPart, now: Instant) -> None:
        found, held = routine(one.times, now), self._held(one, RECURS)
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
        if (before := self._held(one, HAPPENS)) is not None:  # now there is more to tell
            self._ledger.let_go(before)
        again = any(fact.relation == RECURS for fact in self._ledger.facts.get(one.id, {}).values())
        fact = self._made(one, RECURS, one.times[0], now)
        one.routine = found
        self._say(one, fact, now)
        part.note(fact, "otherwise than before" if again else "new")
        return fact

    def _made(self, one: EpisodeCluster, relation: str, since: Instant, now: Instant) -> Fact:
        """A gist, of which nothing is said yet."""
        entity = self._graph.meet(one.label, one.evidence[0], key=one.id)
        one.gist = derived("f", one.id, relation, repr(since))
        kind = FactKind.STANDARD
        fact = Fact(one.gist, entity.name, relation, "", kind, since, now, 0.0, one.trust, [], one.id, now)
        self._ledger.keep(fact)
        return fact

    def _say(self, one: EpisodeCluster, fact: Fact, now: Instant) -> None:
        """Bring the gist of a routine up to date."""
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
        fact.confidence = (came + 1) / (came + len(found.missed) + 2)
        fact.against = [ref for ref, _ in against]
        fact.perceptions = one.perceptions + fact.against
        self._tell(one, fact, told + _by(one), came, rests, now)

    def _tell(
        self, one: EpisodeCluster, fact: Fact, told: str, came: int, rests: list[PerceptionRef], now: Instant
    ) -> None:
        """Have a gist say so."""
        if {ref.id for ref in rests} - {ref.id for ref in fact.evidence}:
            fact.strength, fact.used = 1.0, now
        self._ledger.let_go(fact)
        fact.value, fact.sightings, fact.trust, fact.evidence = told, came, min(fact.trust, one.trust), rests
        self._ledger.keep(fact)
        self._clusters.touch(one)

    def _happens(self, one: EpisodeCluster, timeline: Timeline, part: SleepPart, now: Instant) -> None:
        """What comes at no certain times: how often, what comes before and after; of trouble, and of what has such."""
        fact, beside, label = self._held(one, HAPPENS), timeline.companions(one.id), one.shared
        trouble = len(one.times) >= _OFTEN and (TROUBLE.search(label) or severity(one.text) >= WARNING)
        if fact is not None and not (beside or trouble):  # other things are said in like words by now
            self._ledger.let_go(fact)
        if not (beside or trouble):
            return
        if fact is None:
            fact = self._made(one, HAPPENS, one.evidence[0].time, now)
            part.note(fact, "new")
        fact.subject, fact.confidence = label, (one.came + 1) / (one.came + 2)
        told, rests, fact.perceptions = f"{_counted(one, now)}{_by(one)}", list(one.evidence), list(one.perceptions)
        for each in beside:
            other = self._clusters.all[each.key]
            fact.perceptions += other.perceptions
            rests += (ref for ref in other.evidence if any(_along(ref, at, each.gap) for at in one.evidence))
            gap = f"{max(1, round(abs(each.gap) / 60))} minutes {'before' if each.gap < 0 else 'after'} it"
            told += f"; about {gap} “{other.shared}” ({each.came} of {each.of} times)"
        rests = list({ref.id: ref for ref in sorted(rests, key=lambda ref: ref.time)}.values())
        self._tell(one, fact, told, one.came, rests, now)

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


def _counted(one: EpisodeCluster, now: Instant) -> str:
    """How often something came, by month where it came in several."""
    whole = one.came == len(one.times)  # else something came before those that are kept
    months = Counter(f"{datetime.fromtimestamp(at, UTC):%B %Y}" for at in one.times)
    told = [f"{count} in {month}" for month, count in months.items()][not whole :][-_MONTHS:]
    by_month = f" ({listed(told)})" if len(months) > 1 and told else ""
    return f"{one.came} times since {day(one.evidence[0].time, now)}{by_month}, the last on {day(one.last, now)}"


def _along(ref: PerceptionRef, at: PerceptionRef, gap: float) -> bool:
    """Whether one comes about a gap after the other."""
    return 0 < (ref.time - at.time) / gap <= 2  # noqa: PLR2004


def _by(one: EpisodeCluster) -> str:
    """Who says it mostly, where somebody does."""
    who, count = max(one.by.items(), key=lambda each: (each[1], each[0]), default=("", 0))
    mostly = count >= _MOSTLY * one.came and count >= _OFTEN and len(one.by) > 1
    return f"; mostly by {who}, {count} of {one.came} times" if mostly else ""
