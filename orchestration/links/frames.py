"""What processes of one mind write to each other; ``codec.py`` says how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from actors.events import Configured, Event
from orchestration.links.addresses import Endpoint

Letter: TypeAlias = tuple[Event, float]
"""An event with its priority."""
Parcel: TypeAlias = tuple[str, Sequence[Letter]]
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
    parcels: Sequence[Parcel]

    def __len__(self) -> int:
        return sum(len(letters) for _, letters in self.parcels)


@dataclass(frozen=True, slots=True)
class Received:
    """All events of a link up to this number were handed over, so as many more may be on their way."""

    through: int


@dataclass(frozen=True, slots=True)
class Full:
    """Who of those that live here has no room for more now, each time that changes."""

    names: tuple[str, ...]
    """Who has none since."""
    relieved: tuple[str, ...] = ()
    """Who has room again."""
    whole: bool = False
    """These are all: who is not among them has room."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks an actor how it is; answered by ``Pong``."""

    to: str


@dataclass(frozen=True, slots=True)
class Pong:
    """How an actor is."""

    name: str
    health: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Stop:
    """Asks an actor to finish what it began, save and end."""

    to: str


@dataclass(frozen=True, slots=True)
class Configure:
    """Tells an actor that settings were changed."""

    to: str
    event: Configured


@dataclass(frozen=True, slots=True)
class Housed:
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


@dataclass(frozen=True, slots=True)
class Listing:
    """The directory tells a process who is found where."""

    entries: Mapping[str, Endpoint | None]
    """What changed; None for who is nowhere now."""
    whole: bool
    """These are all there are: who is not among them is nowhere."""


@dataclass(frozen=True, slots=True)
class Roster:
    """The mind process tells a pack who lives in it, against those it began its life with."""

    version: int
    """The latest counts. Told in the health of the pack, as ``roster``, once it is so."""
    came: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Name, role and goals of who does as well."""
    gone: tuple[str, ...]
    """Who is to save and end."""


Frame: TypeAlias = Batch | Received | Full | Ping | Pong | Stop | Configure | Housed | Listing | Roster
