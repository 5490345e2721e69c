"""From settings to living actors: which there are, and how each core is put together. Both drivers use this."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from actors.events import Event, Message, Vitals
from actors.faculty import BuildContext, Faculty
from actors.peers import Peer, PeerDirectory
from actors.shell import ActorShell, Driver
from actors.substrate.ports import Embedder
from environment.config import Section
from environment.population import Member, read_members
from environment.ports import Stores
from orchestration.faculties import faculties, faculty_of
from orchestration.settings import Settings


@dataclass(frozen=True, slots=True)
class ActorPlan:
    """An actor that a mind is to have."""

    name: str
    role: str
    goals: tuple[str, ...] = ()

    @property
    def goal(self) -> str:
        """Its goals as one line."""
        return " ".join(self.goals)

    @property
    def faculty(self) -> Faculty:
        """What is said of its kind. Raises as ``faculty_of``."""
        return faculty_of(self.role, self.name)


def plan(settings: Settings, members: Iterable[Member] = ()) -> tuple[ActorPlan, ...]:
    """Every actor of a mind: those that each has, its configured subminds, those of its members that live."""
    always = tuple(ActorPlan(faculty.role, faculty.role) for faculty in faculties() if faculty.always)
    configured = tuple(ActorPlan(s.name, s.role, s.goals) for s in settings.mind.everyone())
    return always + configured + tuple(plan_of(member) for member in members if member.living)


def plan_of(member: Member) -> ActorPlan:
    """A submind that was born in the mind."""
    return ActorPlan(member.name, member.role, member.goals)


def sections_of(actor: ActorPlan, settings: Settings) -> tuple[Section, ...]:
    """The sections of the settings that its core is built with."""
    names = actor.faculty.sections
    return tuple(getattr(settings if hasattr(settings, name) else settings.faculties, name) for name in names)


def takers(settings: Settings, event: type[Event]) -> tuple[str, ...]:
    """Names of the actors that take in events of a type, of those that are one of a kind."""
    single = (actor for actor in plan(settings) if not actor.faculty.many)
    return tuple(actor.name for actor in single if event in actor.faculty.accepts)


def peer_of(member: Member) -> Peer:
    """A member as its peers know it: whether it listens, its goals, what it is about, and whose child it is."""
    listens = Message in plan_of(member).faculty.accepts
    return Peer(member.name, listens, " ".join(member.goals), member.about, member.parent)


async def build_directory(settings: Settings, embedder: Embedder, members: Iterable[Member] = ()) -> PeerDirectory:
    """The peers that every core of a process shares. Raises ``SubstrateUnavailable``."""
    subminds = list(settings.mind.everyone())
    named = {submind.name for submind in subminds}
    living = [peer_of(member) for member in members if member.living and member.name not in named]
    vectors = await embedder.embed([s.goal for s in subminds])
    configured = [
        Peer(s.name, Message in faculty_of(s.role, s.name).accepts, s.goal, v)
        for s, v in zip(subminds, vectors, strict=True)
    ]
    strange = [peer for peer in living if len(peer.vector) != embedder.dim]  # born under another embedder
    if strange:
        again = await embedder.embed([peer.goal for peer in strange])
        configured += [replace(peer, vector=v) for peer, v in zip(strange, again, strict=True)]
    return PeerDirectory([*configured, *(peer for peer in living if len(peer.vector) == embedder.dim)])


async def in_common(settings: Settings, stores: Stores, embedder: Embedder) -> Mapping[str, Any]:
    """What the shells of one process share: arguments of ``build_shell``. Raises as that does."""
    return {"directory": await build_directory(settings, embedder, await read_members(stores.collections))}


async def build_shell(
    actor: ActorPlan,
    settings: Settings,
    stores: Stores,
    driver: Driver,
    embedder: Embedder,
    *,
    fence: int = 0,
    seed: int = 0,
    directory: PeerDirectory | None = None,
    parts: Mapping[str, Any] | None = None,
) -> ActorShell:
    """An actor ready to ``start``. What its core needs of the stores is read here: live traces, the stream's tail.

    ``directory`` is shared with the other actors of the process; without it the actor has one of its own. ``parts``:
    what stands in the place of a part of its core (``BuildContext``).
    Raises ``StoreUnavailable``; may then be called again.
    """
    faculty = actor.faculty
    if directory is None and faculty.knows_peers:
        directory = await build_directory(settings, embedder, await read_members(stores.collections))
    context = BuildContext(
        name=actor.name,
        goals=actor.goals,
        mind_goals=settings.mind.goals,
        sections=sections_of(actor, settings),
        embedder=embedder,
        stores=stores,
        note=partial(driver.note, actor.name),
        seed=seed,
        peers=directory if directory is not None and faculty.knows_peers else PeerDirectory(),
        takers=partial(takers, settings),
        parts=parts or {},
    )
    core = await faculty.build(context)
    return ActorShell(
        core,
        stores,
        driver,
        settings.shell,
        embedder=embedder,
        fence=fence,
        accepts=faculty.takes,
        monitors=takers(settings, Vitals),
        collections=faculty.collections,
    )
