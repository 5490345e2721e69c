"""One live actor in this process: real stores, real sockets, a core of the smallest mind."""

import asyncio
import random
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import pytest

from actors.core import Description, Inward
from actors.effects import Note, WakeAt
from actors.events import Configured, Post, Reinforce, Started, Tick, Vitals
from actors.settings import ShellSettings
from actors.shell import ActorShell
from actors.substrate.embedding import WordLlamaEmbedder
from environment.errors import StoreUnavailable
from environment.messages import Modality, NewPerception, Perception
from environment.ports import WriteState
from environment.stores.sqlite import open_stores
from orchestration.clock import WallClock, wall
from orchestration.links.addresses import Endpoint
from orchestration.links.links import Links
from orchestration.membership.tunables import settings_update
from orchestration.runtime.settings import ReadSettings, RuntimeSettings, SupervisionSettings
from orchestration.runtime.worker.actor_group import ActorGroup
from orchestration.runtime.worker.file_watcher import FileWatcher
from orchestration.runtime.worker.live import Ending, LiveActor
from orchestration.runtime.worker.save_schedule import SaveSchedule
from orchestration.runtime.worker.together import JointStores
from orchestration.runtime.worker.watch import LogWatch
from orchestration.settings import Settings
from orchestration.wiring import ActorPlan
from tests.actors.substrate.scripted import ScriptedSubstrate
from tests.orchestration.runtime.tiny import Counter, Doomed, Keeper, thought_of
from tests.orchestration.until import until

SETTINGS = RuntimeSettings(store_retry=0.01, store_retry_most=0.05, supervision=SupervisionSettings(settle=1))
SHELL = ShellSettings(save_every=0.05)


class Recorder(Inward):
    """A core that remembers what it handled and answers with what the test gave it."""

    def __init__(self, *effects, name="recorder"):
        self.name = name
        self.handled = []
        self.first = list(effects)

    def handle(self, event, now):
        self.handled.append(event)
        return self.first if isinstance(event, Started) else []

    def describe(self):
        return Description("cognitive", "record")

    def snapshot(self):
        return b"saved"

    def restore(self, state):
        assert state == b"saved"
        self.handled.append("restored")


class Refusing:
    """Stores that refuse as often as told, then write for real."""

    def __init__(self, stores, times):
        self._stores = stores
        self.times = times

    def __getattr__(self, name):
        return getattr(self._stores, name)

    async def commit(self, writes, fence=0):
        if self.times:
            self.times -= 1
            raise StoreUnavailable("busy", 0.01)
        await self._stores.commit(writes, fence)


class Packed:
    """One of several in a process, handled as if it were alone."""

    def __init__(self, group, name):
        self._cohort = group
        (self._member,) = (member for member in group.members if member.plan.name == name)
        self.deliver, self.health = self._member.deliver, self._member.health
        self.configure, self.stop, self.live = group.configure, group.stop, group.live

    @property
    def shell(self):
        return self._member.actor.shell


@pytest.fixture(params=["alone", "packed"])
def living(request):
    """A context in which a core lives: in a process of its own, or with neighbours. Both are to be the same to it."""
    return partial(_living, packed=request.param == "packed")


def told(live):
    """What the core hears of settings that were changed."""
    return [Configured(live.version, live.over(Settings()).submind)]


@asynccontextmanager
async def _living(tmp_path, core, *, packed, refusals=0, fence=0, substrate=None):
    stores = Refusing(await open_stores(tmp_path, "mind", synchronous="OFF"), refusals)
    used = JointStores(stores) if packed else stores
    embedder = WordLlamaEmbedder()
    links = Links(core.name, "a", Endpoint("nowhere", ""), tmp_path, SETTINGS.link, random.Random(1))

    def watch():
        watcher = FileWatcher(tmp_path / "perceptions.db-wal")
        assert watcher.sees
        return LogWatch(stores.perceptions, ReadSettings(certain=60), watcher)

    def begin(plan):
        async def birth(driver):
            mine = core if plan.name == core.name else Recorder(name=plan.name)
            return ActorShell(mine, used, driver, SHELL, embedder=embedder, fence=fence)

        substrates = substrate or ScriptedSubstrate()
        settings = SETTINGS, SaveSchedule(SHELL.save_every), random.Random(1)
        return LiveActor(birth, WallClock(), links, watch, substrates, embedder, *settings, apply=told)

    own = ActorPlan(core.name, "cognitive")
    if packed:
        plans = (ActorPlan("before", "cognitive"), own, ActorPlan("behind", "cognitive"))
        actor = Packed(
            ActorGroup(plans, begin, used, fence, SETTINGS.supervision, random.Random(1), links.forget), core.name
        )
    else:
        actor = begin(own)
    life = asyncio.create_task(actor.live(restarts=3))
    try:
        yield actor, life, stores
    finally:
        actor.stop()
        await asyncio.wait([life])
        await links.outboxes.close()
        await stores.close()


def mail(*events):
    return tuple((event, 0.5) for event in events)


async def test_it_takes_mail_wakes_up_and_saves_on_the_way_out(tmp_path, living):
    core = Recorder(WakeAt(wall() + 0.05), Note("hello", "info", {"event": "x", "n": 1}))
    async with living(tmp_path, core) as (actor, life, stores):
        actor.deliver(mail(Reinforce("early", "me", 0.1)))
        await until(lambda: any(isinstance(event, Reinforce) for event in core.handled))
        await until(lambda: any(isinstance(event, Tick) for event in core.handled))
        actor.stop()
        assert await life == Ending.STOPPED
        (report,) = [report for report in await stores.registry.reports() if report.name == core.name]
        assert report.state == "stopped"
        assert report.metrics["restarts_total"] == 3
        assert await stores.registry.state("recorder") == b"saved"


async def test_a_store_that_refuses_loses_nothing(tmp_path, living):
    core = Counter()
    async with living(tmp_path, core, refusals=5) as (actor, _, stores):
        now = wall()
        await stores.perceptions.append([NewPerception("s", now, now, text=f"{n}") for n in range(300)])
        await until(lambda: core.counted == 300)
        stores.times = 10
        await stores.perceptions.append([NewPerception("s", now, now, text="more")])
        await until(lambda: core.counted == 301)
        await until(lambda: stores.times == 0)
        await until(lambda: not actor.shell.unfinished)


async def test_an_error_in_the_core_ends_the_life_and_names_itself(tmp_path):
    async with _living(tmp_path, Doomed(), packed=False) as (actor, life, _):
        await until(lambda: actor.shell)
        actor.deliver(mail(Vitals("x", {})))
        with pytest.raises(RuntimeError, match="I cannot bear it"):
            await life


async def test_one_whose_mind_is_led_by_another_ends(tmp_path, living):
    stores = await open_stores(tmp_path, "mind")
    old = await stores.lead()
    await stores.lead()
    await stores.close()
    async with living(tmp_path, Recorder(), fence=old) as (_, life, _):
        assert await asyncio.wait_for(life, 60) == Ending.FENCED_OUT


async def test_one_of_which_a_later_life_has_begun_ends_and_leaves_that_alone(tmp_path, living):
    async with living(tmp_path, Recorder(), fence=1) as (actor, life, stores):
        assert await stores.lead() == 1
        await stores.claim(1, 1)
        await until(lambda: actor.shell)
        later = await open_stores(tmp_path, "mind")
        await later.claim(1, 2)
        await later.commit([WriteState("recorder", b"its own")], 1)
        actor.deliver(mail(Reinforce("t-1", "me", 0.1)))
        assert await asyncio.wait_for(life, 60) == Ending.OUTLIVED
        assert await later.registry.state("recorder") == b"its own"
        await later.close()


async def test_nothing_to_do_costs_nothing(tmp_path, living):
    core = Counter()
    async with living(tmp_path, core) as (actor, _, stores):
        await until(lambda: actor.shell and not actor.shell.unsaved)
        looks = []
        read = stores.perceptions.read

        async def counting(*args):
            looks.append(args)
            return await read(*args)

        stores.perceptions.read = counting
        await asyncio.sleep(0.5)
        assert not looks
        now = wall()
        await stores.perceptions.append([NewPerception("s", now, now, text="news")])
        await until(lambda: core.counted == 1)


async def test_a_log_that_cannot_be_watched_is_looked_at(tmp_path, stores):
    watcher = FileWatcher(tmp_path / "not-there")
    assert not watcher.sees
    watch = LogWatch(stores.perceptions, ReadSettings(idle=0.02), watcher)
    waiting = asyncio.create_task(watch.next(0, 10, Modality.TEXT))
    await asyncio.sleep(0.05)
    await stores.perceptions.append([NewPerception("s", 0.0, 0.0, text="late")])
    (found,) = await asyncio.wait_for(waiting, 60)
    assert found.text == "late"
    watch.close()


async def test_what_is_written_before_it_holds_is_looked_for_again(tmp_path, stores):
    """The kernel tells of a commit when it is written; until it is on the disk nobody sees it."""
    (file := tmp_path / "log").touch()
    watch = LogWatch(stores.perceptions, ReadSettings(certain=600), FileWatcher(file))
    waiting = asyncio.create_task(watch.next(0, 10, None))
    await asyncio.sleep(0.05)
    file.write_text("written")
    await asyncio.sleep(0.1)
    await stores.perceptions.append([NewPerception("s", 0.0, 0.0, text="slow disk")])
    (found,) = await asyncio.wait_for(waiting, 30)
    assert found.text == "slow disk"
    watch.close()


async def test_a_long_refusal_costs_a_bounded_amount_of_memory(tmp_path, living):
    """While the store is away mail waits in a mailbox of fixed size, and the step under way is kept once."""
    core = Keeper()
    async with living(tmp_path, core, refusals=1_000_000) as (actor, _, stores):
        await until(lambda: actor.shell)
        shell, first = actor.shell, 1
        thought = thought_of(Perception("ops", 1.0, 1.0, text="x", id="p-" + "0" * 20, seq=1), 1.0)
        for _ in range(40):
            posts = [Post("text", (replace(thought, id=f"t-{first + n:020x}"),), str(first + n)) for n in range(200)]
            actor.deliver(mail(*posts))
            first += len(posts)
            await asyncio.sleep(0.01)
        assert len(shell.mailbox) <= SHELL.mailbox
        assert len(shell._writes) <= SHELL.batch
        assert len(shell._others) <= 3 * SHELL.batch
        assert shell.counters["limit_hits:mailbox"] > 0
        handled = core.kept
        assert handled <= 2 * SHELL.batch  # no event is taken up while a step waits
        assert actor.health()["store_refusals_in_a_row"] > 3
        stores.times = 0
        await until(lambda: core.kept == handled + SHELL.mailbox)
        await until(lambda: not shell.unfinished)
    kept = await open_stores(tmp_path, "mind")
    assert len((await kept.traces.changes(0, 100_000))[1]) == core.kept
    await kept.close()


async def test_settings_that_change_reach_the_core_once_even_while_the_store_refuses(tmp_path, living):
    core = Recorder()
    async with living(tmp_path, core, refusals=3) as (actor, _, _stores):
        actor.configure(settings_update(Settings(), 2))  # before birth
        await until(lambda: Configured in map(type, core.handled))
        actor.configure(settings_update(Settings(), 1))  # an older one is none
        actor.configure(settings_update(Settings(), 3))
        await until(lambda: actor.health()["configuration"] == 3)
        versions = [event.version for event in core.handled if isinstance(event, Configured)]
        assert versions == [2, 3]
