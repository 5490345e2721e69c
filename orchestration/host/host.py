"""The host process: everything of a mind that people meet, and the supervisor of the rest."""

import asyncio
import socket
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import structlog

from actors.substrate.settings import SubstrateSettings
from environment.ports import Stores
from orchestration.access.opening import access_of
from orchestration.clock import Clock, wall
from orchestration.faculties import perceives
from orchestration.forgetting import ForgetRun, forget_every
from orchestration.gateway.auth import require_guard, split_listen
from orchestration.gateway.erasure import ForgettingService
from orchestration.gateway.intake import Intake
from orchestration.gateway.marking import MarkDesk
from orchestration.gateway.server import GatewayServer
from orchestration.gateway.services import all_handlers
from orchestration.growth.admin import GrowthAdmin
from orchestration.host.appenders import HostAppender, PerceptionQuota
from orchestration.host.clock_file import clock_in
from orchestration.host.directories import DataLock
from orchestration.host.errors import LogCutShort
from orchestration.host.forgetter import Forgetter
from orchestration.host.leadership import ALONE, Leadership
from orchestration.host.live_configuration import LiveConfigurationFollower
from orchestration.host.retention import forget_once
from orchestration.host.serving_process import ServingProcess
from orchestration.host.supervisor import MindSupervisor
from orchestration.membership.backends import coordination_of
from orchestration.membership.ports import Coordination
from orchestration.placement.errors import PlacementError
from orchestration.settings import Settings
from orchestration.store_factory import embedded_in, index_file, log_file, settled
from orchestration.telemetry import names
from orchestration.view.mind import MindView
from orchestration.view.status import MindState
from orchestration.view.tail import StreamTail

if TYPE_CHECKING:
    from orchestration.feed.server import FeedServer

_log = structlog.get_logger(__name__)
_POKE = 2.0
"""Seconds that the mind process may take to look at what an operator ordered."""
_STAND_BY = 2.0
"""Seconds between two looks at who leads; what a host that stands by asks its callers to wait."""


@dataclass(frozen=True, slots=True)
class HostAddresses:
    """Where a host listens, with the ports that it got where 0 was asked for."""

    grpc: str
    """``HOST:PORT``."""
    http: str
    """Where a browser finds the page."""


class Host(ServingProcess):
    """Runs the mind in ``data_dir``: ``start`` once, ``stop`` once.

    Guarantees: perceptions are acknowledged from the end of ``start`` to the beginning of ``stop``, whether the mind
    below is up or not. ``start`` raises ``AlreadyRunning``, ``UnsafeListen``, ``BadCredentials``, ``CannotListen``,
    ``StoreBroken``, ``LogCutShort``, ``WrongSchema`` or ``OSError`` and then leaves nothing running.
    """

    def __init__(self, settings: Settings, data_dir: Path, *, wiring: str = "orchestration.wiring") -> None:
        super().__init__(settled(settings))
        self.data_dir = data_dir.resolve()
        self._wiring = wiring
        self.leadership: Leadership
        self._feed: FeedServer | None = None
        self.addresses = HostAddresses("", "")
        """Known after ``start``."""

    async def _start(self) -> None:
        settings = self.settings
        self.access = access_of(settings, self.data_dir)
        for listen in (settings.gateway.listen, settings.feed.listen):
            require_guard(listen, guarded=self.access.required)
        if settings.substrate.embedder.kind == "onnx":  # what its actors could only die of is said at once
            from actors.substrate.build import build_embedder  # noqa: PLC0415 - half a second

            await asyncio.to_thread(build_embedder, settings.substrate)
        self._owned.enter_context(DataLock(self.data_dir))
        embedded = embedded_in(settings, self.data_dir)
        if embedded is not None and embedded != self.data_dir:
            self._owned.enter_context(DataLock(embedded))
        stores = await self._open_stores(self.data_dir, "host", apart=True)
        self.access.share(stores)
        if embedded is not None:
            await check_log_reaches_cursors(stores, _readers(settings), str(embedded))
        coordination = await self._owned.enter_async_context(coordination_of(settings))
        if embedded is not None and coordination.address != ALONE:
            _log.warning("embedded_and_coordinated", fix="where several hosts take turns, give them one --store")
        clock = clock_in(self.data_dir, settings.mind.clock, wall())
        self.supervisor = MindSupervisor(settings, self.data_dir, clock, wall, self._wiring)
        self.tail = StreamTail(stores.stream, settings.view.tail)
        self._owned.push_async_callback(self.tail.close)
        self._quota = PerceptionQuota(settings.gateway.intake, monotonic)
        # An embedded log's own file is watched.
        told = log_file(settings, self.data_dir) if embedded is None else None
        appender = HostAppender(stores.perceptions, _STAND_BY, self._quota, told)
        self._owned.callback(appender.release)
        intake = Intake(appender, settings.gateway.intake, wall, accepted=self._begin_tracing("host"))
        self.view = self._view(
            MindView,
            stores,
            clock,
            intake,
            process=lambda: self.supervisor.state() if self.leadership.leads.is_set() else None,
            acknowledged=lambda: int(intake.figures()["perceptions_acknowledged_total"]),
            limit_hits=self._limit_hits,
            substrate=_described(settings.substrate),
            index=index_file(settings, self.data_dir),
        )
        for name, keep in (("access", self.access.keep), ("episodes", self.view.keep)):
            self._owned.callback(asyncio.create_task(keep(), name=name).cancel)
        self._forgetter = Forgetter(
            ForgetRun(stores, self.data_dir, settings.mind.name, wall), self.supervisor, self._reread
        )
        self._handlers = all_handlers(
            self.view,
            self.tail,
            self._growth_desk(stores),
            NodeAdmin(self.supervisor),
            MarkDesk(self.view, lambda: self._poke("marks")),
            ForgettingService(stores, wall, self._forgetter.look),
        )
        self._gateway = GatewayServer(intake, self._handlers, settings.gateway, self.access)
        grpc = await self._listen(self._gateway)
        self._owned.push_async_callback(self.supervisor.stop)
        self.working = LiveConfigurationFollower(
            settings, coordination.configuration, self.supervisor, stores, self._audit_change
        )
        following = asyncio.create_task(self.working.follow(), name="configuration")
        self._owned.callback(following.cancel)
        self.leadership = self._stand(coordination, stores, appender, _advertised(settings, grpc), clock)
        self._owned.push_async_callback(self.leadership.stop)
        self.leadership.start()
        self._owned.push_async_callback(self._stop_serving)
        self.addresses = HostAddresses(grpc, await self._start_feed(intake))
        self.supervisor.report.addresses = {"grpc": grpc, "http": self.addresses.http}
        self.supervisor.report.write()
        if coordination.address == ALONE:  # there is nobody to wait for
            with suppress(TimeoutError):
                async with asyncio.timeout(settings.host.start_within):
                    await self.leadership.leads.wait()

    def _stand(
        self, coordination: Coordination, stores: Stores, appender: HostAppender, candidate: str, clock: Clock
    ) -> Leadership:
        """What this host does once it leads, and how it comes to."""
        settings = self.settings
        readers, keep = _readers(settings), settings.host.retention
        duties = [
            lambda: forget_every(keep.every, lambda: forget_once(stores, readers, keep, wall(), clock.now()), "old"),
            lambda: self.working.record(wall),
            self._forgetter.run,
        ]
        return Leadership(
            coordination,
            candidate,
            stores,
            appender,
            self.supervisor,
            duties,
            embedded=embedded_in(settings, self.data_dir) is not None,
            look_every=_STAND_BY,
        )

    def kill(self) -> None:
        """End everything below this process now; nothing is saved beyond what was."""
        self.supervisor.kill()

    async def _start_feed(self, intake: Intake) -> str:
        """Listen for HTTP; where a browser finds the page."""
        app = self._app(self.view, intake, self._handlers, self.access)
        from orchestration.feed.server import FeedServer  # noqa: PLC0415 - as the application itself

        self._feed = FeedServer(app, self.settings.feed)
        await self._feed.start()
        return self._feed.url

    def _audit_change(self, by: str, version: int, changed: Sequence[str]) -> None:
        self.access.audit.record("configure", by, "done", target=", ".join(changed), version=version)

    def _growth_desk(self, stores: Stores) -> GrowthAdmin:
        """Where operators order growth, whether the mind below is up or not."""
        configured = {submind.name: submind.role for submind in self.settings.mind.everyone()}

        def runs() -> bool:
            return self.supervisor.report.state == MindState.RUNNING.value

        return GrowthAdmin(stores, self.settings.growth, configured, wall, runs=runs, told=lambda: self._poke("growth"))

    def _reread(self) -> None:
        """What readers are told from memory was changed in the store."""
        for tail in (self.tail, self.view.matter_tail, self.view.change_tail):
            tail.reread()

    async def _poke(self, what: str) -> None:
        """Have the mind process look at once at what is in the store, which it would look at in any case."""
        with suppress(PlacementError, TimeoutError):
            async with asyncio.timeout(_POKE):
                await self.supervisor.ask({"do": what})

    async def _stop_serving(self) -> None:
        """Tell readers and callers that this ends, and let what is under way end."""
        feed = [self._feed.stop()] if self._feed is not None else []
        await asyncio.gather(self._gateway.stop(), *feed)

    def _limit_hits(self) -> Mapping[str, float]:
        return {**self._gateway.limit_hits(), "gateway.intake.per_second": float(self._quota.refusals)}

    def _figures(self) -> Mapping[str, float]:
        report = self.supervisor.report
        quarantined = sum(1 for actor in report.actors.values() if actor["quarantined"])
        return {
            **self._gateway.figures(),
            **self.access.figures(),
            **(self._recorder.figures() if self._recorder is not None else {}),
            "mind_restarts_total": float(report.restarts),
            "actors_quarantined": float(quarantined),
            "subminds_unschedulable": float(len(report.unschedulable)),
            "actors_outlived_total": float(self.supervisor.outlived),
            "mind_up": float(report.state == "running"),
            **dict.fromkeys(("growth_granted_total", "growth_waiting_total", "growth_refused_total"), 0.0),
            **{name: value for name, value in self.supervisor.growth.items() if names.limit_of(name) is None},
            **{names.limit_hit(name): hits for name, hits in self._limit_hits().items()},
            **self.leadership.figures,
            "mind_leads": float(self.leadership.leads.is_set()),
            "mind_terms_total": float(self.leadership.terms),
        }


def _described(substrate: SubstrateSettings) -> dict[str, float | str]:
    """What a status says of what the mind thinks with."""
    told: dict[str, float | str] = {"kind": substrate.kind, "embedder": substrate.embedder.kind}
    if substrate.kind == "openai":
        told |= {"fast": substrate.fast.name, "deep": substrate.deep.name or substrate.fast.name}
    return told


def _readers(settings: Settings) -> list[str]:
    """Who reads the perception log, by name."""
    return [submind.name for submind in settings.mind.subminds if perceives(submind.role)]


def _advertised(settings: Settings, grpc: str) -> str:
    """Where others reach this host."""
    if settings.host.advertise:
        return settings.host.advertise
    host, port = split_listen(grpc)
    return f"{socket.getfqdn()}:{port}" if host in {"0.0.0.0", "::"} else grpc  # noqa: S104 - recognised, not bound


async def check_log_reaches_cursors(stores: Stores, readers: Collection[str], place: str) -> None:
    """Raise ``LogCutShort`` where one of ``readers`` has read further than there are perceptions.

    Numbers would be given again: what came under them would be taken for read, and cited for what was there before.
    """
    head = await stores.perceptions.head()
    cursors = {report.name: report.metrics.get("cursor", 0.0) for report in await stores.registry.reports()}
    read = int(max((cursors.get(reader, 0.0) for reader in readers), default=0.0))
    if read > head:
        raise LogCutShort(place, read, head)


class NodeAdmin:
    """Reads what the mind process told last, and has it do things. Raises ``PlacementError`` with why it does not."""

    def __init__(self, supervisor: MindSupervisor) -> None:
        self._supervisor = supervisor

    async def listed(self) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, str]]:
        """The nodes, as ``Placement.described`` has them; actors without a place, and why."""
        report = self._supervisor.report
        return tuple(report.nodes), dict(report.unschedulable)

    async def drain(self, node: str, *, undo: bool) -> None:
        """Have a node give up its actors, or take them again."""
        await self._supervisor.ask({"do": "drain", "node": node, "undo": undo})

    async def restart(self, name: str) -> Sequence[str]:
        """Have a submind live on in a new process; returns when it does, with all who share the process."""
        answer = await self._supervisor.ask({"do": "restart", "name": name})
        return [str(renewed) for renewed in answer["renewed"]]
