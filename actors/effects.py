"""What a core may ask for. A core returns effects; the shell performs them, writes before sends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from actors.events import Event
from actors.handover import HandoverState
from actors.substrate.ports import Request
from environment.messages import Instant, Modality
from environment.ports import Write


@dataclass(frozen=True, slots=True)
class Send:
    """Deliver ``event`` to the actor called ``to``: at most once, in no promised order."""

    to: str
    event: Event
    priority: float = 0.5
    """0..1, connection weight times salience: what the receiver's mailbox orders by."""


@dataclass(frozen=True, slots=True)
class Commit:
    """Make durable before anything that this step sends leaves the actor."""

    write: Write


@dataclass(frozen=True, slots=True)
class Generate:
    """Ask the substrate; the answer comes back to the same core as ``Generated`` with the same token."""

    token: str
    request: Request


@dataclass(frozen=True, slots=True)
class Embed:
    """Have texts embedded, in the background; answered by ``Embedded``, or where too much is asked for never."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """Ask for perceptions beyond a cursor; answered by ``Perceived`` once the log holds any. One is pending at most."""

    after: int
    limit: int
    modality: Modality | None
    """None: of every modality, images as they were sent."""


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Deliver a ``Tick`` at this mind time. One is pending at most: the earliest wins."""

    at: Instant
    leeway: float = 0.0
    """Seconds that it may come later, so that those of one process who have no haste can be woken together."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth a log line, with its figures."""

    event: str
    level: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Count:
    """Add to a counter."""

    metric: str
    amount: float = 1.0


@dataclass(frozen=True, slots=True)
class Divide:
    """Propose to give some topics to a child. Answered by ``Divided`` or ``GrowthRefused``; changes nothing by itself.

    Repeated under the same ``growth`` while no answer comes: granted once is granted.
    """

    growth: str
    """This proposal's id: its owner and a number."""
    hint: str
    """A readable word for the child's name, of small letters, digits and hyphens; may be empty."""
    handover: HandoverState
    """What the child would begin with."""
    reason: str = ""
    """The figures that speak for it."""


@dataclass(frozen=True, slots=True)
class Retire:
    """Propose to leave everything to an heir and end. Answered by ``Gone`` under the own name, or ``GrowthRefused``."""

    growth: str
    heir: str
    handover: HandoverState
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """The parent has let go of what ``name`` got, or the heir has taken over what ``name`` left, and that is durable.

    Until then ``Divided`` or ``Inherited`` is told again.
    """

    name: str


Effect: TypeAlias = Send | Commit | Generate | Embed | Read | WakeAt | Note | Count | Divide | Retire | Settled
