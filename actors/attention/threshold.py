"""How high a winner must stand, as far as metacognition moved it, and how widely what was said is inhibited."""

import math

from actors.events import Proposal

_STEP = 1.25
"""What one accepted proposal changes."""


class Threshold:
    """Moves in whole steps, so that what is taken back is taken back exactly, and at most by the factor ``bend``."""

    def __init__(self, bend: float) -> None:
        self.bend = bend
        self._height = self._breadth = 0

    def consider(self, proposal: Proposal) -> None:
        """Metacognition proposes; how far it may go is decided here."""
        match proposal:
            case Proposal.RAISE_THRESHOLD:
                self._height = self._step(self._height + 1)
            case Proposal.LOWER_THRESHOLD:
                self._height = self._step(self._height - 1)
            case Proposal.WIDEN_INHIBITION:
                self._breadth = self._step(self._breadth + 1)
            case Proposal.NARROW_INHIBITION:
                self._breadth = self._step(self._breadth - 1)

    def _step(self, steps: int) -> int:
        most = int(math.log(self.bend) / math.log(_STEP) + 1e-9)
        return max(-most, min(most, steps))

    @property
    def share(self) -> float:
        """By what the share of winners that pass is multiplied."""
        return float(_STEP**-self._height)

    @property
    def breadth(self) -> float:
        """By what inhibition is multiplied."""
        return float(_STEP**self._breadth)

    def dump(self) -> tuple[int, int]:
        """For a snapshot."""
        return self._height, self._breadth

    def load(self, steps: tuple[int, int]) -> None:
        """From a snapshot."""
        self._height, self._breadth = map(self._step, steps)
