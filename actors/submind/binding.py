"""Associative binding: which event, which memory and which goal belong together.

Source: the agentic design: events of a sliding window, memories retrieved for them and goals are scored by
multi-head attention, the best k of each category remain, every combination of those is scored, the best becomes
a thought.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from actors.handover import Goal
from actors.running import FadingCounts
from actors.settings import BindingSettings
from actors.submind.heads import Moments, focus, softmax
from environment.messages import Instant, Thought

_HEADS = 5
_LINK, _LINKS = 0.3, 3
"""What a shared association counts at most, and how many count."""
_SAME_SOURCE = 0.1
_WEIGHTS = np.array([0.4, 0.15, 0.2, 0.1, 0.15])
"""Kinship, salience of the memory, goal, emotion, another source: summing to 1."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The best combination and how sure the choice was."""

    event: Thought
    memory: Thought
    goal: Goal
    kin: float
    """Kinship of event and memory."""
    focus: float
    """0..1."""
    shared: tuple[str, ...]
    """Associations that event and memory have in common, rarest first."""


class BindingWindow:
    """The events of the last minutes, bounded."""

    def __init__(self, settings: BindingSettings) -> None:
        self._settings = settings
        self._events: OrderedDict[str, Thought] = OrderedDict()

    def configure(self, settings: BindingSettings) -> None:
        """As ``Binder.configure``."""
        self._settings = settings

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


def related(a: Thought, b: Thought) -> tuple[str, ...]:
    """The associations two thoughts share, in the first one's order, which is most telling first."""
    shared = set(a.associations) & set(b.associations)
    return tuple(t for t in a.associations if t in shared) if shared else ()


class Rarity:
    """How telling an association is, learned from what a submind meets."""

    def __init__(self, capacity: int = 4096) -> None:
        self._counts = FadingCounts(capacity)

    def learn(self, terms: Sequence[str]) -> None:
        """Count the associations of one thought."""
        self._counts.add(terms)

    def of(self, term: str) -> float:
        """1 for what was met once or never, falling to 0 for what everything shares."""
        total = self._counts.total + 20
        return max(0.0, 1.0 - math.log1p(max(0, self._counts.get(term) - 2)) / math.log(total))

    def dump(self) -> dict[str, int]:
        """For a snapshot."""
        return self._counts.dump()

    def load(self, counts: object) -> None:
        """From a snapshot."""
        self._counts.load(counts)


def kinship(a: Thought, b: Thought, rarity: Rarity) -> float:
    """How sure it is that two thoughts are about one thing: cosine, and more for each rare association they share.

    What one source says again is less of a connection than what another says of the same.
    """
    links = sum(sorted((rarity.of(t) ** 2 for t in related(a, b)), reverse=True)[:_LINKS])
    same = bool(a.perceptions and b.perceptions and a.perceptions[0].source == b.perceptions[0].source)
    return float(a.vector @ b.vector) + _LINK * links - (_SAME_SOURCE if same else 0.0)


class Binder:
    """Scores combinations; remembers only running moments of its heads."""

    def __init__(self, settings: BindingSettings) -> None:
        self._settings = settings
        self.moments = Moments(_HEADS, settings.memory)
        self.rarity = Rarity()

    def configure(self, settings: BindingSettings) -> None:
        """Combinations are compared by other settings; the moments beside them do not depend on those."""
        self._settings = settings

    def bind(self, events: Sequence[Thought], memories: Sequence[Thought], goals: Sequence[Goal]) -> Bound | None:
        """The best combination; None where no event and memory are about one thing.

        A memory that rests on the same perceptions as the event, says the same again, or is part of the same
        conversation adds nothing and is left out.
        """
        k = self._settings.k
        fit = [max(float(e.vector @ g.vector) for g in goals) + e.salience for e in events]
        best = [events[i] for i in sorted(range(len(events)), key=lambda i: -fit[i])[:k]]
        pairs = [pair for event in best for memory in memories if (pair := self._pair(event, memory)) is not None]
        if not pairs:
            return None
        pairs = sorted(pairs, key=lambda p: -p[2])[: k * k]
        goals = sorted(goals, key=lambda g: -max(float(e.vector @ g.vector) for e in best))[:k]
        triples = [(event, memory, goal) for event, memory, _ in pairs for goal in goals]
        rows = np.asarray([self._row(event, memory, kin, goal) for event, memory, kin in pairs for goal in goals])
        kins = [kin for _, _, kin in pairs for _ in goals]
        scores = self.moments.z(rows) @ _WEIGHTS
        self.moments.learn(rows)
        first = int(scores.argmax())
        event, memory, goal = triples[first]
        sharp = focus(softmax(scores, self._settings.temperature))
        return Bound(event, memory, goal, kins[first], sharp, related(event, memory))

    def _pair(self, event: Thought, memory: Thought) -> tuple[Thought, Thought, float] | None:
        """(Event, memory, kinship) where the memory adds something and belongs to the event."""
        if event.time - memory.time < self._settings.apart:
            return None
        if memory.id == event.id or {p.id for p in memory.perceptions} & {p.id for p in event.perceptions}:
            return None
        if float(event.vector @ memory.vector) >= self._settings.same:
            return None
        kin = kinship(event, memory, self.rarity)
        return None if kin < self._settings.kin else (event, memory, kin)

    def _row(self, event: Thought, memory: Thought, kin: float, goal: Goal) -> tuple[float, ...]:
        """Raw head scores."""
        other = event.perceptions and memory.perceptions and event.perceptions[0].source != memory.perceptions[0].source
        fit = float(event.vector @ goal.vector) + 0.5 * float(memory.vector @ goal.vector)
        return kin, memory.salience, fit, _accord(event.emotions, memory.emotions), 1.0 if other else 0.0


def _accord(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """How far two feelings go together: product of valences, -1..1."""
    return a.get("valence", 0.0) * b.get("valence", 0.0)
