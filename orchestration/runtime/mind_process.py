"""The mind process: leads, starts or joins Ray, keeps the actors alive, ends with its host, its raylet or its GCS."""

from __future__ import annotations

import asyncio
import math
import os
import random
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import structlog

from environment.errors import FencedOut
from environment.messages import SubmindReport, SubmindState
from environment.ports import Stores, WriteReport
from orchestration.clock import wall
from orchestration.links.control import BudgetTransfer
from orchestration.links.directory import Directory
from orchestration.placement.errors import NoSuchNode, PlacementError
from orchestration.runtime import processes
from orchestration.runtime.hosting.lifecycle import Lifecycle, place_all
from orchestration.runtime.hosting.packing import is_pack
from orchestration.runtime.hosting.population_control import PopulationControl
from orchestration.runtime.hosting.supervisors import SupervisorRegistry
from orchestration.runtime.machines.backend import Backend, namespace_of, open_backend
from orchestration.runtime.machines.joining import join, reachable_from
from orchestration.runtime.orders import ActorOrders, RunOrders
from orchestration.runtime.pipe import Exit, Report, read_later, read_orders
from orchestration.runtime.reporting import write_reports
from orchestration.runtime.worker import fork_server
from orchestration.runtime.worker.actor import wiring_of
from orchestration.settings import SettingsUpdate
from orchestration.store_factory import open_patiently
from orchestration.telemetry.logs import configure_logs

if TYPE_CHECKING:
    from orchestration.runtime.actor_supervisor import ActorSupervisor
    from orchestration.wiring import ActorPlan

_log = structlog.get_logger(__name__)


@dataclass
class MindProcess:
    """One run of a mind's actors."""

    run: RunOrders
    report: Report
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    supervisors: SupervisorRegistry | None = None
    population: PopulationControl | None = None
    configured: SettingsUpdate | None = None
    errands: set[asyncio.Task[None]] = field(default_factory=set)
    backend: Backend | None = None
    outlived: int = 0
    """Processes that were heard of again once a later life of theirs had begun."""
    marked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when somebody marked something."""
    turned: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nodes or places changed."""

    async def main(self) -> Exit:
        """Live until told to stop, or until something ends it."""
        processes.start_reaper()
        stores = await open_patiently(self.run.settings, self.run.data_dir, "mind")
        async with AsyncExitStack() as owned:
            owned.push_async_callback(stores.close)
            return await self._lead_and_live(stores, owned)

    async def _lead_and_live(self, stores: Stores, owned: AsyncExitStack) -> Exit:
        settings = self.run.settings.runtime
        try:
            address = await join(settings.cluster, namespace_of(self.run)) if settings.cluster.address else ""
            host = reachable_from(address) if address else ""
            directory = Directory(
                self.run.run_dir, settings.link, credentials=self.run.credentials, host=host, outlived=self._outlived
            )
            await directory.open()
            owned.push_async_callback(directory.close)
            orders = await self._lead(stores, directory)
            self.backend = await open_backend(self.run, orders, address, stores, self._fallen, self._nodes_changed)
            self._nodes_changed()
            return await self._live(stores, directory, orders, self.backend)
        except FencedOut as error:
            _log.warning("fenced_out", reason=str(error))
            return Exit.FENCED_OUT

    def configure(self, event: SettingsUpdate) -> None:
        """Settings were changed: tell every actor."""
        self.configured = event
        if self.supervisors is not None:
            self.supervisors.configure(event)

    def ask(self, request: Mapping[str, Any]) -> None:
        """Do what the host asks for, and answer it with a status line."""
        task = asyncio.create_task(self._answer(request), name=f"answer-{request.get('do')}")
        self.errands.add(task)
        task.add_done_callback(self.errands.discard)

    async def asked(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Do what ``do`` names; what to answer. Raises ``PlacementError`` where it cannot be done."""
        match request["do"]:
            case "drain" if self.backend is not None:
                await self.backend.drain(request["node"], undo=request["undo"])
                return {}
            case "growth" if self.population is not None:
                await self.population.look()
                return {}
            case "marks":
                self.marked.set()
                return {}
            case "restart" if self.supervisors is not None:
                return {"renewed": await _restart(self.supervisors, self._unschedulable(), request["name"])}
        raise NoSuchNode("the mind is still starting: ask again in a moment")

    async def _answer(self, request: Mapping[str, Any]) -> None:
        try:
            answer = await self.asked(request)
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            if not isinstance(error, PlacementError):
                _log.exception("request_failed", do=request.get("do"))
            answer = {"error": str(error)}
        self.report.tell(answer=request["number"], **answer)

    async def _lead(self, stores: Stores, directory: Directory) -> list[ActorOrders]:
        """Take over from whatever ran before, and say that everybody is starting."""
        fence = await stores.lead(self.run.token)
        self.population = population = PopulationControl(self.run, stores, fence)
        members = await population.begin()
        plans = wiring_of(self.run).plan(self.run.settings, members)
        born = {member.name for member in members}
        policy, placed = population.log.policy, population.placement_map
        packs = await place_all(stores, policy, placed, population.part, plans, fence)
        # Children of those who are configured no more have their parts still: they are divided among more then.
        shares = max(len(plans) - len(born), math.ceil(sum(population.part(plan.name) for plan in plans)))
        home = {plan.name: one.name for one in packs for plan in one.plans}
        parents = {one.name: "" if is_pack(one.name) else population.parent(one.name) for one in packs}
        orders = [
            self._order(one.name, one.plans, fence, shares, directory, home.get(parents[one.name], parents[one.name]))
            for one in packs
        ]
        at = wall()
        reports = [
            SubmindReport(name=plan.name, role=plan.role, goal=plan.goal, state=SubmindState.STARTING, at=at)
            for plan in plans
        ]
        known = {plan.name for plan in plans}
        gone = [report for report in await stores.registry.reports() if report.name not in known]
        reports += [
            SubmindReport(
                *(old.name, old.role, old.goal, SubmindState.STOPPED, at),
                reason=population.retired(old.name) or "not configured",
            )
            for old in gone
        ]
        await stores.commit([WriteReport(report) for report in reports], fence)
        _log.info("mind_leads", epoch=fence, actors=len(plans))
        return orders

    def _order(
        self, name: str, plans: tuple[ActorPlan, ...], fence: int, shares: int, directory: Directory, parent: str = ""
    ) -> ActorOrders:
        here = processes.machine()
        parts: dict[str, float] = {}
        predecessors: tuple[str, ...] = ()
        moved: tuple[BudgetTransfer, ...] = ()
        if self.population is not None:
            told = {plan.name: self.population.share(plan.name) for plan in plans}
            parts = {name: share.value for name, share in told.items()}
            predecessors = tuple(gone for share in told.values() for gone in share.predecessors)
            moved = tuple(one for share in told.values() for one in share.moved)
        at, mind = directory.endpoint, os.getpid()
        return ActorOrders(self.run, name, plans, fence, mind, here, shares, at, parts, predecessors, parent, moved)

    async def _live(
        self, stores: Stores, directory: Directory, orders: Sequence[ActorOrders], backend: Backend
    ) -> Exit:
        from orchestration.runtime.actor_supervisor import ActorSupervisor  # noqa: PLC0415 - imports Ray

        chance = random.Random(secrets.randbits(64))  # noqa: S311 - waits, not secrets
        supervision = self.run.settings.runtime.supervision

        def make_supervisor(order: ActorOrders) -> ActorSupervisor:
            return ActorSupervisor(
                order, stores, directory, supervision, chance, self._changed, backend.assignment(order.name)
            )

        self.supervisors = supervisors = SupervisorRegistry(make_supervisor, self._unkept)
        if self.configured is not None:
            supervisors.configure(self.configured)
        for order in orders:
            supervisors.add(order)
        all_born = asyncio.create_task(self._say_running(backend, supervisors))
        telling = asyncio.create_task(self._tell_of_unschedulable(stores, supervisors, backend))
        growing = await self._grow(supervisors, backend, directory, orders[0], stores)
        marking = asyncio.create_task(growing.tell_marks(self.marked), name="marks")
        try:
            await supervisors.until_fenced_or(self.stopping)
            await growing.close()
            await supervisors.settle(supervision.settle)
        finally:
            all_born.cancel()
            telling.cancel()
            marking.cancel()
            backend.leave()
        return Exit.FENCED_OUT if supervisors.fenced.is_set() else Exit.STOPPED

    async def _grow(
        self,
        supervisors: SupervisorRegistry,
        backend: Backend,
        directory: Directory,
        like: ActorOrders,
        stores: Stores,
    ) -> PopulationControl:
        """Have the population change from now on."""
        population = self.population
        if population is None:
            raise RuntimeError("the mind does not lead")

        def order(name: str, plans: tuple[ActorPlan, ...], parent: str) -> ActorOrders:
            return self._order(name, plans, like.fence, like.shares, directory, parent)

        def counted(figures: Mapping[str, float]) -> None:
            self.report.tell(growth=figures)

        policy, placed, part = population.log.policy, population.placement_map, population.part
        rest = supervisors, backend, order, like.fence, counted
        lifecycle = Lifecycle(self.run.settings, stores, policy, placed, part, *rest)
        await population.open(lifecycle, directory)
        return population

    async def _say_running(self, backend: Backend, supervisors: SupervisorRegistry) -> None:
        """Once everybody lives for whom there is a place."""
        for name, supervisor in tuple(supervisors.by_process.items()):
            await backend.until_known(name)
            if name not in backend.unschedulable():
                await supervisor.born.wait()
        self.report.tell(state="running")
        _log.info("mind_runs", processes=len(supervisors.by_process))

    async def _tell_of_unschedulable(self, stores: Stores, supervisors: SupervisorRegistry, backend: Backend) -> None:
        """Say in the registry of actors without a place why they have none, whenever that changes."""
        told: dict[str, str] = {}
        while True:
            unschedulable = dict(backend.unschedulable())
            for order in [one.orders for one in supervisors.by_process.values()]:
                reason = unschedulable.get(order.name, "")
                if reason and told.get(order.name) != reason:
                    _log.warning("no_place", submind=order.name, reason=reason)
                    await write_reports(stores, order.plans, order.fence, SubmindState.STARTING, reason)
            told = unschedulable
            await self.turned.wait()
            self.turned.clear()

    def _nodes_changed(self) -> None:
        self.turned.set()
        if self.backend is not None:
            self.report.tell(nodes=self.backend.nodes(), unschedulable=dict(self.backend.unschedulable()))

    def _changed(self, supervisor: ActorSupervisor) -> None:
        self.report.tell(actor=supervisor.name, restarts=supervisor.restarts, quarantined=supervisor.quarantined)
        for name, (restarts, quarantined) in supervisor.troubles.items():
            self.report.tell(actor=name, restarts=restarts, quarantined=quarantined)

    def _outlived(self, name: str) -> None:
        """Somebody woke up, or came back, who lives elsewhere by now."""
        self.outlived += 1
        _log.warning("outlived_process_told_to_stop", submind=name)
        self.report.tell(outlived=self.outlived)

    def _unschedulable(self) -> Mapping[str, str]:
        return self.backend.unschedulable() if self.backend is not None else {}

    def _unkept(self, name: str, error: BaseException) -> None:
        if isinstance(error, ConnectionError):  # of Ray's client, which has tried for half a minute
            self._fallen(f"connection to the Ray client server at {self.run.settings.runtime.cluster.address}", "broke")
        else:
            self._fallen(f"supervisor of {name}")

    def _fallen(self, role: str, how: str = "died") -> None:
        if self.stopping.is_set():
            return
        _log.error("ray_fell", role=role)
        self.report.tell(state="down", reason=f"the {role} {how}")
        os._exit(Exit.FALLEN)


async def _restart(supervisors: SupervisorRegistry, unschedulable: Mapping[str, str], name: str) -> list[str]:
    """Have a submind save, end and live on in a new process, with those it shares one with; who that was."""
    supervisor = supervisors.by_process.get(supervisors.home(name))
    if supervisor is None:
        known = sorted(set().union(*(one.members for one in supervisors.by_process.values())))
        raise PlacementError(f"nobody is called {name}; there are: {', '.join(known)}")
    if supervisor.quarantined:
        raise PlacementError(f"{name} is quarantined: {supervisor.quarantined}")
    if (why := unschedulable.get(supervisor.name)) is not None:
        raise PlacementError(f"{name} has no place: {why}")
    await supervisor.restart()
    if not supervisor.alive.is_set():
        raise PlacementError(f"{name} does not live on: {supervisor.quarantined or 'it was stopped'}")
    return sorted(supervisor.members)


async def _obey(mind: MindProcess, pipe: BinaryIO) -> None:
    """Stop when the host says so, pass on what it configures; end at once when it goes away."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        while (told := await read_later(reader)) is not None:
            if isinstance(told, SettingsUpdate):
                mind.configure(told)
            else:
                mind.ask(told)
    except asyncio.IncompleteReadError:
        _log.error("host_gone")
        os._exit(Exit.ORPHANED)
    mind.stopping.set()
    if not await reader.read(1):  # a host that stops closes its end only when it has had enough
        os._exit(Exit.ORPHANED)


async def _run(run: RunOrders, report: Report, pipe: BinaryIO, forking: int) -> Exit:
    mind = MindProcess(run, report)
    if forking:
        processes.watch(forking, lambda: _log.warning("fork_server_ended", pid=forking))
    obeying = asyncio.create_task(_obey(mind, pipe))
    try:
        return await mind.main()
    finally:
        obeying.cancel()


def main(parent: int) -> int:
    """Run as a child of process ``parent``: orders on standard input, status lines on standard output."""
    processes.die_with_parent(parent)
    report = Report(os.dup(1))
    os.dup2(2, 1)  # what libraries print is not for the host
    pipe = os.fdopen(os.dup(0), "rb", buffering=0)
    try:
        run = read_orders(pipe)
    except EOFError:
        return Exit.ORPHANED
    runtime, forking = run.settings.runtime, 0
    if runtime.fork_actors and not runtime.cluster.address:
        forking = fork_server.begin(run, report.close, pipe.close)
    logs = run.settings.telemetry.model_copy(update={"stderr": "off"})  # its standard error is for what Ray says
    configure_logs(logs, file=run.data_dir / "submind.log", fields={"mind": run.settings.mind.name})
    try:
        return asyncio.run(_run(run, report, pipe, forking))
    except Exception as error:  # noqa: BLE001 - the host is told, and decides
        _log.exception("mind_failed")
        named = "" if isinstance(error, PlacementError) else f"{type(error).__name__}: "
        report.tell(state="down", reason=f"{named}{error}".splitlines()[0])
        return Exit.FAILED
