"""Working memory: a few slots whose activation decays; what leaves them stays latent, and returns by a cue."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from environment.messages import Instant, Thought

_LEAST = 0.05
"""Activation below which a slot is free."""
_CUE = 2
"""Associations that a cue has to share with what is latent."""


@dataclass(slots=True)
class Slot:
    """One thing held in mind."""

    thought: Thought
    activation: float
    at: Instant


class WorkingMemory:
    """Holds at most ``slots`` thoughts; the least active makes room. It survives a crash by ``dump`` and ``load``.

    At most ``latent`` that left it, the latest, are remembered until they would have faded for three times as long, and
    come back when something with two of their associations comes to mind.

    Source: the agentic design; seven slots by Miller (1956); latent items by Stokes (2015), activity-silent memory.
    """

    def __init__(self, slots: int, half_life: float, latent: int = 0) -> None:
        self._slots: list[Slot] = []
        self._latent: list[Slot] = []
        self._most, self._most_latent = slots, latent
        self.half_life = half_life
        """Seconds; may be changed at any time, for all that is held."""

    def __len__(self) -> int:
        return len(self._slots)

    def hold(self, thought: Thought, activation: float, now: Instant) -> None:
        """Take a thought in, or activate it anew."""
        self._slots = [s for s in self._slots if s.thought.id != thought.id]
        self._latent = [s for s in self._latent if s.thought.id != thought.id]
        self._slots.append(Slot(thought, activation, now))
        if len(self._slots) > self._most:
            self._leave([min(self._slots, key=lambda s: (self._active(s, now), s.at))])

    def held(self, now: Instant) -> list[Thought]:
        """What is still active, most active first."""
        self._leave([s for s in self._slots if self._active(s, now) < _LEAST])
        return [s.thought for s in sorted(self._slots, key=lambda s: -self._active(s, now))]

    def cue(self, terms: AbstractSet[str], activation: float, now: Instant) -> int:
        """Have return what is latent and has to do with some associations; how many did."""
        self._latent = [s for s in self._latent if self._active(s, now) >= _LEAST**3]
        found = [s for s in self._latent if len(terms & set(s.thought.associations)) >= _CUE]
        for slot in found[-self._most :]:
            self.hold(slot.thought, activation, now)
        return len(found[-self._most :])

    def dump(self) -> tuple[list[Slot], list[Slot]]:
        """For a snapshot: what is active, and what is latent."""
        return self._slots, self._latent

    def load(self, slots: Sequence[Slot], latent: Sequence[Slot]) -> None:
        """From a snapshot."""
        self._slots, self._latent = list(slots), list(latent)

    def _leave(self, gone: Sequence[Slot]) -> None:
        left = {s.thought.id for s in gone}
        self._slots = [s for s in self._slots if s.thought.id not in left]
        every = [*self._latent, *gone]
        self._latent = every[max(0, len(every) - self._most_latent) :]

    def _active(self, slot: Slot, now: Instant) -> float:
        return float(slot.activation * 0.5 ** (max(0.0, now - slot.at) / self.half_life))
