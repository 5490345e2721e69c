"""What the mind keeps coming back to: signals of subjects, which propose goals, and the goals and values it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from actors.knowledge.settings import KnowledgeSettings
from actors.perception.wording import read
from environment.collections import RemoveDocument, WriteDocument
from environment.goals import FADES, GOALS, GoalSignal, SignalKind, StandingGoal, damp, goal_id
from environment.latest import Latest
from environment.marks import FeedbackMark, MarkKind
from environment.messages import Instant, Perception, PerceptionRef, ThoughtKind, Trace

_TEXTS = 4096
"""Lines, the latest, of which it is known what they name when somebody asks for them."""


class Subjects:
    """All that is counted or held, bounded. What changed is written by ``writes``."""

    def __init__(self, goals: Mapping[str, StandingGoal], settings: KnowledgeSettings) -> None:
        self.settings = settings
        self.all = dict(goals)
        self.passed = 0
        """Subjects beyond the bound, since it was last set to 0."""
        self._texts: Latest[str, tuple[PerceptionRef, str]] = Latest(_TEXTS)
        self._met: Latest[str, Instant] = Latest(_TEXTS)
        self._changed: dict[str, None] = {}
        self._pursued: dict[str, float] | None = None
        """``pursued`` since the last change: all subjects are gone through for that, and each step asks."""

    @property
    def pursued(self) -> dict[str, float]:
        """The words of what is held, with weights; of what operators did not want to be, 0."""
        if self._pursued is None:
            self._pursued = {one.text: one.weight for one in self.all.values() if one.decided is not None}
        return self._pursued

    def perceived(self, one: Perception) -> None:
        """A line came, which somebody may ask for."""
        self._texts[one.id] = PerceptionRef(one.id, one.time, one.source), (one.text or "")[: self.settings.longest]

    def conscious(self, focus: Trace | None, now: Instant) -> None:
        """A thought became conscious: what is composed of several lines says not which of them names what."""
        if focus is not None and focus.thought.kind is ThoughtKind.PERCEPT and focus.thought.perceptions:
            signal = GoalSignal(now, SignalKind.CONSCIOUS, focus.thought.perceptions[0])
            self._hear(focus.thought.associations, signal)

    def asked(self, latest: Iterable[tuple[str, Instant]]) -> None:
        """Perceptions were told to readers; told again it counts nothing."""
        for key, at in latest:
            self._meet(key, at, SignalKind.ASKED)

    def _meet(self, perception: str, at: Instant, kind: SignalKind) -> None:
        if self._met.get(perception) != at and (found := self._texts.get(perception)) is not None:
            self._met[perception] = at
            self._hear(read(found[1]).terms, GoalSignal(at, kind, found[0]))

    def marked(self, marks: Sequence[FeedbackMark]) -> None:
        """What people found useful, and what operators said of goals; told again it does nothing."""
        for mark in sorted(marks, key=lambda each: (each.at, each.id)):
            if mark.kind is MarkKind.USEFUL and not mark.undone and mark.perception is not None:
                self._meet(mark.perception.id, mark.at, SignalKind.USEFUL)
            elif mark.kind is MarkKind.GOAL and (mark.target in self.all or not mark.undone):
                one = self.all.setdefault(mark.target, StandingGoal(mark.target, mark.text))
                if one.decide(mark):
                    self._touch(one)

    def _hear(self, terms: Iterable[str], signal: GoalSignal) -> None:
        for term in terms if self.settings.subjects else ():
            one = self.all.setdefault(key := goal_id(term), StandingGoal(key, term))
            if one.hear(signal):
                self._touch(one)
        beyond = len(self.all) - self.settings.subjects
        if beyond > 0:
            rest = [one for one in self.all.values() if one.decided is None]
            rest.sort(key=lambda one: (len(one.evidence), one.evidence[-1].at, one.id))
            for one in rest[:beyond]:
                self._drop(one)
                self.passed += 1

    def _drop(self, one: StandingGoal) -> None:
        del self.all[one.id]
        self._touch(one)

    def _touch(self, one: StandingGoal) -> None:
        self._changed[one.id] = None
        self._pursued = None

    def sleep(self, now: Instant) -> None:
        """Damp what dominates, and let go of what has not come for long."""
        for one in damp(self.all.values()):
            self._touch(one)
        for one in list(self.all.values()):
            one.fade(now)
            if not (one.held or one.evidence or (one.decided is not None and now - one.decided < FADES)):
                self._drop(one)

    def writes(self) -> list[WriteDocument | RemoveDocument]:
        """All that changed since the last time."""
        changed, self._changed = self._changed, {}
        return [GOALS.write(key, self.all[key]) if key in self.all else GOALS.remove(key) for key in changed]
