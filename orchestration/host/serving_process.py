"""What host and front have in common: stores that are whole, spans, and a start that leaves nothing where it fails."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from environment.addresses import endpoint_label
from environment.stores.copying import mark_of
from orchestration.clock import Clock, wall
from orchestration.embedding import LazyEmbedder, wording
from orchestration.gateway.auth import split_listen
from orchestration.host.errors import StillMoving
from orchestration.settings import Settings
from orchestration.store_factory import address_of, open_mind
from orchestration.telemetry.tracing.intake_spans import IntakeSpans
from orchestration.telemetry.tracing.starting import begin
from orchestration.view.mind import MindView, ViewContext

if TYPE_CHECKING:
    from fastapi import FastAPI

    from environment.ports import Stores
    from environment.stores.movable import Movable
    from orchestration.access.gate import Access
    from orchestration.gateway.intake import Accepted, Intake
    from orchestration.gateway.server import GatewayServer
    from orchestration.gateway.services import Handlers
    from orchestration.telemetry.tracing.spans import Recorder

V = TypeVar("V", bound=MindView)


class ServingProcess(ABC):
    """``start`` once, ``stop`` once; what ``_start`` puts among ``_owned`` goes in the end, or where it fails."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._owned = AsyncExitStack()
        self._recorder: Recorder | None = None

    @abstractmethod
    async def _start(self) -> None:
        """Open everything, and listen."""

    @abstractmethod
    def _figures(self) -> Mapping[str, float]:
        """Counters and gauges of all that it runs, by metric name without prefix."""

    async def start(self) -> None:
        """Open everything, and listen; where that raises nothing is left running."""
        try:
            await self._start()
        except BaseException:
            await self._owned.aclose()
            raise

    async def stop(self) -> None:
        """Say NOT_SERVING, acknowledge what is under way, end streams, and leave nothing. May be called twice."""
        await self._owned.aclose()

    async def _open_stores(self, data_dir: Path, process: str, *, apart: bool = False) -> Movable:
        """The mind's stores. Raises ``StillMoving``."""
        stores = await open_mind(self.settings, data_dir, process, apart=apart)
        self._owned.push_async_callback(stores.close)
        moving = await mark_of(stores)
        if moving is not None and moving.stage:
            raise StillMoving(str(address_of(self.settings, data_dir)).partition("?")[0])
        return stores

    def _begin_tracing(self, process: str, *, relays: bool = False) -> Accepted | None:
        """Whom to tell of what is accepted, or with ``relays`` handed on; None where nothing is traced."""
        self._recorder = begin(self.settings.telemetry.tracing, self.settings.mind.name, process)
        if self._recorder is None:
            return None
        self._owned.push_async_callback(asyncio.to_thread, self._recorder.close)
        return IntakeSpans(self._recorder, relays=relays).accepted

    def _view(self, kind: type[V], stores: Stores, clock: Clock, intake: Intake, **around: Any) -> V:
        """The mind, to be read; ``around``: what else of its ``ViewContext`` this process knows."""
        settings = self.settings
        told = ViewContext(
            version=version("submind"),
            limits=intake.limits(),
            words=wording(settings),
            interlocutors=settings.perception.interlocutors,
            query_prefix=settings.substrate.embedder.query_prefix,
            knowledge=settings.knowledge,
            goals=settings.mind.goals,
            **around,
        )
        embedder, name = LazyEmbedder(settings, stores.collections), settings.mind.name
        return kind(stores, embedder, settings.view, mind=name, clock=clock.now, wall=wall, surroundings=told)

    async def _listen(self, gateway: GatewayServer) -> str:
        """Where gRPC is listened for now."""
        port = await gateway.start()
        return endpoint_label(split_listen(self.settings.gateway.listen)[0], port)

    def _app(self, view: MindView, intake: Intake, handlers: Handlers, access: Access, **more: Any) -> FastAPI:
        """Everything over HTTP."""
        from orchestration.feed.app import create_app  # noqa: PLC0415 - the gateway answers while this is imported

        made, settings = version("submind"), self.settings
        more |= {"more_figures": self._figures, "per_submind": settings.telemetry.metrics.per_submind}
        return create_app(view, intake, handlers, settings.feed, access=access, version=made, **more)
