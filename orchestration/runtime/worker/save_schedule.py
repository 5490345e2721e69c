"""When the actors of a process save and wake together, and how each of them is."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class SaveSchedule:
    """Moments on the clock of the event loop: ``first``, and every ``every`` seconds after and before it."""

    every: float
    first: float = 0.0
    shared: bool = True
    """Whether several keep it: who is alone has nobody to wait for."""

    def after(self, time: float) -> float:
        """The next moment."""
        return time + self.every - (time - self.first) % self.every

    def due(self, changed: float, saved: float) -> float:
        """When to save what changed since it was last saved: at the next moment; alone at once, once between two."""
        return self.after(changed) if self.shared else max(changed, self.after(saved))

    def within(self, at: float, by: float) -> float:
        """The next moment after ``at``, or ``by`` where that comes before it."""
        return min(self.after(at), by)


class ActorHealth(NamedTuple):
    """How one actor is, by the names of ``HostedActor.health``."""

    born: bool
    mailbox: int
    thinking: int
    store_refusals_in_a_row: int
    configuration: int
