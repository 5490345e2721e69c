"""The front process: gateway and feed of a mind that another process runs."""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from time import monotonic

import structlog

from orchestration.access.opening import access_of
from orchestration.clock import clock_of, wall
from orchestration.feed.server import FeedServer
from orchestration.front.asking import AskedStatus, FrontGrowth, FrontView, forwarded, relayed
from orchestration.front.errors import CannotServe
from orchestration.front.leaders import Leaders, is_same
from orchestration.front.probes import PATHS, front_probes
from orchestration.front.quotas import LeaderQuotas
from orchestration.front.relay import RelayedLog
from orchestration.front.upstream import Upstream
from orchestration.gateway.auth import require_guard, split_listen
from orchestration.gateway.intake import Intake
from orchestration.gateway.server import GatewayServer
from orchestration.gateway.services import all_handlers
from orchestration.host.serving_process import ServingProcess
from orchestration.membership.backends import coordination_of
from orchestration.settings import Settings
from orchestration.tasks import running
from orchestration.view.tail import StreamTail

_log = structlog.get_logger(__name__)
NONE = "none"
"""An address that is not listened on."""
_NOWHERE = Path("/nonexistent")
"""The data directory of who keeps nothing."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a front listens; empty where it does not."""

    grpc: str = ""
    """``HOST:PORT``."""
    http: str = ""
    """Where a browser finds the page."""
    probes: str = ""
    """What ``/healthz`` and its like are under."""


def check(settings: Settings) -> None:
    """Raise ``CannotServe`` where settings ask for what no front can be."""
    front = settings.front
    if not settings.store.address.startswith("cassandra://"):
        raise CannotServe(
            "a front reads the mind from a store that it shares with the mind's host: give --store cassandra://HOST/KEYSPACE"
            "?dc=NAME; a mind in files (SQLite) has one host, and `submind run` serves everything there"
        )
    coordinated = (settings.coordination.address or "").startswith("etcd://")
    if not coordinated and not front.leader:
        raise CannotServe(
            "nobody says who leads: give --coordination etcd://HOST:PORT, or --leader HOST:PORT of the mind's host"
        )
    if front.leader:
        split_listen(front.leader)
        if front.grpc and is_same(front.leader, settings.gateway.listen):
            raise CannotServe(
                f"{front.leader} is where this front listens itself: give another --grpc, or the --leader of the mind"
            )
    if not front.grpc and not front.http:
        raise CannotServe("there is nothing to serve: of --grpc and --http one at most is none")
    clock = settings.mind.clock
    if clock.start is not None and clock.origin is None:
        raise CannotServe(
            "mind.clock.start without mind.clock.origin: only the host knows when that began; give both one origin"
        )


def listened(settings: Settings) -> list[str]:
    """Every address that a front with these settings listens on."""
    front = settings.front
    wanted = (
        (settings.gateway.listen, front.grpc),
        (settings.feed.listen, front.http),
        (front.probes, front.probes != NONE),
    )
    return [listen for listen, on in wanted if on]


class Front(ServingProcess):
    """Serves a mind that another process runs: ``start`` once, ``stop`` once.

    Guarantees: it keeps nothing that another front, or the next process in its place, would need; what it acknowledged
    is durable at the leader; it never stands for leadership. ``start`` raises ``UnsafeListen``, ``BadCredentials``,
    ``CannotListen``, ``StoreUnavailable``, ``WrongSchema`` or a ``CoordinationError``, and then leaves nothing running.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises ``CannotServe``."""
        check(settings)
        super().__init__(settings)
        self.addresses = Addresses()
        """Known after ``start``."""
        self._gateway: GatewayServer | None = None
        self._feeds: list[FeedServer] = []

    async def _start(self) -> None:
        settings, front, gateway = self.settings, self.settings.front, self.settings.gateway
        access = self._access = access_of(settings)
        for listen in listened(settings):
            require_guard(listen, guarded=access.required)
        await self._owned.enter_async_context(running(access.keep(), "access"))
        leaders = Leaders(front.leader)
        upstream = Upstream(leaders, front, message_bytes=gateway.message_bytes, token_file=gateway.token_file)
        self._owned.push_async_callback(upstream.close)
        access.quotas = LeaderQuotas(settings.access.quotas, monotonic, upstream)
        stores = await self._open_stores(_NOWHERE, "front")
        access.share(stores)
        await self._follow(leaders)
        accepted = self._begin_tracing("front", relays=True)
        self._log = RelayedLog(
            leaders,
            upstream,
            front,
            message_bytes=gateway.message_bytes,
            per_second=gateway.intake.per_second,
            token=lambda: secrets.token_urlsafe(12),
            chance=SystemRandom(),
            recorded=accepted is not None,
        )
        await self._owned.enter_async_context(running(self._log.run(), "relay"))
        self._intake = Intake(self._log, gateway.intake, wall, accepted=accepted)
        self._owned.push_async_callback(self._intake.close)
        tail = StreamTail(stores.stream, settings.view.tail)
        self._owned.push_async_callback(tail.close)
        asked = AskedStatus(upstream, front)
        clock = clock_of(settings.mind.clock, wall())
        view = self._view(FrontView, stores, clock, self._intake, limit_hits=self._hits)
        view.watch_over(asked, self._hits)
        await self._owned.enter_async_context(running(view.keep(), "episodes"))
        configured = {submind.name: submind.role for submind in settings.mind.everyone()}
        desk = FrontGrowth(stores, settings.growth, configured, wall, runs=lambda: asked.runs)
        handlers = {
            **relayed(upstream, all_handlers(view, tail, desk)),
            **forwarded(upstream, "submind.v1.NodeService"),
            **forwarded(upstream, "submind.v1.ForgettingService"),
        }
        self._owned.push_async_callback(self._stop_serving)
        grpc = ""
        age = front.connection_age
        if front.grpc:
            self._gateway = GatewayServer(self._intake, handlers, gateway, access, age=age)
            grpc = leaders.own = await self._listen(self._gateway)
        probing = front_probes(lambda: self._log.why)
        app = self._app(view, self._intake, handlers, access, probing=probing, age=age)
        http = probes = ""
        if front.http:
            http = await self._serve(FeedServer(app, settings.feed))
        if front.probes != NONE:
            apart = settings.feed.model_copy(update={"listen": front.probes})
            probes = await self._serve(FeedServer(app, apart, PATHS))
        self.addresses = Addresses(grpc, http, probes)

    async def _follow(self, leaders: Leaders) -> None:
        """Learn who leads, unless that was configured."""
        settings = self.settings
        if settings.front.leader:
            return
        coordination = await self._owned.enter_async_context(coordination_of(settings))
        await self._owned.enter_async_context(running(leaders.follow(coordination.leaders()), "leaders"))

    async def _serve(self, server: FeedServer) -> str:
        await server.start()
        self._feeds.append(server)
        return server.url

    async def _stop_serving(self) -> None:
        """Tell callers and readers that this ends, and let what is under way end; probes are answered longest."""
        stops = [server.stop for server in self._feeds]
        if self._gateway is not None:
            stops.insert(0, self._gateway.stop)
        if not stops:
            return
        *first, last = stops
        await asyncio.gather(*(stop() for stop in first))
        await last()

    def _hits(self) -> Mapping[str, float]:
        if self._gateway is not None:
            return self._gateway.limit_hits()
        return self._intake.limit_hits()

    def _figures(self) -> Mapping[str, float]:
        own = self._gateway.figures() if self._gateway is not None else {}
        spans = self._recorder.figures() if self._recorder is not None else {}
        return {**own, **self._access.figures(), **self._log.figures(), **spans}
