"""The population of a living mind: what is proposed goes to the guard, and what it grants comes to pass."""

import asyncio
import random
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter
from typing import Any

import structlog

from actors.effects import Divide, Retire
from actors.events import Event, Marked
from actors.growth import Gone
from actors.names import ATTENTION, KNOWLEDGE, MATTERS
from environment.errors import FencedOut, StoreUnavailable
from environment.marks import MARKS
from environment.messages import SubmindReport, SubmindState
from environment.packs import PackChange
from environment.population import Member
from environment.ports import Stores, Write, WriteConnections, WriteReport
from environment.recalls import RECALLS, Recalls
from orchestration.clock import wall
from orchestration.forgetting import forget_every
from orchestration.growth.driver import GrowthDriver, Told
from orchestration.growth.proposals import GrowthVerdict
from orchestration.growth.retention import remove_retired
from orchestration.growth.shares import BudgetShares
from orchestration.links import control
from orchestration.links.directory import Directory
from orchestration.links.links import Links
from orchestration.runtime.hosting.lifecycle import Lifecycle
from orchestration.runtime.hosting.pack_files import PackFiles
from orchestration.runtime.hosting.placement_map import PlacementMap
from orchestration.runtime.orders import RunOrders
from orchestration.runtime.worker.ledgers import ledgers_of
from orchestration.tasks import log_failure
from orchestration.wiring import plan_of

_log = structlog.get_logger(__name__)
_TOTALS = {
    GrowthVerdict.GRANTED: "growth_granted_total",
    GrowthVerdict.WAITING: "growth_waiting_total",
    GrowthVerdict.REFUSED: "growth_refused_total",
}
_AGAIN = 5.0
"""Seconds between two words to a parent that it has its half only, while it does not confirm."""
_REMIND = 30.0
"""Seconds between two words to those who have not let go or taken over yet."""
_RETRY = 0.5
"""Seconds at least until a store that refused is asked again."""
_MARKS = 60.0
"""Seconds between two words to those who heed marks."""
_PARTING = 10.0
"""Seconds that one that ends has to hand on what came to it last."""


class PopulationControl:
    """Who lives in a mind, from ``begin`` to ``close``.

    Guarantees: what was granted is in the store before anybody is told, so a crash at any point leaves a population
    that the next start takes up as it is; a child begins once its parent spends half only; who has to let go or to
    take over is told at each of its births until it has.
    """

    def __init__(self, run: RunOrders, stores: Stores, fence: int) -> None:
        settings = run.settings
        self._driver = GrowthDriver(settings, stores, wall, fence)
        self.log = self._driver.log
        self.placement_map = PlacementMap(settings.runtime.subminds_per_actor)
        """Who shares which process."""
        self._run = run
        self._stores = stores
        self._fence = fence
        self._packs = PackFiles(settings.knowledge, stores, fence)
        self._lifecycle: Lifecycle | None = None
        self._links: Links | None = None
        self._heard: asyncio.Queue[Any] = asyncio.Queue()
        self._working: asyncio.Task[None] | None = None
        self._errands: set[asyncio.Task[None]] = set()
        self._shared: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._left: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._shares = BudgetShares(self.log.policy)
        self._counters: defaultdict[str, float] = defaultdict(float)

    @property
    def members(self) -> Mapping[str, Member]:
        """Everybody who was ever born."""
        return self.log.policy.members

    async def begin(self) -> list[Member]:
        """Read the log; who lives beside those configured."""
        living = await self._driver.begin()
        await self._packs.look()  # before anybody lives who reads them
        for member in self._driver.recent.changed(wall()):
            if member.retired is not None:  # it may have been left in haste
                await self._stores.commit(await self._unconnected(member.name), self._fence)
        return living

    def share(self, name: str) -> control.Share:
        """What an actor has of a configured one's budgets, and whose spending it took over with it."""
        now = wall()
        return control.Share(
            self._shares.of(name), self._shares.predecessors(name, now), self.placement_map.moves(name, now)
        )

    def part(self, name: str) -> float:
        """The first of that alone."""
        return self._shares.of(name)

    def parent(self, name: str) -> str:
        """Whose spending a submind that was born takes over; empty for those configured."""
        member = self.members.get(name)
        return member.parent if member is not None else ""

    def retired(self, name: str) -> str:
        """Why somebody does not live who was born here; empty where it is not that it retired."""
        member = self.members.get(name)
        return "" if member is None or member.living else f"it retired; {member.heir} has its topics"

    async def open(self, lifecycle: Lifecycle, directory: Directory) -> None:
        """Take in what actors propose, and let it come to pass."""
        run, self._lifecycle = self._run, lifecycle
        chance = random.Random(secrets.randbits(64))  # noqa: S311 - waits, not secrets
        self._links = Links(
            "~population",
            secrets.token_hex(8),
            directory.endpoint,
            run.run_dir,
            run.settings.runtime.link,
            chance,
            credentials=run.credentials,
            host=directory.host,
        )
        self._links.register(control.POPULATION, self)
        await self._links.open()
        self._working = asyncio.create_task(self._work(), name="population")
        self._do(self._remind(), "reminding")
        keep = run.settings.host.retention
        if keep.retired is not None:
            remove = partial(remove_retired, self._stores, self.members.values, keep.retired, self._fence, ledgers_of)
            self._do(forget_every(keep.every, remove, "subminds"), "tidying")

    async def close(self) -> None:
        """Decide nothing any more."""
        tasks = [*self._errands, *([self._working] if self._working is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._links is not None:
            await self._links.close()

    async def look(self) -> None:
        """An operator has ordered something: whoever has an approval by it hears so at once."""
        self._tell(await self._driver.ordered())

    async def tell_marks(self, made: asyncio.Event) -> None:
        """Tell who takes them in of all marks: when one was made, and now and then, since what is told may be lost.

        Of packs what changed last, as soon as that is seen; of readers what they were told of late.
        """
        while True:
            made.clear()
            try:
                marks = tuple((await MARKS.all_of(self._stores.collections)).values())
                told = [one for of in (await RECALLS.all_of(self._stores.collections)).values() for one in of.latest]
                await self._packs.look()
            except StoreUnavailable as error:
                _log.warning("marks_not_read", reason=str(error))
                marks, told = (), []
            if marks:
                self._tell((name, Marked(marks)) for name in (ATTENTION, MATTERS, KNOWLEDGE))
            if told:
                self._tell([(KNOWLEDGE, Recalls(tuple(sorted(told, key=itemgetter(1)))))])
            if self._packs.taught != PackChange():
                self._tell([(KNOWLEDGE, self._packs.taught)])
            with suppress(TimeoutError):
                async with asyncio.timeout(_MARKS):
                    await made.wait()

    # --- an actor that the links hold ---

    def deliver(self, envelopes: Sequence[tuple[Any, float]]) -> bool:
        """Take in what actors say; never waits."""
        for event, _ in envelopes:
            match event:
                case control.Shared(name, value):
                    if name in self._shared and value == self.part(name):
                        self._shared[name].set()
                case control.Left(name):
                    if name in self._left:
                        self._left[name].set()
                case control.ProposedDivision() | control.ProposedEnd() | control.HasSettled() | control.Alive():
                    self._heard.put_nowait(event)
                case _:
                    _log.warning("not_for_the_population", kind=type(event).__name__)
        return True

    def configure(self, event: object) -> None:
        """Bounds of growth do not change while a mind lives."""

    def health(self) -> Mapping[str, float]:
        """How many proposals wait to be decided on."""
        return {"mailbox": float(self._heard.qsize())}

    def stop(self) -> None:
        """It ends with the mind process."""

    @property
    def _on(self) -> Lifecycle:
        if self._lifecycle is None:
            raise RuntimeError("the population is not open")
        return self._lifecycle

    # --- deciding, one after the other ---

    async def _work(self) -> None:
        while True:
            event = await self._heard.get()
            try:
                match event:
                    case control.Alive(name):
                        await self._returned(name)
                    case control.HasSettled(owner, name):
                        await self.log.settle(name, owner)
                    case control.ProposedDivision(owner, effect) | control.ProposedEnd(owner, effect):
                        await self._consider(owner, effect)
            except StoreUnavailable as error:
                _log.warning("growth_not_decided", reason=str(error))  # whoever proposed proposes again
            except FencedOut as error:
                _log.warning("fenced_out", reason=str(error))
                self._on.fenced_out()
                return
            except Exception:  # noqa: BLE001 - one proposal less is no reason to decide on none
                _log.exception("growth_failed")

    async def _consider(self, owner: str, effect: Divide | Retire) -> None:
        crowds = self._on.crowds(len(self.log.policy.living))
        decision, told = await self._driver.consider(owner, effect, self._run.clock.now(), crowds)
        act = "divide" if isinstance(effect, Divide) else "retire"
        self._counters[_TOTALS[decision.verdict]] += 1
        if decision.limit:
            self._counters[f"limit_hits:growth_{decision.limit}"] += 1
        if decision.limit == "per_node":
            self._on.cramped()
        self._on.counted(dict(self._counters))
        _log.info("growth", submind=owner, act=act, verdict=decision.verdict.value, reason=decision.reason)
        self._tell(told)
        await self._come_to_pass()

    async def _come_to_pass(self) -> None:
        """Begin and end lives until they are those in the log."""
        for member in self._driver.turns():
            if member.living:
                self._do(self._birth(member), f"birth-{member.name}")
            else:
                self._shares.leaving.add(member.name)
                self._do(self._end(member), f"end-{member.name}")

    async def _birth(self, member: Member) -> None:
        """Start a child, once its parent's process spends its half only."""
        parent = member.parent
        await self._share_out(parent)
        if self.members[member.name].living:
            untold = await self._on.join(plan_of(member), parent)
            self._tell(self._driver.news(member))
            await self._patiently(partial(self._tell_unsettled, parent))
            if untold:
                await self._share_out(member.name)

    async def _share_out(self, name: str) -> None:
        """Tell the process of an actor what that has of the budgets now; returns once it keeps to it."""
        self._shared[name].clear()
        self._on.share(name, self.share(name))
        try:
            # A process that does not answer is ended within that time, and its next life has this.
            async with asyncio.timeout(2 * self._run.settings.runtime.supervision.hung_after):
                while not self._shared[name].is_set():
                    self._say(name, self.share(name))  # again: what is said may be lost with a connection
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_AGAIN):
                            await self._shared[name].wait()
        except TimeoutError:
            _log.warning("actor_is_silent", submind=name)
        finally:
            self._shared.pop(name, None)

    async def _end(self, member: Member) -> None:
        """End one that retired, once it has handed on what came to it last."""
        name = member.name
        heir = self._driver.heir(name)
        self._left[name].clear()
        self._tell([*self._driver.news(member), (name, Gone(name, heir))])
        self._do(self._patiently(partial(self._tell_unsettled, heir)), f"inherit-{name}")
        try:
            async with asyncio.timeout(_PARTING):
                await self._left[name].wait()
        except TimeoutError:
            _log.warning("left_in_haste", submind=name)
        del self._left[name]
        await self._on.leave(name)
        self._shares.leaving.discard(name)
        self._do(self._share_out(self._driver.heir(name)), f"share-{name}")
        await self._patiently(partial(self._say_gone, member))

    async def _say_gone(self, member: Member) -> None:
        """Say in the registry that one has ended: it may not have been able to."""
        name, said = member.name, self.retired(member.name)
        report = SubmindReport(name, member.role, " ".join(member.goals), SubmindState.STOPPED, wall(), reason=said)
        await self._stores.commit([WriteReport(report), *await self._unconnected(name)], self._fence)

    async def _unconnected(self, name: str) -> list[Write]:
        """Takes away what connections are left of one that ended before it could do so itself."""
        rows = tuple((left.topic, left.peer) for left in await self._stores.registry.connections(name))
        return [WriteConnections(name, (), rows, ())] if rows else []

    async def _returned(self, name: str) -> None:
        """Tell one that begins a life what it may not know."""
        if self.log.policy.role(name) is not None:
            self._say(name, self.share(name))
        self._tell(await self._driver.returned(name))

    async def _remind(self) -> None:
        """Tell whoever has not confirmed again, now and then: what is told may be lost, and so may the answer."""
        while True:
            await asyncio.sleep(_REMIND)
            self._tell(self._driver.news_again(wall(), _REMIND))
            await self._patiently(self._tell_unsettled)

    @staticmethod
    async def _patiently(act: Callable[[], Awaitable[None]]) -> None:
        """Do something that may be repeated, once the store answers."""
        while True:
            try:
                await act()
            except StoreUnavailable as error:
                await asyncio.sleep(max(error.retry_after, _RETRY))
            else:
                return

    async def _tell_unsettled(self, name: str = "") -> None:
        """Tell parents or heirs, all or one, what they have not confirmed."""
        self._tell(await self._driver.unsettled(name))

    def _tell(self, told: Iterable[Told]) -> None:
        for to, event in told:
            self._say(to, event)

    def _say(self, to: str, event: Event | control.Share) -> None:
        if self._links is not None:
            self._links.outboxes.put(to, event, 1.0)  # type: ignore[arg-type]  # a ``Share`` no core ever sees

    def _do(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)
        task.add_done_callback(log_failure)
