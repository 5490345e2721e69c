"""Those who live in a mind now: a supervisor for each, joined by who is born, left by who ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from environment.errors import FencedOut
from orchestration.runtime.orders import ActorOrders
from orchestration.runtime.worker.live import Ending
from orchestration.settings import SettingsUpdate
from orchestration.tasks import first_of

if TYPE_CHECKING:
    from orchestration.runtime.actor_supervisor import ActorSupervisor

_log = structlog.get_logger(__name__)


class SupervisorRegistry:
    """Keeps actors alive from ``add`` to ``remove``, all of them until ``settle``."""

    def __init__(
        self, make_supervisor: Callable[[ActorOrders], ActorSupervisor], broken: Callable[[str, BaseException], None]
    ) -> None:
        """``make_supervisor`` makes that of an actor; ``broken`` is told of one that failed itself, and of what."""
        self.by_process: dict[str, ActorSupervisor] = {}
        """By the name of the process."""
        self.fenced = asyncio.Event()
        """Set when it turns out that another run leads."""
        self._make_supervisor = make_supervisor
        self._broken = broken
        self._keeping: dict[str, asyncio.Task[Ending]] = {}
        self._configured: SettingsUpdate | None = None

    def add(self, order: ActorOrders) -> None:
        """An actor lives from now on."""
        name = order.name
        supervisor = self.by_process[name] = self._make_supervisor(order)
        if self._configured is not None:
            supervisor.configure(self._configured)
        task = self._keeping[name] = asyncio.create_task(supervisor.keep(), name=name)
        task.add_done_callback(self._ended)

    async def remove(self, name: str, within: float) -> None:
        """An actor is to end; nobody keeps it any more, whether it was quick about it or not."""
        supervisor, task = self.by_process.pop(name), self._keeping.pop(name)
        supervisor.stop()
        _, late = await asyncio.wait([task], timeout=within)
        if late:
            _log.error("actors_did_not_stop", submind=[name])
            supervisor.kill()

    def home(self, name: str) -> str:
        """The process that an actor lives in."""
        return next((process for process, one in self.by_process.items() if name in one.members), name)

    def configure(self, event: SettingsUpdate) -> None:
        """Settings were changed: tell every actor, also those to come."""
        self._configured = event
        for supervisor in self.by_process.values():
            supervisor.configure(event)

    async def until_fenced_or(self, stopping: asyncio.Event) -> None:
        """Wait until ``stopping``, or until somebody finds that another run leads."""
        await first_of(stopping.wait(), self.fenced.wait())

    async def settle(self, within: float) -> None:
        """Let everybody finish and save."""
        for supervisor in self.by_process.values():
            supervisor.stop()
        if self._keeping:
            _, late = await asyncio.wait(self._keeping.values(), timeout=within)
            if late:
                _log.error("actors_did_not_stop", submind=[task.get_name() for task in late])

    def _ended(self, task: asyncio.Task[Ending]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        if isinstance(error, FencedOut):
            self.fenced.set()
        elif error is not None:  # nobody keeps that actor any more, and nobody would notice
            told = {"reason": str(error)} if isinstance(error, ConnectionError) else {"exc_info": error}
            _log.error("keeper_failed", submind=task.get_name(), **told)
            self._broken(task.get_name(), error)
        elif task.result() is Ending.FENCED_OUT:
            self.fenced.set()
