"""What processes of one mind write to each other; ``codec.py`` says how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from actors.events import Event
from orchestration.links.addresses import Endpoint
from orchestration.settings import SettingsUpdate

Envelope: TypeAlias = tuple[Event, float]
"""An event with its priority."""
Delivery: TypeAlias = tuple[str, Sequence[Envelope]]
"""The name of an actor, and events for it in the order in which they were sent."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of one process for actors in another. Answered by ``Received``."""

    process: str
    """Whose they are."""
    life: str
    """Which link of the process this is: numbers begin anew with each."""
    first: int
    """Number of the first event, counted per link from 1."""
    deliveries: Sequence[Delivery]

    def __len__(self) -> int:
        return sum(len(envelopes) for _, envelopes in self.deliveries)


class _Frame(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A frame that is written as it is."""


class Received(_Frame, frozen=True):
    """All events of a link up to this number were handed over, so as many more may be on their way."""

    through: int


class Full(_Frame, frozen=True):
    """Who of those that live here has no room for more now, each time that changes."""

    names: tuple[str, ...]
    """Who has none since."""
    relieved: tuple[str, ...] = ()
    """Who has room again."""
    whole: bool = False
    """These are all: who is not among them has room."""


class Ping(_Frame, frozen=True):
    """Asks an actor how it is; answered by ``Pong``."""

    to: str


class Pong(_Frame, frozen=True):
    """How an actor is."""

    name: str
    health: Mapping[str, float]


class Stop(_Frame, frozen=True):
    """Asks an actor to finish what it began, save and end."""

    to: str


class Configure(_Frame, frozen=True):
    """Tells an actor that settings were changed."""

    to: str
    event: SettingsUpdate


class Hosting(_Frame, frozen=True):
    """A process tells the directory where it is and who lives in it, each time that changes."""

    endpoint: Endpoint
    names: tuple[str, ...]
    """Who does since."""
    gone: tuple[str, ...] = ()
    """Who does no more."""
    whole: bool = False
    """These are all: who is not among them does not live there."""
    number: int = 0
    """Which of the run's lives of processes this is; 0 where nobody counts them."""


class Listing(_Frame, frozen=True):
    """The directory tells a process who is found where."""

    entries: Mapping[str, Endpoint | None]
    """What changed; None for who is nowhere now."""
    whole: bool
    """These are all there are: who is not among them is nowhere."""


class Roster(_Frame, frozen=True):
    """The mind process tells a pack who lives in it, against those it began its life with."""

    to: str
    """The process."""
    version: int
    """The latest counts. Told in the health of the pack, as ``roster``, once it is so."""
    came: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Name, role and goals of who does as well."""
    gone: tuple[str, ...]
    """Who is to save and end."""


Order: TypeAlias = Stop | Configure | Roster
"""What the mind process tells an actor to do, past its mailbox."""
Plain: TypeAlias = Received | Full | Ping | Pong | Order | Hosting | Listing
Frame: TypeAlias = Batch | Plain
