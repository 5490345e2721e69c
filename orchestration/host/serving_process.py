"""What host and front have in common: stores that are whole, spans, and a start that leaves nothing where it fails."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from environment.stores.copying import mark_of
from orchestration.host.errors import StillMoving
from orchestration.settings import Settings
from orchestration.store_factory import address_of, open_mind
from orchestration.telemetry.tracing.intake_spans import IntakeSpans
from orchestration.telemetry.tracing.starting import begin

if TYPE_CHECKING:
    from environment.stores.movable import Movable
    from orchestration.gateway.intake import Accepted
    from orchestration.telemetry.tracing.spans import Recorder


class ServingProcess(ABC):
    """``start`` once, ``stop`` once; what ``_start`` puts among ``_owned`` goes in the end, or where it fails."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._owned = AsyncExitStack()
        self._recorder: Recorder | None = None

    @abstractmethod
    async def _start(self) -> None:
        """Open everything, and listen."""

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
