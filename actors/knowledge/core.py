"""Reads what is said for facts, and keeps them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from actors.core import Description, Inward
from actors.effects import Commit, Count, Effect, Read, WakeAt
from actors.events import Broadcast, Configured, Event, Marked, Perceived, Started, Tick
from actors.knowledge.claim import FactClaim
from actors.knowledge.entities import WITH, EntityGraph
from actors.knowledge.fact import PROGRESS, Contradiction, Entity, Fact, Progress
from actors.knowledge.fact_reader import FactReader
from actors.knowledge.hearing import Hearing
from actors.knowledge.innate import InnateKnowledge
from actors.knowledge.ledger import FactLedger
from actors.knowledge.sentences import split_speaker
from actors.knowledge.settings import KnowledgeSettings
from environment.latest import Latest
from environment.marks import FeedbackMark, MarkKind
from environment.messages import Instant, Modality, Perception, PerceptionRef
from environment.packs import PackChange, PackSection

_PLACES = 256
"""Sources of which it is remembered what was last said there."""
_TOGETHER = 4
"""Entities of one line that are joined, at most."""
_UNWRITTEN = 1024
"""Lines after which how far the log was read is written though nothing was learnt."""


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
    ) -> None:
        """``packs``: all sections that are kept, by id."""
        self.name = name
        self._settings = settings
        self._graph = EntityGraph(entities, names, settings)
        self._ledger = FactLedger(facts, contradictions, progress, self._graph, settings)
        self._hearing = Hearing(settings, progress.pace)
        self._reader = FactReader(self._known, self._speaks)
        self._innate = InnateKnowledge(self._ledger, self._graph, self._reader)
        self._packs = dict(packs or {})
        self._saved = progress.cursor
        self._last: Latest[str, tuple[FactClaim, Instant]] = Latest(_PLACES)
        self._due: Instant = 0.0

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        match event:
            case Perceived():
                return [*self._read(event.perceptions, now), self._more()]
            case Broadcast():
                for fact in [f for ref in event.entry.perceptions for f in self._ledger.cited(ref.id)]:
                    self._ledger.use(fact, now)
                return self._written()
            case Marked():
                return self._marked(event.marks, now)
            case Configured(section=KnowledgeSettings() as settings):
                self._settings = self._graph.settings = self._ledger.settings = self._hearing.settings = settings
                return []
            case Started():
                self._due = now + self._settings.consolidate
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
        return Read(self._ledger.progress.cursor, self._settings.batch, Modality.TEXT)

    def _known(self, name: str) -> bool:
        return self._graph.find(name) is not None

    def _speaks(self, name: str) -> bool:
        found = self._graph.find(name)
        return found is not None and found.speaks

    def _read(self, perceptions: tuple[Perception, ...], now: Instant) -> list[Effect]:
        claimed = 0
        for one in perceptions:
            if one.seq > self._ledger.progress.cursor:
                self._ledger.progress.cursor = one.seq
                known = self._hearing.hears(one) if one.text else None
                if known is not None:
                    claims = self._learn(one, now)
                    claimed += claims
                    if not claims and not self._reader.depends:
                        self._hearing.told_nothing(one, known)
        counts = [Count("claims_total", claimed)] if claimed else []
        if self._hearing.passed:
            counts.append(Count("limit_hits:pace", self._hearing.passed))
            self._hearing.passed = 0
        return [*(self._consolidate(now) if self._ledger.full else self._written()), *counts]

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
            for i, one in enumerate(met[:_TOGETHER]):
                for other in met[i + 1 : _TOGETHER]:
                    self._graph.join(one, other, WITH, ref, now)
                    self._graph.join(other, one, WITH, ref, now)
        return len(claims)

    def _tick(self, now: Instant) -> list[Effect]:
        if now < self._due:
            return [WakeAt(self._due)]
        self._due = now + self._settings.consolidate
        return [*self._consolidate(now), WakeAt(self._due)]

    def _consolidate(self, now: Instant) -> list[Effect]:
        gone = self._ledger.consolidate(now)
        return [*self._written(), *(Count(name, count) for name, count in gone.items() if count)]

    def _marked(self, marks: tuple[FeedbackMark, ...], now: Instant) -> list[Effect]:
        """Do what operators corrected; what was done is not done again."""
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

    def _written(self) -> list[Effect]:
        writes = [*self._ledger.writes(), *self._graph.writes()]
        if not writes and self._ledger.progress.cursor - self._saved < _UNWRITTEN:
            return []
        self._saved = self._ledger.progress.cursor
        return [Commit(write) for write in (*writes, PROGRESS.write("progress", self._ledger.progress))]

    def describe(self) -> Description:
        still = sum(one.settled is None for one in self._ledger.contradictions.values())
        figures = {
            "facts": float(self._ledger.count),
            "entities": float(len(self._graph.entities)),
            "contradictions_open": float(still),
        }
        return Description("knowledge", "know what is so, since when, and who says so", (), figures)

    def snapshot(self) -> bytes:
        return b""

    def restore(self, state: bytes) -> None:
        """All of it is in collections."""
