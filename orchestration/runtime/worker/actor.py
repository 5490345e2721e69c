"""The process of one actor, or of a pack: the class Ray makes an actor of.

Its one long method, ``live``, keeps the worker's main thread. That is on purpose: a Ray worker whose main thread waits
for tasks wakes a hundred times a second, which for the fourteen actors of an idle mind is a tenth of a core; one that
is busy in a task does not. So Ray places, starts, watches and restarts actors, and events travel between them on
sockets of their own (``orchestration/links``), which takes less time as well.
"""

import asyncio
import gc
import importlib
import os
import random
import secrets
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import structlog

from actors.answering.episodes import EpisodeFollower
from actors.answering.substrate import AnsweringSubstrate
from actors.events import Configured
from actors.shell import ActorShell, Driver
from actors.substrate.budget import Account, Limits
from actors.substrate.ports import Embedder, Substrate
from actors.substrate.settings import BudgetSettings
from environment.errors import SubliminalError
from environment.ports import Stores
from environment.stores.movable import Claimed
from orchestration.backoff import backoff
from orchestration.clock import wall
from orchestration.links.control import Share
from orchestration.links.frames import Roster
from orchestration.links.links import Links
from orchestration.private import make_private
from orchestration.runtime import processes
from orchestration.runtime.hosting.packing import is_pack
from orchestration.runtime.machines.joining import node_address
from orchestration.runtime.orders import ActorOrders, RunOrders
from orchestration.runtime.worker.actor_group import ActorGroup, GroupMember
from orchestration.runtime.worker.budget_accounts import inherit, settle_in, shares_of, thinking
from orchestration.runtime.worker.file_watcher import FileWatcher
from orchestration.runtime.worker.image_decoder import ImageDecoder
from orchestration.runtime.worker.live import Ending, LiveActor
from orchestration.runtime.worker.lives import ForwardingTable, InPopulation
from orchestration.runtime.worker.meter import LiveMeter
from orchestration.runtime.worker.observed import ObservedCore, ObservedDriver, Observer
from orchestration.runtime.worker.overdue import Overdue
from orchestration.runtime.worker.save_schedule import SaveSchedule
from orchestration.runtime.worker.timed import TimedAppends, TimedReads
from orchestration.runtime.worker.timer_slack import PUNCTUAL, set_timer_slack
from orchestration.runtime.worker.together import JointStores
from orchestration.runtime.worker.watch import LogWatch
from orchestration.settings import Settings, SettingsUpdate
from orchestration.store_factory import index_file, log_file, open_patiently
from orchestration.telemetry import names
from orchestration.telemetry.logs import configure_logs
from orchestration.telemetry.tracing.span_recorder import SpanRecorder
from orchestration.telemetry.tracing.spans import Recorder
from orchestration.telemetry.tracing.starting import begin
from orchestration.wiring import ActorPlan

_log = structlog.get_logger(__name__)
_CATCH_UP = 4.0
"""Seconds between two looks at the log for what answers rest on: what came since is read when somebody asks."""


class Wiring(Protocol):
    """What a wiring module offers; ``orchestration.wiring`` is the one of this package."""

    plan: Callable[..., Sequence[ActorPlan]]
    build_shell: Callable[..., Awaitable[ActorShell]]
    in_common: Callable[[Settings, Stores, Embedder], Awaitable[Mapping[str, Any]]]


def wiring_of(run: RunOrders) -> Wiring:
    """The module that puts the mind's cores together."""
    module: Wiring = importlib.import_module(run.wiring)
    return module


class ActorProcess:
    """One actor in a Ray worker, or a pack of them.

    ``live`` may be called again when it failed: state comes from the stores each time.
    """

    def __init__(self, orders: ActorOrders) -> None:
        self._orders = orders

    def live(self, restarts: int, configured: SettingsUpdate | None = None, orders: ActorOrders | None = None) -> str:
        """Live until told to stop, or until an error; returns an ``Ending``.

        ``configured``: what changed of the settings since this process was given its orders. ``orders``: what those are
        by now.
        """
        gc.enable()  # off since its process began (``worker.py``)
        set_timer_slack(PUNCTUAL)  # this thread and those it starts; Ray's may take their time
        raylet: Any = importlib.import_module("ray._raylet")
        raylet.setproctitle(f"{processes.TITLE}{self._orders.name}")
        ending = asyncio.run(live(orders or self._orders, restarts, configured))
        if ending is Ending.OUTLIVED:
            os._exit(1)  # nobody waits for it: Ray, or what is left of it here, gave it up long ago
        return ending.value


async def live(orders: ActorOrders, restarts: int, configured: SettingsUpdate | None = None) -> Ending:
    """One life of a process, and of all actors in it."""
    orders = at_home(orders)
    run, name = orders.run, orders.name
    settings = run.settings
    stop_watching = processes.watch(orders.mind_pid, _orphaned) if processes.machine() == orders.machine else None
    configure_logs(
        settings.telemetry.model_copy(update={"stderr": "off"}),
        file=run.data_dir / "submind.log",
        fields={"mind": settings.mind.name, "submind": name},
    )
    chance = random.Random(secrets.randbits(64))  # noqa: S311 - waits, not secrets
    again = settings.runtime
    stores = await open_patiently(
        settings, run.data_dir, name, lambda n: backoff(n, again.store_retry, again.store_retry_most, chance)
    )
    links = Links(
        name,
        secrets.token_hex(8),
        orders.directory,
        run.run_dir,
        settings.runtime.link,
        chance,
        credentials=run.credentials,
        host=node_address() if run.credentials else "",
        number=orders.life,
    )
    accounts: list[Account] = []
    substrate, embedder = await thinking(orders, stores, accounts)
    keeping: asyncio.Task[None] | None = None
    if any(plan.faculty.answers for plan in orders.plans):
        kept = index_file(settings, run.data_dir)
        episodes = EpisodeFollower(stores, settings.view.episodes, settings.perception.interlocutors, kept=kept)
        substrate = AnsweringSubstrate(substrate, episodes, run.clock.now, model=settings.substrate.has_model)
        keeping = asyncio.create_task(episodes.keep(_CATCH_UP), name="episodes")
    overdue = Overdue(settings.runtime.supervision.stuck_after)
    recorder = begin(settings.telemetry.tracing, settings.mind.name, name)
    context = ProcessContext(orders, stores, links, substrate, embedder, overdue, chance, accounts, recorder)
    hosted = context.hosted(configured)
    try:
        overdue.start()
        await links.open()
        _log.info("actor_alive", pid=os.getpid(), restarts=restarts)
        return await hosted.live(restarts)
    except Exception as error:
        _log.exception("actor_died", error=type(error).__name__)
        raise
    finally:
        overdue.stop()
        if keeping is not None:
            keeping.cancel()
        if recorder is not None:
            await asyncio.to_thread(recorder.close)
        await links.outboxes.close(within=0.2)
        await links.close()
        await substrate.close()
        await stores.close()
        if stop_watching is not None:
            stop_watching()


def at_home(orders: ActorOrders) -> ActorOrders:
    """The same orders, with directories that are there. On another machine than the mind's process they are its own.

    Only a mind that is kept on servers has actors there: what they leave in such a directory is a log, and answers
    that need not be paid for twice.
    """
    if processes.machine() == orders.machine:
        return orders
    away = Path(tempfile.gettempdir()) / f"submind-{os.getuid()}-away"  # apart from that of a host there
    data_dir, run_dir = away / orders.run.settings.mind.name, away / orders.run.run_dir.name
    for place in (away, data_dir, run_dir):
        if wrong := make_private(place):
            raise PermissionError(f"{place} {wrong}")
    return replace(orders, run=replace(orders.run, data_dir=data_dir, run_dir=run_dir))


@dataclass(eq=False, repr=False)
class ProcessContext:
    """What the actors of one process have in common."""

    _orders: ActorOrders
    _opening: Claimed
    _links: Links
    _substrate: Substrate
    _embedder: Embedder
    _overdue: Overdue
    _chance: random.Random
    _accounts: Sequence[Account]
    _recorder: Recorder | None = None

    def __post_init__(self) -> None:
        self._alone = not is_pack(self._orders.name)
        self._claiming = asyncio.Lock()
        self._claimed = not self._orders.life
        self._stores = self._opening if self._alone else JointStores(self._opening)
        self._saves_from = asyncio.get_running_loop().time()
        self._wiring = wiring_of(self._orders.run)
        self._budget = self._orders.run.settings.substrate.budget
        self._applied = 0, self._orders.run.settings
        self._shared: asyncio.Future[Mapping[str, Any]] | None = None
        self._settling: set[asyncio.Task[None]] = set()
        self._forwarding = ForwardingTable()

    def hosted(self, configured: SettingsUpdate | None) -> LiveActor | ActorGroup:
        """Whoever lives here, found under its name by all others: the one actor there is, or all of them."""
        orders = self._orders
        hosted: LiveActor | ActorGroup
        if self._alone:
            hosted = self._begin(orders.plans[0])
        else:
            supervision = orders.run.settings.runtime.supervision
            rest = orders.fence, supervision, self._chance, self._links.forget
            hosted = group = ActorGroup(
                orders.plans,
                self._begin,
                self._stores,
                *rest,
                came=self._came,
                left=self._left,
                roster=orders.roster,
            )
            for member in group.members:
                self._links.register(member.plan.name, member)
            self._links.enlisted = partial(self._enlist, group)
        self._links.register(orders.name, hosted)
        if configured is not None:
            hosted.configure(configured)
        return hosted

    def _enlist(self, group: ActorGroup, roster: Roster) -> None:
        from orchestration.wiring import ActorPlan  # noqa: PLC0415 - it is there by now

        group.enlist(roster.version, [ActorPlan(*one) for one in roster.came], roster.gone)

    def _came(self, member: GroupMember) -> None:
        """Somebody came to live here, with a part of the budgets that is told once it has begun to."""
        orders, name = self._orders, member.plan.name
        parts = {name: 0.0, **orders.parts}
        self._orders = replace(orders, plans=(*orders.plans, member.plan), parts=parts)
        self._spend(self._budget)
        self._links.register(name, member)

    def _left(self, name: str) -> None:
        """Somebody lives here no more: its part of the budgets is another's."""
        orders = self._orders
        self._orders = replace(orders, plans=tuple(plan for plan in orders.plans if plan.name != name))
        self._spend(self._budget)

    def _begin(self, plan: ActorPlan) -> LiveActor:
        run = self._orders.run
        settings = run.settings
        meter = LiveMeter(None)

        def first() -> bool:  # whoever that is by now
            return bool(self._orders.plans) and plan.name == self._orders.plans[0].name

        async def birth(driver: Driver) -> ActorShell:
            nonlocal meter
            await self._claim()
            process = self._recorder.figures if self._recorder is not None else dict[str, float]
            meter = LiveMeter(self._substrate, process, first)
            observers = self._observers(plan, meter)
            for observer in observers:
                driver = ObservedDriver(driver, observer)
            shell = await self._wiring.build_shell(
                plan,
                settings,
                self._stores,
                driver,
                self._embedder,
                fence=self._orders.fence,
                seed=run.seed,
                **await self._in_common(),
            )
            for observer in observers:
                shell.core = ObservedCore(shell.core, observer)
            return shell

        def shared(name: str, share: Share, confirm: Callable[[], None]) -> None:
            self._orders = replace(self._orders, parts={**self._orders.parts, name: share.value})
            inherit(self._accounts, self._orders, share.predecessors, share.moved)
            self._spend(self._budget)
            settling = asyncio.create_task(self._settle_in(confirm), name=f"share-{name}")
            self._settling.add(settling)
            settling.add_done_callback(self._settling.discard)

        return LiveActor(
            birth,
            run.clock,
            self._links,
            partial(_log_watch, self._stores, self._orders),
            self._substrate,
            self._embedder,
            settings.runtime,
            SaveSchedule(settings.shell.save_every, self._saves_from, shared=not self._alone),
            self._chance,
            partial(self._apply, plan),
            overdue=self._overdue,
            meter=lambda: meter,
            population=InPopulation(plan.name, self._links, shared, self._forwarding),
        )

    async def _claim(self) -> None:
        """Have no earlier life of this process write any more, before anything is read; once. Raises as ``claim``."""
        async with self._claiming:
            if not self._claimed:
                orders = self._orders
                numbers = any(plan.faculty.numbers for plan in orders.plans)
                await self._opening.claim(orders.fence, orders.life, numbers=numbers)
                self._claimed = True

    async def _settle_in(self, confirm: Callable[[], None]) -> None:
        try:
            await self._claim()
        except SubliminalError as error:
            _log.warning("share_not_confirmed", reason=str(error))  # it is asked again
        else:
            await settle_in(self._accounts, confirm)

    def _observers(self, plan: ActorPlan, meter: LiveMeter) -> list[Observer]:
        """Who looks at an actor: of most nobody, unless the mind is traced."""
        found: list[Observer] = []
        measured = plan.faculty.metrics
        if names.READ_SECONDS in measured:
            found.append(TimedReads(meter.observe, wall))
        if names.STREAM_SECONDS in measured:
            found.append(TimedAppends(meter.observe, wall, self._stores.perceptions))
        if self._recorder is not None:
            found.append(SpanRecorder(plan.name, self._recorder))
        return found

    async def _in_common(self) -> Mapping[str, Any]:
        """What the shells of one process share, made once; by each anew where that failed."""
        if self._alone:
            return {}
        if self._shared is None:
            settings = self._orders.run.settings
            self._shared = asyncio.ensure_future(self._wiring.in_common(settings, self._stores, self._embedder))
        try:
            return await asyncio.shield(self._shared)
        except Exception:
            self._shared = None
            raise

    def _apply(self, plan: ActorPlan, live: SettingsUpdate) -> Iterator[Configured]:
        """Spend by the budget as it is by now; what an actor's core is to be told."""
        version, settings = self._applied
        if version < live.version:  # once for all who live here
            settings = live.over(settings)
            self._applied = live.version, settings
            self._spend(settings.substrate.budget)
        from orchestration.wiring import sections_of  # noqa: PLC0415 - it is there by now

        return (Configured(live.version, section) for section in sections_of(plan, settings))

    def _spend(self, budget: BudgetSettings) -> None:
        self._budget = budget
        for account in self._accounts:
            account.limit(Limits.share(budget, shares_of(self._orders)))


def _log_watch(stores: Stores, orders: ActorOrders) -> LogWatch:
    run = orders.run
    watcher = FileWatcher(log_file(run.settings, run.data_dir))
    decoder = ImageDecoder(run.settings.runtime.image_decoding, run.settings.perception.image_pixels)
    return LogWatch(stores.perceptions, run.settings.runtime.read, watcher, decoder)


def _orphaned() -> None:
    """The mind process is gone: whatever this actor would still write is for the next run to do."""
    os._exit(1)
