"""Bringing actors to life on Ray, and back to life when they die."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import InitVar, dataclass, replace
from itertools import count
from typing import Any

import ray
import structlog
from ray.exceptions import RayActorError, RayError, RayTaskError

from environment.messages import SubmindState
from environment.ports import Stores
from orchestration.links.control import Share
from orchestration.links.directory import Directory
from orchestration.links.frames import Configure, Roster, Stop
from orchestration.runtime.machines.node_assignment import NodeAssignment
from orchestration.runtime.orders import ActorOrders
from orchestration.runtime.reporting import write_reports
from orchestration.runtime.settings import SupervisionSettings
from orchestration.runtime.worker.actor import ActorProcess
from orchestration.runtime.worker.live import Ending
from orchestration.runtime.worker.restarts import RestartPolicy, rest
from orchestration.settings import SettingsUpdate
from orchestration.tasks import first_of
from orchestration.wiring import ActorPlan

_log = structlog.get_logger(__name__)
_BIRTH_POLL = 0.1
_lives = count(1)
"""Numbers of lives: of all that this process begins, which leads once, so that each is larger than those before."""

RayActor = ray.remote(max_restarts=0, max_task_retries=0)(ActorProcess)


@dataclass(eq=False, repr=False)
class ActorSupervisor:
    """Sees to it that one actor lives, where its assignment is, until ``stop``, or until it has died too often.

    Each life is begun in a process of its own, after a pause that grows with recent deaths; one that ended in an error
    of the core leaves its process to the next. When its assignment is elsewhere the actor is asked to save and end, and
    lives on there. The death of a node is none of the actor's. One that is not there after ``start_within`` seconds, or
    once it was answers no ping for ``hung_after``, is killed. ``changed`` is called when restarts or quarantine change.

    Where a pack of actors shares the process, these are the lives of the process: those within it are its own business
    (``actor_group.py``), of which it tells. Who came to live in it or is to leave it is told until that is so, and
    holds in its next life from the beginning.
    """

    orders: ActorOrders
    """Who is to live in the process, and how."""
    _stores: Stores
    _directory: Directory
    _settings: SupervisionSettings
    chance: InitVar[random.Random]
    _changed: Callable[[ActorSupervisor], None]
    _assignment: NodeAssignment

    def __post_init__(self, chance: random.Random) -> None:
        self.name = self.orders.name
        self.born = asyncio.Event()
        """Set once it was alive and had read its state for the first time, or never will be."""
        self.alive = asyncio.Event()
        """Set while it is."""
        self.quarantined = ""
        """Why it is not started again; empty while it is."""
        self.troubles: dict[str, tuple[int, str]] = {}
        """Of the actors in the process, where they are several, those that died: restarts, and why it was given up."""
        self._policy = RestartPolicy(
            self._settings, chance, essential=any(plan.faculty.essential for plan in self.orders.plans)
        )
        self._actor: Any = None
        self._lives = 0
        self._stopping = asyncio.Event()
        self._recalled = asyncio.Event()
        self._over = asyncio.Event()
        self._configured: SettingsUpdate | None = None
        self._shares: dict[str, Share] = {}
        self._begun: ActorOrders | None = None
        """What the life that is under way began with; None while there is none."""
        self._so = 0
        """The version of who lives there that is so by now."""
        self._turned = asyncio.Event()
        """Set when it is to be told who lives there."""

    @property
    def members(self) -> frozenset[str]:
        """Who lives in the process."""
        return frozenset(plan.name for plan in self.orders.plans)

    @property
    def restarts(self) -> int:
        """Lives that followed a death."""
        return self._policy.restarts

    def configure(self, event: SettingsUpdate) -> None:
        """Settings were changed: tell the actor now, in its next life, and until it says that it knows."""
        self._configured = event
        self._directory.tell(Configure(self.name, event))

    def share(self, name: str, told: Share) -> None:
        """What one who lives there has of the budgets in its next life."""
        self._shares[name] = told

    def admit(self, plan: ActorPlan) -> None:
        """Somebody lives in this pack as well from now on."""
        self._enlist((*self.orders.plans, plan))

    async def dismiss(self, name: str) -> None:
        """Somebody is to save and end, and lives in this pack no more; returns when that is so."""
        version = self._enlist(tuple(plan for plan in self.orders.plans if plan.name != name))
        self._shares.pop(name, None)
        while self._begun is not None and self._so < version:  # noqa: ASYNC110 - or another life may have begun
            await asyncio.sleep(_BIRTH_POLL)

    def _enlist(self, plans: tuple[ActorPlan, ...]) -> int:
        version = self.orders.roster + 1
        self.orders = replace(self.orders, plans=plans, roster=version)
        self._turned.set()
        return version

    async def keep(self) -> Ending:
        """Live after life. Returns when it was stopped, fenced out or quarantined (which counts as stopped)."""
        ending: Ending | None = None
        try:
            while ending is None:
                node = await self._place()
                ending = Ending.STOPPED if node is None else await self._live(node)
        finally:
            self._over.set()
            self.born.set()
        return ending

    def stop(self) -> None:
        """Ask it to end its life in good order; ``keep`` returns then."""
        self._stopping.set()
        self._directory.tell(Stop(self.name))

    def kill(self) -> None:
        """End its process at once."""
        self._end_process()

    async def restart(self) -> None:
        """Have it save, end and live on in a process that is begun after this call; returns when it does."""
        before = self._lives
        if self._actor is not None:
            self.alive.clear()
            self._recalled.set()
        await first_of(self._renewed(before), self._over.wait())

    async def _renewed(self, before: int) -> None:
        while True:
            await self.alive.wait()
            if self._lives != before:
                return
            await asyncio.sleep(_BIRTH_POLL)  # it has ended, which is not yet noticed

    async def _place(self) -> str | None:
        """Where the next life is to be; None when it is being stopped."""
        given = asyncio.ensure_future(self._assignment.given())
        await first_of(given, self._stopping.wait())
        return given.result() if given.done() and not self._stopping.is_set() else None

    async def _live(self, node: str) -> Ending | None:
        """One life on a node; None when there is to be another."""
        if self._actor is None:
            self._lives += 1
            options = self._assignment.options(node)
            self._actor = RayActor.options(name=f"{self.name}.{self._lives}", **options).remote(self.orders)
        life = asyncio.ensure_future(self._begin(self._actor))
        pinging = asyncio.create_task(self._ping(node), name=f"ping-{self.name}")
        try:
            await first_of(
                asyncio.wait([life]), self._assignment.withdrawn(node), self._recalled.wait(), self._late(life)
            )
            if not life.done():
                pinging.cancel()  # or what still answers would pass for the next life
                await self._leave(life)
                self._assignment.died(node)
                return Ending.STOPPED if self._stopping.is_set() else None
            ending = Ending(await life)
        except RayError as error:
            self._assignment.died(node)
            return None if await self._bury(error, node) else Ending.STOPPED
        finally:
            pinging.cancel()
            self._begun = None
            self.alive.clear()
        self._assignment.died(node)
        if ending is Ending.STOPPED and not self._stopping.is_set():  # called away just as it ended
            self._end_process()
            return None
        return ending

    def _begin(self, actor: Any) -> Any:
        told = self._shares.values()
        orders = replace(
            self.orders,
            parts={**self.orders.parts, **{name: share.value for name, share in self._shares.items()}},
            predecessors=tuple(
                dict.fromkeys((*(gone for share in told for gone in share.predecessors), *self.orders.predecessors))
            ),
            moved=tuple(dict.fromkeys((*(one for share in told for one in share.moved), *self.orders.moved))),
            life=next(_lives),
        )
        self._directory.begin(self.name, orders.life)
        self._begun, self._so = orders, orders.roster
        return actor.live.remote(self._policy.restarts, self._configured, orders)

    async def _late(self, life: asyncio.Future[str]) -> None:
        """Return when it was asked to stop and there is nobody who could hear that."""
        await self._stopping.wait()
        while self._directory.find(self.name) is not None:
            self._directory.tell(Stop(self.name))
            await asyncio.wait([life], timeout=1.0)

    async def _leave(self, life: asyncio.Future[str]) -> None:
        """End a life in good order, so that the next goes on from there; by force when it takes too long."""
        self._recalled.clear()
        self.alive.clear()
        told = self._directory.find(self.name) is not None
        if told:
            self._directory.tell(Stop(self.name))
            await asyncio.wait([life], timeout=self._settings.settle)
        if told and not life.done():
            _log.warning("actor_did_not_leave", submind=self.name)
        life.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        self._end_process()

    def _end_process(self) -> None:
        if self._actor is not None:
            with suppress(RayError):
                ray.kill(self._actor, no_restart=True)
            self._actor = None
            self._directory.forget(self.name, *self.members)

    async def _bury(self, error: RayError, node: str) -> bool:
        """After a death: whether there is another life."""
        if not isinstance(error, RayTaskError):
            self._end_process()
        if self._stopping.is_set():
            return False
        if not isinstance(error, RayTaskError) and await self._assignment.lost(node):
            self._policy.lost()
            _log.warning("actor_lost_its_node", submind=self.name, node=node[:8])
            self._changed(self)
            return True
        cause = _cause(error)
        verdict = self._policy.died(asyncio.get_running_loop().time(), cause)
        if not verdict.again:
            await self._quarantine(verdict.reason)
            return False
        _log.warning("actor_restarts", submind=self.name, cause=cause, after=round(verdict.after, 3))
        self._changed(self)
        reason = f"{cause}; it starts again after {verdict.after:.1f} s"
        await rest(verdict.after, self._stopping, self._say(SubmindState.RESTARTING, reason))
        return not self._stopping.is_set()

    async def _quarantine(self, reason: str) -> None:
        self.quarantined = reason
        _log.error("actor_quarantined", submind=self.name, reason=reason)
        self._end_process()
        self._changed(self)
        await self._say(SubmindState.QUARANTINED, reason)

    async def _say(self, state: SubmindState, reason: str) -> None:
        orders = self.orders
        await write_reports(self._stores, orders.plans, orders.fence, state, reason, self.restarts)

    def _take_in(self, health: Mapping[str, float]) -> None:
        """What a pack tells of its members."""
        told = {key.partition(":")[2]: int(value) for key, value in health.items() if key.startswith("restarts:")}
        gone = "it died too often: its report says of what"
        troubles = {name: (n, gone if f"quarantined:{name}" in health else "") for name, n in told.items()}
        if troubles != self.troubles:
            self.troubles = troubles
            self._changed(self)

    async def _ping(self, node: str) -> None:
        """Ask whether it is well; kill it when it has not said so for too long."""
        loop = asyncio.get_running_loop()
        well, patience = loop.time(), self._settings.start_within
        while True:
            pong = await self._directory.ping(self.name, self._settings.hung_after)
            if patience != self._settings.hung_after and self._directory.find(self.name) is not None:
                well, patience = loop.time(), self._settings.hung_after
            if pong is not None:
                well = loop.time()
                self._take_in(pong.health)
                if pong.health.get("born"):
                    if not self.alive.is_set() and not self._recalled.is_set():
                        self._assignment.born(node)
                        self.alive.set()
                    self.born.set()
                    if self._configured and pong.health.get("configuration", 0.0) < self._configured.version:
                        self._directory.tell(Configure(self.name, self._configured))
                self._call_the_roll(int(pong.health.get("roster", 0.0)))
            elif loop.time() - well >= patience:
                _log.error("actor_hung", submind=self.name, silent=round(loop.time() - well, 1))
                ray.kill(self._actor, no_restart=True)
                well = loop.time()
            calm = self.alive.is_set() and self._so == self.orders.roster
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.ping_every if calm else _BIRTH_POLL):
                    await self._turned.wait()
            self._turned.clear()

    def _call_the_roll(self, so: int) -> None:
        """Tell a pack who lives in it, where that is not so yet."""
        self._so = max(self._so, so)
        if self._begun is None or self._so == self.orders.roster:
            return
        now, then = ({plan.name: plan for plan in one.plans} for one in (self.orders, self._begun))
        came = tuple((plan.name, plan.role, plan.goals) for name, plan in now.items() if name not in then)
        self._directory.tell(Roster(self.name, self.orders.roster, came, tuple(then.keys() - now.keys())))


def _cause(error: RayError) -> str:
    """Why an actor died, in a line."""
    if isinstance(error, RayTaskError) and error.cause is not None:
        return f"{type(error.cause).__name__}: {error.cause}".splitlines()[0][:300]
    if isinstance(error, RayActorError):
        return "its process ended"
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]
