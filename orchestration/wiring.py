"""From settings to living actors: which there are, and how each core is put together. Both drivers use this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from actors.attention.core import AttentionCore
from actors.attention.pacing import Budget, BudgetPace, RatePace
from actors.attention.settings import AttentionSettings
from actors.chance import Chance
from actors.core import Core
from actors.effects import Note
from actors.environment.core import EnvironmentCore
from actors.metacognition.control import ControlCore
from actors.metacognition.monitoring import MonitoringCore
from actors.names import ATTENTION, CONTROL, ENVIRONMENT, MONITORING, STREAM, THINKING
from actors.perception.core import PerceptualCore
from actors.perception.percept import Interpreter
from actors.perception.telemetry import TelemetryInterpreter
from actors.perception.text import TextInterpreter
from actors.shell import ActorShell, Driver
from actors.stream.core import StreamCore
from actors.submind.binding import Goal
from actors.submind.budget import Allowance
from actors.submind.core import SubmindCore
from actors.submind.peers import Directory, Peer
from actors.submind.routing import LEARNED, Routing
from actors.submind.voice import Voice
from actors.substrate.ports import Embedder
from actors.thinking.core import ThinkingCore
from environment.messages import Modality, StreamEntry
from environment.population import Member
from environment.ports import Progress, Stores
from environment.subliminal import SubliminalEnvironment
from orchestration.settings import Settings, SubmindRole


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


def plan(settings: Settings, members: Iterable[Member] = ()) -> tuple[ActorPlan, ...]:
    """Every actor of a mind: the singletons, its configured subminds, those of its members that live."""
    singletons = tuple(ActorPlan(name, name) for name in (ENVIRONMENT, STREAM, ATTENTION, THINKING))
    configured = tuple(ActorPlan(s.name, s.role.value, s.goals) for s in settings.mind.everyone())
    return singletons + configured + tuple(plan_of(member) for member in members if member.living)


_ALOOF = frozenset({ENVIRONMENT, STREAM, THINKING, SubmindRole.METACOGNITIVE.value})
"""Those whose work it is not to know who else there is."""


def plan_of(member: Member) -> ActorPlan:
    """A submind that was born in the mind."""
    return ActorPlan(member.name, member.role, member.goals)


def peer_of(member: Member) -> Peer:
    """The same as the directory lists it."""
    return Peer(member.name, member.role, " ".join(member.goals), member.about, member.parent)


async def build_directory(settings: Settings, embedder: Embedder, members: Iterable[Member] = ()) -> Directory:
    """The peers that every core of a process shares. Raises ``SubstrateUnavailable``."""
    subminds = list(settings.mind.everyone())
    named = {submind.name for submind in subminds}
    living = [peer_of(member) for member in members if member.living and member.name not in named]
    vectors = await embedder.embed([s.goal for s in subminds])
    configured = [Peer(s.name, s.role.value, s.goal, v) for s, v in zip(subminds, vectors, strict=True)]
    strange = [peer for peer in living if len(peer.vector) != embedder.dim]  # born under another embedder
    if strange:
        again = await embedder.embed([peer.goal for peer in strange])
        configured += [replace(peer, vector=v) for peer, v in zip(strange, again, strict=True)]
    return Directory([*configured, *(peer for peer in living if len(peer.vector) == embedder.dim)])


async def in_common(settings: Settings, stores: Stores, embedder: Embedder) -> Mapping[str, Any]:
    """What the shells of one process share: arguments of ``build_shell``. Raises as that does."""
    return {"directory": await build_directory(settings, embedder, await stores.registry.members())}


async def build_shell(
    actor: ActorPlan,
    settings: Settings,
    stores: Stores,
    driver: Driver,
    embedder: Embedder,
    *,
    fence: int = 0,
    seed: int = 0,
    budget: Budget | None = None,
    directory: Directory | None = None,
    routing: Routing = LEARNED,
) -> ActorShell:
    """An actor ready to ``start``. What its core needs of the stores is read here: live traces, the stream's tail.

    ``routing`` chooses whom its thoughts are sent to. ``directory`` is shared with the other actors of the process;
    without it the actor has one of its own.
    Raises ``StoreUnavailable``; may then be called again.
    """
    if directory is None and actor.role not in _ALOOF:
        directory = await build_directory(settings, embedder, await stores.registry.members())
    core = await _core(actor, settings, stores, driver, embedder, seed, budget, directory or Directory(), routing)
    return ActorShell(core, stores, driver, settings.shell, embedder=embedder, fence=fence)


async def _core(
    actor: ActorPlan,
    settings: Settings,
    stores: Stores,
    driver: Driver,
    embedder: Embedder,
    seed: int,
    budget: Budget | None,
    directory: Directory,
    routing: Routing,
) -> Core:
    dim = embedder.dim
    match actor.role:
        case "environment":
            from environment.index.shard import Shard  # noqa: PLC0415 - faiss only where the index lives

            shard = Shard(dim, settings.environment.flat_limit)
            environment = SubliminalEnvironment(settings.environment, shard)
            async for traces in stores.traces.live(progress=_telling(driver, actor.name)):
                environment.load(traces)
            return EnvironmentCore(actor.name, environment, settings.environment, Chance(seed, actor.name))
        case "stream":
            return StreamCore(actor.name, dim, await _tail(stores, settings.stream.remembered), settings.stream)
        case "attention":
            pace = BudgetPace(budget) if budget else _rate(settings)
            ceiling = None if budget else _ceiling(settings.attention)
            goals = list(await embedder.embed(settings.mind.goals)) if settings.mind.goals else []
            return AttentionCore(actor.name, dim, pace, ceiling, directory, goals, settings.attention)
        case "thinking":
            return ThinkingCore(actor.name, settings.perception.interlocutors, settings.thinking)
    return await _submind(actor, settings, embedder, seed, directory, routing)


def _telling(driver: Driver, actor: str) -> Progress:
    """Tells how far the live traces have been read, after every tenth of them."""
    told = 0

    def progress(read: int, total: int) -> None:
        nonlocal told
        tenths = 10 * read // max(total, 1)
        if tenths > told:
            told = tenths
            driver.note(actor, Note("live_traces_read", "info", {"read": read, "of": total}))

    return progress


async def _submind(
    actor: ActorPlan, settings: Settings, embedder: Embedder, seed: int, directory: Directory, routing: Routing
) -> Core:
    dim = embedder.dim
    if actor.name == MONITORING:
        return MonitoringCore(actor.name, actor.goal, dim, settings.metacognition)
    if actor.name == CONTROL:
        return ControlCore(actor.name, actor.goal, settings.metacognition)
    topics, connections = settings.submind.topics, settings.submind.connections
    voice = Voice(actor.name, dim, topics, connections, directory, Chance(seed, f"{actor.name}/voice"), routing)
    if actor.role == SubmindRole.PERCEPTUAL.value:
        modality = Modality(actor.name)
        interpreter = _interpreter(modality, dim, settings)
        return PerceptualCore(actor.name, actor.goal, modality, interpreter, voice, settings.perception)
    vectors = await embedder.embed(actor.goals)
    goals = [Goal(text, vector) for text, vector in zip(actor.goals, vectors, strict=True)]
    return SubmindCore(actor.name, goals, voice, settings.submind, Chance(seed, actor.name))


def _interpreter(modality: Modality, dim: int, settings: Settings) -> Interpreter:
    match modality:
        case Modality.TEXT:
            return TextInterpreter(dim, settings.perception)
        case Modality.TELEMETRY:
            return TelemetryInterpreter(dim, settings.perception)
        case Modality.IMAGE:
            from actors.perception.image import ImageInterpreter  # noqa: PLC0415  # Pillow only where images are seen

            return ImageInterpreter(dim, settings.perception)


def _ceiling(attention: AttentionSettings) -> Allowance:
    return Allowance(attention.ceiling_per_hour, attention.ceiling_burst)


def _rate(settings: Settings) -> RatePace:
    attention = settings.attention
    return RatePace(attention.per_hour, attention.horizon, attention.memory)


async def _tail(stores: Stores, length: int) -> list[StreamEntry]:
    """The last entries of the stream."""
    head = await stores.stream.head()
    return await stores.stream.read(max(1, head - length + 1), length)
