"""Bringing actors to life on Ray, and back to life when they die."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import ray
import structlog
from ray.exceptions import RayActorError, RayError, RayTaskError

from actors.events import Configured
from environment.errors import FencedOut, StoreUnavailable
from environment.messages import SubmindReport, SubmindState
from environment.ports import Stores, WriteReport
from orchestration.clock import wall
from orchestration.links.directory import Directory
from orchestration.runtime.actor import ActorProcess
from orchestration.runtime.fate import Fate
from orchestration.runtime.live import Ending
from orchestration.runtime.orders import ActorOrders
from orchestration.runtime.settings import SupervisionSettings

_log = structlog.get_logger(__name__)
_BIRTH_POLL = 0.1
_SAYING = 1.0
"""Longest that a life waits for the word that there is none now."""

# Tries -1 for the actor has calls wait while it restarts, 0 for the call has a life end when its process does.
RayActor = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(ActorProcess)


class ActorKeeper:
    """Sees to it that one actor lives, until ``stop``, or until it has died too often.

    Ray restarts the process; the keeper begins each life in it, after a pause that grows with recent deaths. An actor
    that answers no ping for ``hung_after`` seconds is killed. ``changed`` is called when restarts or quarantine change.
    """

    def __init__(
        self,
        orders: ActorOrders,
        stores: Stores,
        directory: Directory,
        settings: SupervisionSettings,
        chance: random.Random,
        changed: Callable[[ActorKeeper], None],
    ) -> None:
        self.name = orders.plan.name
        self.born = asyncio.Event()
        """Set once it was alive and had read its state for the first time, or never will be."""
        self.quarantined = ""
        """Why it is not started again; empty while it is."""
        self._orders = orders
        self._stores = stores
        self._settings = settings
        self._fate = Fate(self.name, settings, chance)
        self._changed = changed
        self._directory = directory
        self._actor: Any = None
        self._stopping = asyncio.Event()
        self._configured: Configured | None = None

    @property
    def restarts(self) -> int:
        """Lives after the first."""
        return self._fate.restarts

    def configure(self, event: Configured) -> None:
        """Settings were changed: tell the actor now, in its next life, and until it says that it knows."""
        self._configured = event
        self._directory.configure(self.name, event)

    async def keep(self) -> Ending:
        """Live after life. Returns when it was stopped, fenced out or quarantined (which counts as stopped)."""
        self._actor = RayActor.options(name=self.name).remote(self._orders)
        pinging = asyncio.create_task(self._ping(), name=f"ping-{self.name}")
        try:
            while True:
                try:
                    life = self._actor.live.options(max_task_retries=0)
                    ending = Ending(await life.remote(self._fate.restarts, self._configured))
                except RayError as error:
                    if self._stopping.is_set() or not await self._bury(error):
                        return Ending.STOPPED
                else:
                    return ending
        finally:
            self.born.set()
            pinging.cancel()

    def stop(self) -> None:
        """Ask it to end its life in good order; ``keep`` returns then."""
        self._stopping.set()
        self._directory.stop(self.name)

    async def _bury(self, error: RayError) -> bool:
        """After a death: whether there is another life."""
        cause = _cause(error)
        verdict = self._fate.died(asyncio.get_running_loop().time(), cause)
        if not verdict.again:
            await self._quarantine(verdict.reason)
            return False
        _log.warning("actor_restarts", submind=self.name, cause=cause, after=round(verdict.after, 3))
        self._changed(self)
        reason = f"{cause}; it starts again after {verdict.after:.1f} s"
        saying = asyncio.create_task(
            write_report(self._stores, self._orders, SubmindState.RESTARTING, reason, self.restarts)
        )
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), verdict.after)
        with suppress(TimeoutError, FencedOut):  # the next life speaks for itself, and must have the last word
            await asyncio.wait_for(saying, _SAYING)
        return not self._stopping.is_set()

    async def _quarantine(self, reason: str) -> None:
        self.quarantined = reason
        _log.error("actor_quarantined", submind=self.name, reason=reason)
        ray.kill(self._actor, no_restart=True)
        self._changed(self)
        await write_report(self._stores, self._orders, SubmindState.QUARANTINED, reason, self.restarts)

    async def _ping(self) -> None:
        """Ask whether it is well; kill it when it has not said so for too long."""
        loop = asyncio.get_running_loop()
        well = loop.time()
        while True:
            pong = await self._directory.ping(self.name, self._settings.hung_after)
            if pong is not None:
                well = loop.time()
                if pong.health.get("born"):
                    self.born.set()
                    if self._configured and pong.health.get("configuration", 0.0) < self._configured.version:
                        self._directory.configure(self.name, self._configured)
            elif loop.time() - well >= self._settings.hung_after:
                _log.error("actor_hung", submind=self.name, silent=round(loop.time() - well, 1))
                ray.kill(self._actor, no_restart=False)
                well = loop.time()
            await asyncio.sleep(self._settings.ping_every if self.born.is_set() else _BIRTH_POLL)


async def write_report(
    stores: Stores, orders: ActorOrders, state: SubmindState, reason: str = "", restarts: int = 0
) -> None:
    """Say in the registry how an actor is that cannot say it itself. A store that refuses is asked again."""
    plan = orders.plan
    report = SubmindReport(
        name=plan.name,
        role=plan.role,
        goal=plan.goal,
        state=state,
        at=wall(),
        metrics={"restarts_total": float(restarts)},
        reason=reason,
    )
    for _ in range(10):
        try:
            await stores.commit([WriteReport(report)], orders.fence)
        except StoreUnavailable as error:
            await asyncio.sleep(error.retry_after)
        else:
            return
    _log.error("report_not_written", submind=plan.name, state=state.value, reason=reason)


def _cause(error: RayError) -> str:
    """Why an actor died, in a line."""
    if isinstance(error, RayTaskError) and error.cause is not None:
        return f"{type(error.cause).__name__}: {error.cause}".splitlines()[0][:300]
    if isinstance(error, RayActorError):
        return "its process ended"
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]
