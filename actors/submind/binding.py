"""Associative binding: which event, which memory and which goal belong together.

Source: the agentic design: events of a sliding window, memories retrieved for them and goals are scored by
multi-head attention, the best k of each category remain, every combination of those is scored, the best becomes
a thought.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from actors.settings import BindingSettings
from actors.submind.heads import Matrix, Moments, focus, softmax
from environment.messages import Instant, Thought, Vector

_HEADS = 5
_WEIGHTS = np.array([0.25, 0.3, 0.2, 0.1, 0.15])
"""Content, associations, goal, emotion, distance: summing to 1."""
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Goal:
    """What a submind is for."""

    text: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class Bound:
    """The best combination and how sure the choice was."""

    event: Thought
    memory: Thought | None
    goal: Goal
    score: float
    """Weighted sum of z-scores."""
    focus: float
    """0..1."""
    shared: tuple[str, ...]
    """Associations that event and memory have in common, rarest first."""


class Window:
    """The events of the last minutes, bounded."""

    def __init__(self, settings: BindingSettings) -> None:
        self._settings = settings
        self._events: OrderedDict[str, Thought] = OrderedDict()

    def add(self, thought: Thought) -> None:
        """Take in an event; the oldest goes when the window is full."""
        self._events[thought.id] = thought
        while len(self._events) > self._settings.window_events:
            self._events.popitem(last=False)

    def events(self, now: Instant) -> list[Thought]:
        """What is still within the window."""
        while self._events:
            oldest = next(iter(self._events.values()))
            if now - oldest.at <= self._settings.window:
                break
            self._events.popitem(last=False)
        return list(self._events.values())

    def remove(self, ids: Sequence[str]) -> None:
        """Events that have been bound leave the window."""
        for i in ids:
            self._events.pop(i, None)

    def __len__(self) -> int:
        return len(self._events)


def related(a: Thought, b: Thought) -> tuple[float, tuple[str, ...]]:
    """How much two thoughts share by association: (0..1, the shared terms, most telling first)."""
    shared = set(a.associations) & set(b.associations)
    if not shared:
        return 0.0, ()
    least = min(len(a.associations), len(b.associations))
    ordered = tuple(t for t in a.associations if t in shared)
    return len(shared) / least, ordered


class Binder:
    """Scores combinations; remembers only running moments of its heads."""

    def __init__(self, settings: BindingSettings) -> None:
        self._settings = settings
        self.moments = Moments(_HEADS, settings.memory)

    def bind(self, events: Sequence[Thought], memories: Sequence[Thought], goals: Sequence[Goal]) -> Bound | None:
        """The best combination; None when there is no event.

        A memory that rests on the same perceptions as the event, or is about the very same thing said again, adds
        nothing and is left out.
        """
        if not events:
            return None
        k = self._settings.k
        by_goal = [max(float(e.vector @ g.vector) for g in goals) for e in events]
        events = [
            e
            for _, _, e in sorted(
                zip(by_goal, range(len(events)), events, strict=True), key=lambda x: (-x[0] - x[2].salience, x[1])
            )
        ][:k]
        goals = sorted(goals, key=lambda g: -max(float(e.vector @ g.vector) for e in events))[:k]
        pairs = [(e, m) for e in events for m in memories[: 4 * k] if self._adds(e, m)]
        if not pairs:
            best_event = max(events, key=lambda e: (e.salience, e.id))
            return Bound(best_event, None, goals[0], 0.0, 0.0, ())
        triples, rows = self._rows(pairs, goals)
        z = self.moments.z(rows)
        self.moments.learn(rows)
        scores = z @ _WEIGHTS
        keep = np.argsort(-scores, kind="stable")[: k * k * k]
        probabilities = softmax(scores[keep], self._settings.temperature)
        event, memory, goal = triples[int(keep[0])]
        return Bound(event, memory, goal, float(scores[keep[0]]), focus(probabilities), related(event, memory)[1])

    def _adds(self, event: Thought, memory: Thought) -> bool:
        if memory.id == event.id or {p.id for p in memory.perceptions} & {p.id for p in event.perceptions}:
            return False
        return float(event.vector @ memory.vector) < self._settings.same

    def _rows(
        self, pairs: Sequence[tuple[Thought, Thought]], goals: Sequence[Goal]
    ) -> tuple[list[tuple[Thought, Thought, Goal]], Matrix]:
        triples, rows = [], []
        for event, memory in pairs:
            content = float(event.vector @ memory.vector)
            shared = related(event, memory)[0]
            feeling = _accord(event.emotions, memory.emotions)
            other = (
                event.perceptions and memory.perceptions and event.perceptions[0].source != memory.perceptions[0].source
            )
            apart = min(abs(event.time - memory.time) / (6 * _HOUR), 1.0) * 0.5 + (0.5 if other else 0.0)
            for goal in goals:
                fit = float(event.vector @ goal.vector) + 0.5 * float(memory.vector @ goal.vector)
                triples.append((event, memory, goal))
                rows.append((content, shared, fit, feeling, apart))
        return triples, np.asarray(rows)


def _accord(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """How far two feelings go together: product of valences, -1..1."""
    return a.get("valence", 0.0) * b.get("valence", 0.0)
