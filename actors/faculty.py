"""What a faculty of the mind says of itself, once; who builds, configures, restarts, counts and shows it reads this."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from actors.core import Core
from actors.effects import Note
from actors.events import Configured, Embedded, Event, Generated, Perceived, Seen, Started, Tick
from actors.peers import PeerDirectory
from actors.substrate.ports import Embedder
from environment.config import Section
from environment.ports import Stores

S = TypeVar("S", bound=Section)

SHELL_EVENTS: frozenset[type] = frozenset({Configured, Embedded, Generated, Perceived, Seen, Started, Tick})
"""What the shell around a core tells it by itself: every faculty takes these in."""


@dataclass(frozen=True, slots=True)
class BuildContext:
    """What a core may be built from."""

    name: str
    goals: tuple[str, ...]
    """Of the actor."""
    mind_goals: tuple[str, ...]
    sections: tuple[Section, ...] = field(repr=False)
    """The faculty's own."""
    embedder: Embedder = field(repr=False)
    stores: Stores = field(repr=False)
    note: Callable[[Note], None] = field(repr=False)
    """Writes a log line while the core is built."""
    seed: int
    """Of what the mind leaves to chance."""
    peers: PeerDirectory = field(repr=False)
    """Other subminds; empty unless the faculty ``knows_peers``."""
    takers: Callable[[type], tuple[str, ...]] = field(repr=False)
    """Names of the actors, of those that are one of a kind, that take in events of a type."""
    parts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What a replay or a measurement puts in the place of a part, by that part's name."""

    @property
    def goal(self) -> str:
        """Its goals as one line."""
        return " ".join(self.goals)

    @property
    def dim(self) -> int:
        """Of embeddings."""
        return self.embedder.dim

    def section(self, kind: type[S]) -> S:
        """The section of that type. Raises ``LookupError`` for one that the faculty does not declare."""
        for section in self.sections:
            if isinstance(section, kind):
                return section
        raise LookupError(f"{self.name} declares no {kind.__name__}")


Build: TypeAlias = Callable[[BuildContext], Awaitable[Core]]
"""Makes a core, with what it needs of the stores; its saved state is restored later. May raise ``StoreUnavailable``."""


@dataclass(frozen=True, slots=True)
class Faculty:
    """One kind of actor.

    Its package says so once: a ``Faculty`` in the list of ``orchestration/faculties.py``; where it is installed from
    elsewhere, as an entry point of the group ``submind.faculties``.
    """

    role: str
    """What reports, metrics and the page call it."""
    about: str
    """What it works on, in a phrase."""
    build: Build = field(repr=False)
    sections: Mapping[str, type[Section]] = field(default_factory=dict)
    """Sections of the settings that its cores are built with, and told when they change. One of a package from
    elsewhere is found at ``faculties.NAME``."""
    accepts: frozenset[type] = frozenset()
    """Events that its cores take in, beside those of ``SHELL_EVENTS``: its shell lets no others through."""
    names: tuple[str, ...] = ()
    """What its actors may be called; empty: any name."""
    always: bool = False
    """Whether every mind has one, by the name of its role. Else a mind has those that ``mind.subminds`` lists."""
    many: bool = False
    """Whether there may be any number: they are shown as one where they are counted."""
    knows_peers: bool = False
    """Whether its cores are told who else there is."""
    perceives: bool = False
    """Whether it reads the perception log."""
    answers: bool = False
    """Whether it asks the substrate for replies: what was perceived is then kept beside it to be found by its words."""
    essential: bool = False
    """Whether nothing comes to mind without it: it is given more lives before it is given up."""
    numbers: bool = False
    """Whether it is the one writer of traces or entries, whose numbers have no gap."""
    collections: frozenset[str] = frozenset()
    """Collections of documents that are its own: what it keeps there is written together with what it says."""
    events: tuple[type, ...] = ()
    """Types of events that it brings along, of ``actors.events.FacultyEvent``."""
    metrics: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What it counts or measures that others do not, and what that means, for people."""
    from_zero: tuple[str, ...] = ()
    """Counters of it that are shown before their first count."""
    highest: frozenset[str] = frozenset()
    """Gauges of which the highest is shown where several actors are shown as one; others are added up."""
    tunable: Mapping[tuple[str, ...], str] = field(default_factory=dict, repr=False)
    """Settings that may change while it lives, by dotted path, and why they may."""
    place: str = "left"
    """Where the page shows its actors: on the ``left`` or ``right`` of the ring, or below it (``apart``)."""
    rank: int = 100
    """Which come first there."""

    def takes(self, event: type[Event]) -> bool:
        """Whether its cores take in events of a type."""
        return event in self.accepts or event in SHELL_EVENTS
