"""What may go wrong in a simulated mind, drawn from one seed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Faults:
    """Chances of each fault, 0..1; all zero means a perfect world."""

    loss: float = 0.0
    """A message is lost."""
    doubling: float = 0.0
    """A message arrives twice."""
    delay: float = 0.0
    """A message is late, by up to ``late`` seconds: it may overtake and be overtaken."""
    late: float = 20.0
    crash: float = 0.0
    """After handling something, an actor dies and comes back with what it had saved."""
    blackout: float = 0.0
    """After somebody handled something, all actors die at once."""
    unanswered: float = 0.0
    """The substrate never answers."""
    refusal: float = 0.0
    """The store refuses a commit."""
    torn: float = 0.0
    """A refused commit had gone through all the same: its answer was lost."""

    @property
    def any(self) -> bool:
        """True when anything may go wrong."""
        return any((self.loss, self.doubling, self.delay, self.crash, self.blackout, self.unanswered, self.refusal))


NONE = Faults()
ROUGH = Faults(
    loss=0.05, doubling=0.05, delay=0.15, crash=0.004, blackout=0.0005, unanswered=0.1, refusal=0.03, torn=0.3
)
"""A rough day: what the invariants are tested under."""
