"""What can happen to a core when a mind grows or shrinks: neurogenesis and apoptosis, as events."""

from dataclasses import dataclass

from actors.handover import HandoverState
from actors.peers import Peer
from environment.messages import Instant


@dataclass(frozen=True, slots=True)
class Pressure:
    """The shell tells its core how full the mailbox was since it last did."""

    use: float
    """Mean share of the mailbox's room for thoughts that was taken, 0..1, weighted by time."""
    dropped: int
    """Thoughts that had to go meanwhile."""


@dataclass(frozen=True, slots=True)
class Divided:
    """A division was granted and the child lives: its parent lets go of these topics. Told until ``Settled(child)``."""

    growth: str
    """The proposal."""
    child: str
    topics: tuple[str, ...]
    """The parent's keys of what the child has."""
    share: float
    """What the parent keeps of a configured submind's budget, 0..1."""
    as_of: int = 0
    """The last decision on growth that ``share`` follows from: what is told late must not undo what was told since."""
    goals: tuple[str, ...] = ()
    """The child's objectives. The parent may not remember what it proposed: it may have died since."""


@dataclass(frozen=True, slots=True)
class GrowthRefused:
    """A proposal to divide or to end was not granted."""

    growth: str
    reason: str
    retry_at: Instant
    """Not before this time is it worth proposing again."""


@dataclass(frozen=True, slots=True)
class Permitted:
    """An operator has approved what was proposed: propose it again at once, if it is still wanted."""

    end: bool
    """Whether it was to end; else it was to divide."""


@dataclass(frozen=True, slots=True)
class Born:
    """A submind was born: it can be spoken to and broadcast to. May be told again."""

    peer: Peer


@dataclass(frozen=True, slots=True)
class Gone:
    """A submind has ended; who was connected to it is connected to its heir. May be told again.

    To the one that ends it is the last event: it hands on what came to it since it proposed to.
    """

    name: str
    heir: str


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a submind left that has ended, for its heir. Told until ``Settled(name)``."""

    name: str
    """Who ended."""
    handover: HandoverState
    share: float
    """What the heir now has of a configured submind's budget."""
    as_of: int = 0
    """As in ``Divided``."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What you sent along this topic is another's now: a division gave it away. The message was passed on."""

    topic: str
    """The sender's key, as sent."""
    peer: str
    """Who had it."""
    to: str
    """Who has it."""
