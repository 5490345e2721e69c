"""Associative binding: which event, which memory and which goal belong together.

Source: the agentic design: events of a sliding window, memories retrieved for them and goals are scored by
multi-head attention, the best k of each category remain, every combination of those is scored, the best becomes
a thought.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from actors.handover import Goal
from actors.settings import BindingSettings
from actors.submind.heads import Moments, focus, softmax
from actors.submind.linking import Rarity, Tie, kinship, related, tie
from environment.messages import Instant, Thought, ThoughtKind

_HEADS = 5
_WEIGHTS = np.array([0.4, 0.15, 0.2, 0.1, 0.15])
"""Kinship, salience of the memory, goal, emotion, another source: summing to 1."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The best combination and how sure the choice was."""

    event: Thought
    memory: Thought
    goal: Goal
    tie: Tie
    """Why event and memory belong together."""
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
        pairs = sorted(pairs, key=lambda p: -p[2].strength)[: k * k]
        goals = sorted(goals, key=lambda g: -max(float(e.vector @ g.vector) for e in best))[:k]
        triples = [(event, memory, goal) for event, memory, _ in pairs for goal in goals]
        rows = np.asarray(
            [self._row(event, memory, tied.strength, goal) for event, memory, tied in pairs for goal in goals]
        )
        ties = [tied for _, _, tied in pairs for _ in goals]
        scores = self.moments.z(rows) @ _WEIGHTS
        self.moments.learn(rows)
        first = int(scores.argmax())
        event, memory, goal = triples[first]
        sharp = focus(softmax(scores, self._settings.temperature))
        return Bound(event, memory, goal, ties[first], sharp, related(event, memory))

    def _pair(self, event: Thought, memory: Thought) -> tuple[Thought, Thought, Tie] | None:
        """(Event, memory, tie) where the memory adds something and belongs to the event."""
        if event.time - memory.time < self._settings.apart or ThoughtKind.RESULT in {event.kind, memory.kind}:
            return None  # a result says again what it came of
        if float(event.vector @ memory.vector) >= self._settings.same:
            return None
        kin = kinship(event, memory, self.rarity)
        tied = tie(event, memory, self.rarity) if kin >= self._settings.kin else None
        return (event, memory, replace(tied, strength=kin)) if tied is not None else None

    def _row(self, event: Thought, memory: Thought, kin: float, goal: Goal) -> tuple[float, ...]:
        """Raw head scores."""
        other = event.perceptions and memory.perceptions and event.perceptions[0].source != memory.perceptions[0].source
        fit = float(event.vector @ goal.vector) + 0.5 * float(memory.vector @ goal.vector)
        return kin, memory.salience, fit, _accord(event.emotions, memory.emotions), 1.0 if other else 0.0


def _accord(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """How far two feelings go together: product of valences, -1..1."""
    return a.get("valence", 0.0) * b.get("valence", 0.0)
