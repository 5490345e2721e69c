"""Reads what is said for facts, and keeps them."""

from collections.abc import Collection, Mapping, Sequence
from itertools import permutations

from actors.core import Description, Inward
from actors.effects import Commit, Count, Effect, Read, Send, WakeAt
from actors.events import Broadcast, Configured, Event, Marked, Perceived, Started, Tick
from actors.knowledge.claim import FactClaim
from actors.knowledge.clusters import EpisodeCluster, EpisodeClusters
from actors.knowledge.consolidation import consolidate, recall
from actors.knowledge.entities import WITH, EntityGraph
from actors.knowledge.fact import PROGRESS, SLEEPS, Contradiction, Entity, Fact, Progress, SleepReport
from actors.knowledge.fact_reader import FactReader
from actors.knowledge.hearing import Hearing
from actors.knowledge.innate import InnateKnowledge
from actors.knowledge.ledger import FactLedger
from actors.knowledge.sentences import split_speaker
from actors.knowledge.settings import KnowledgeSettings
from actors.knowledge.sleep import Sleep
from actors.knowledge.subjects import Subjects
from actors.names import ATTENTION
from environment.collections import RemoveDocument, WriteDocument
from environment.goals import Pursued, StandingGoal
from environment.latest import Latest
from environment.marks import FeedbackMark, MarkKind
from environment.messages import Instant, Modality, Perception, PerceptionRef
from environment.packs import PackChange, PackSection
from environment.recalls import Recalls

_PLACES = 256
"""Sources of which it is remembered what was last said there."""
_TOGETHER = 4
"""Entities of one line that are joined, at most."""
_UNWRITTEN = 1024
"""Lines after which clusters, and how far the log was read for them, are written."""
_TYPICAL = 100
"""Claims in an hour after which the next look comes when it should; with more it comes sooner, with fewer later."""
_QUIET = 0.1
"""Of the lines that come in an hour of the day, from which it may sleep earlier."""
_DAY, _HOUR = 86_400.0, 3600.0
_KEPT = 400 * _DAY
"""For how long a report is kept."""


class KnowledgeCore(Inward):
    """The one that knows what is so.

    Guarantees: a fact is written in the step that learns it, with how far the log was read, so nothing is learnt twice
    or missed whenever it dies; no value takes the place of another without the other being kept, with why; what two
    sources deny each other is kept as both say it, until something settles it; all that is kept is bounded.
    """

    def __init__(
        self,
        name: str,
        facts: Mapping[str, Fact],
        entities: Mapping[str, Entity],
        names: Mapping[str, str],
        contradictions: Mapping[str, Contradiction],
        progress: Progress,
        settings: KnowledgeSettings,
        packs: Mapping[str, PackSection] | None = None,
        clusters: Mapping[str, EpisodeCluster] | None = None,
        goals: Mapping[str, StandingGoal] | None = None,
    ) -> None:
        """``packs``: all sections that are kept, by id."""
        self.name = name
        self._settings = settings
        self._graph = EntityGraph(entities, names, settings)
        self._ledger = FactLedger(facts, contradictions, progress, self._graph, settings)
        self._clusters = EpisodeClusters(clusters or {}, settings)
        self._subjects = Subjects(goals or {}, settings)
        self._pursued: dict[str, float] = {}
        """As attention was told of late."""
        self._sleep = Sleep(self._clusters, self._graph, self._ledger)
        self._hearing = Hearing(settings, dict(progress.pace))
        self._read_to = progress.gathered
        self._reader = FactReader(self._known, self._speaks)
        self._innate = InnateKnowledge(self._ledger, self._graph, self._reader)
        self._packs = dict(packs or {})
        self._last: Latest[str, tuple[FactClaim, Instant]] = Latest(_PLACES)
        self._due: Instant = 0.0
        self._looked: Instant = 0.0
        self._claims = self._lines = 0
        """Since it last looked what fades."""
        self._writes: list[WriteDocument | RemoveDocument] = []

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        match event:
            case Perceived():
                return [*self._read(event.perceptions, now), self._more()]
            case Broadcast():
                recall(self._ledger, [(ref.id, now) for ref in event.entry.perceptions])
                self._subjects.conscious(event.focus, now)
                return self._written()
            case Recalls():
                recall(self._ledger, event.latest)
                self._subjects.asked(event.latest)
                return self._written()
            case Marked():
                return self._marked(event.marks, now)
            case Configured(section=KnowledgeSettings() as settings):
                self._settings = self._graph.settings = self._ledger.settings = self._hearing.settings = settings
                self._clusters.settings = self._subjects.settings = settings
                return []
            case Started():
                self._looked, self._due = now, now + self._settings.consolidate
                day = self._ledger.progress.day
                day.since = min(day.since or now, now)  # a clock that was wrong had it sleep in the future
                untaught = self._ledger.progress.packs.keys() - self._packs.keys()
                return [*self._teach(tuple(self._packs.values()), untaught, now), self._more(), WakeAt(self._due)]
            case PackChange():
                return self._teach(event.came, event.gone, now)
            case Tick():
                return self._tick(now)
            case _:
                return []

    def _teach(self, came: Sequence[PackSection], gone: Collection[str], now: Instant) -> list[Effect]:
        self._innate.teach(came, gone, now)
        return self._written()

    def _more(self) -> Effect:
        return Read(self._read_to, self._settings.batch, Modality.TEXT)

    def _known(self, name: str) -> bool:
        return self._graph.find(name) is not None

    def _speaks(self, name: str) -> bool:
        found = self._graph.find(name)
        return found is not None and found.speaks

    def _read(self, perceptions: tuple[Perception, ...], now: Instant) -> list[Effect]:
        claimed, progress = 0, self._ledger.progress
        for one in perceptions:
            if one.seq <= self._read_to:
                continue
            self._read_to = one.seq
            known = self._hearing.hears(one) if one.text else None
            if known is not None:
                self._clusters.meet(one, known)
                self._subjects.perceived(one)
            if one.seq <= progress.cursor:  # learnt before it died
                continue
            progress.cursor = one.seq
            progress.day.perceptions += 1
            if known is not None and self._hearing.to_read(one, known):
                claims = self._learn(one, now)
                claimed += claims
                if not claims and not self._reader.depends:
                    self._hearing.told_nothing(one, known)
        self._lines += len(perceptions)
        self._claims += claimed
        counts = [Count("claims_total", claimed)] if claimed else []
        if self._hearing.passed:
            counts.append(Count("limit_hits:pace", self._hearing.passed))
            self._hearing.passed = 0
        full = self._ledger.full or self._clusters.full
        return [*(self._consolidate(now) if full else ()), *self._written(), *counts]

    def _learn(self, perception: Perception, now: Instant) -> int:
        source, text = perception.source, (perception.text or "")[: self._settings.longest]
        ref = PerceptionRef(perception.id, perception.time, source)
        last = self._last.get(source)
        before = last[0] if last and perception.time - last[1] <= self._settings.pronoun else None
        who, claims = self._reader.read(text, source, perception.time, before)
        own = any(who in {claim.subject, claim.value} for claim in claims)  # a source that speaks of itself is somebody
        if own or who != source or split_speaker(text, source)[0] != source:
            self._graph.meet(who, ref, speaks=True)
        for claim in claims:
            self._ledger.take(claim, who, perception, now)
        if claims:
            self._last[source] = claims[-1], perception.time
            met = [
                e
                for name in dict.fromkeys(n for c in claims for n in (c.subject, c.value))
                if (e := self._graph.find(name))
            ]
            for one, other in permutations(met[:_TOGETHER], 2):
                if not any(edge.to == other.key and edge.kind != WITH for edge in one.edges):  # a relation says more
                    self._graph.join(one, other, WITH, ref, now)
        return len(claims)

    def _tick(self, now: Instant) -> list[Effect]:
        if now < self._due:
            return [WakeAt(self._due)]
        waited = max(now - self._looked, 1.0)
        busy = max(self._claims * _HOUR / waited / _TYPICAL, 0.01)
        reason, self._pursued = self._sleepy(now, self._lines / waited), {}  # attention may have missed it
        self._looked, self._claims, self._lines = now, 0, 0
        night = now - (now - self._settings.sleep_at) % _DAY + _DAY
        self._due = min(night, now + self._settings.consolidate * min(2.0, max(0.25, 1 / busy)))
        return [*(self._asleep(reason, now) if reason else self._consolidate(now)), *self._written(), WakeAt(self._due)]

    def _sleepy(self, now: Instant, rate: float) -> str:
        """Why it is to sleep by now; empty: it is not. ``rate``: lines a second of late."""
        day, early = self._ledger.progress.day, self._settings.sleep_early
        over = (now - self._settings.sleep_at) % _DAY
        if day.since < now - over - early:
            return "night"
        quiet = over >= _DAY - early and day.since < now - _DAY / 2
        return "quiet" if quiet and rate < _QUIET * day.perceptions / (now - day.since) else ""

    def _asleep(self, reason: str, now: Instant) -> list[Effect]:
        """Make gists, let go of what faded, and tell what was done, in one step."""
        self._sleep.gists(now)
        self._subjects.sleep(now)
        gone = self._consolidate(now)
        report = self._sleep.report(reason, now)
        self._ledger.progress.day = SleepReport(since=now)
        self._gathered()
        told = SLEEPS.write(f"{int(now):012}", report, time=now, expires=now + _KEPT)
        return [*gone, Commit(told), Count("sleeps_total"), Count("gists_total", report.gists.count)]

    def _consolidate(self, now: Instant) -> list[Effect]:
        gone = consolidate(self._ledger, now) | {"limit_hits:clusters": self._clusters.trim()}
        return [Count(name, count) for name, count in gone.items() if count]

    def _marked(self, marks: tuple[FeedbackMark, ...], now: Instant) -> list[Effect]:
        """Do what operators corrected; what was done is not done again."""
        self._subjects.marked(marks)
        done, every = self._ledger.progress.marks, [one for one in marks if one.kind is MarkKind.CORRECT]
        for gone in done.keys() - {one.id for one in every}:
            del done[gone]
        for mark in sorted(every, key=lambda each: (each.at, each.id)):
            entity = self._graph.entities.get(mark.target)
            if entity is not None and done.get(mark.id) != (mark.at, mark.undone):
                done[mark.id] = mark.at, mark.undone
                ref, relation = PerceptionRef(mark.id, mark.at, mark.by), self._reader.relation(mark.text)
                if mark.undone:
                    self._ledger.take_back(entity, relation, ref, now)
                else:
                    self._ledger.correct(entity, relation, mark.value, ref, now)
        return self._written()

    def _gathered(self) -> None:
        """What comes from here on is read again after a crash; clusters are written with that."""
        progress = self._ledger.progress
        progress.gathered, progress.pace = self._read_to, dict(self._hearing.pace)
        self._writes += self._clusters.writes()

    def _written(self) -> list[Effect]:
        self._writes += [*self._ledger.writes(), *self._graph.writes(), *self._subjects.writes()]
        if self._read_to - self._ledger.progress.gathered >= _UNWRITTEN:
            self._gathered()
        writes, self._writes = self._writes, []
        last = [PROGRESS.write("progress", self._ledger.progress)] if writes else []
        told: list[Effect] = []
        if self._subjects.pursued != self._pursued:
            self._pursued = self._subjects.pursued
            told.append(Send(ATTENTION, Pursued(self._pursued)))
        if self._subjects.passed:
            told.append(Count("limit_hits:subjects", self._subjects.passed))
            self._subjects.passed = 0
        return [*(Commit(write) for write in (*writes, *last)), *told]

    def describe(self) -> Description:
        still = sum(one.settled is None for one in self._ledger.contradictions.values())
        figures = {
            "facts": float(self._ledger.count),
            "entities": float(len(self._graph.entities)),
            "contradictions_open": float(still),
            "clusters": float(len(self._clusters.all)),
            "goals": float(sum(one.held for one in self._subjects.all.values())),
        }
        return Description("knowledge", "know what is so, since when, and who says so", (), figures)

    def snapshot(self) -> bytes:
        return b""

    def restore(self, state: bytes) -> None:
        """All of it is in collections."""
