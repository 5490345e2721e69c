"""Working memory: a few slots whose activation decays; never persisted."""

from __future__ import annotations

from dataclasses import dataclass

from environment.messages import Instant, Thought


@dataclass(slots=True)
class Slot:
    """One thing held in mind."""

    thought: Thought
    activation: float
    at: Instant


class WorkingMemory:
    """Holds at most ``slots`` thoughts; the least active makes room.

    Source: the agentic design ("implemented as an in-memory store which isn't persisted"); seven slots by
    Miller (1956).
    """

    def __init__(self, slots: int, half_life: float) -> None:
        self._slots: list[Slot] = []
        self._most = slots
        self.half_life = half_life
        """Seconds; may be changed at any time, for all that is held."""

    def __len__(self) -> int:
        return len(self._slots)

    def hold(self, thought: Thought, activation: float, now: Instant) -> None:
        """Take a thought in, or activate it anew."""
        self._slots = [s for s in self._slots if s.thought.id != thought.id]
        self._slots.append(Slot(thought, activation, now))
        if len(self._slots) > self._most:
            self._slots.remove(min(self._slots, key=lambda s: (self._active(s, now), s.at)))

    def held(self, now: Instant, least: float = 0.05) -> list[Thought]:
        """What is still active, most active first."""
        self._slots = [s for s in self._slots if self._active(s, now) >= least]
        return [s.thought for s in sorted(self._slots, key=lambda s: -self._active(s, now))]

    def _active(self, slot: Slot, now: Instant) -> float:
        return float(slot.activation * 0.5 ** (max(0.0, now - slot.at) / self.half_life))
