"""The actors of a process save and wake together, where they have no haste, and none of them too soon."""

import asyncio
import random
from contextlib import asynccontextmanager

from actors.effects import WakeAt
from actors.events import Started, Tick
from actors.shell import ActorShell
from environment.ports import WriteState
from environment.stores.sqlite import open_stores
from orchestration.clock import WallClock
from orchestration.links.addresses import Endpoint
from orchestration.links.links import Links
from orchestration.runtime.worker.actor_group import ActorGroup
from orchestration.runtime.worker.live import LiveActor
from orchestration.runtime.worker.save_schedule import SaveSchedule
from orchestration.wiring import ActorPlan
from tests.actors.substrate.scripted import ScriptedSubstrate
from tests.orchestration.runtime.crowd import TOLD, Calm
from tests.orchestration.runtime.test_actor_group import SETTINGS, SHELL
from tests.orchestration.until import until


class Sleeper(Calm):
    """Wants to be woken once, after ``wait`` seconds or up to ``leeway`` more; knows when it was, and was told."""

    def __init__(self, name, wait, leeway):
        super().__init__(name)
        self.wake, self.due, self.woken, self.told = (wait, leeway), 0.0, 0.0, 0.0

    def handle(self, event, now):
        time = asyncio.get_running_loop().time()
        if isinstance(event, Started):
            self.due = time + self.wake[0]
            return [WakeAt(now + self.wake[0], self.wake[1])]
        if isinstance(event, Tick):
            self.woken = time
        elif event == TOLD:
            self.told = time
        return super().handle(event, now)


class Watched:
    """Stores that know when whose state was written last."""

    def __init__(self, stores):
        self._stores = stores
        self.saved = {}

    def __getattr__(self, name):
        return getattr(self._stores, name)

    async def commit(self, writes, fence=0):
        await self._stores.commit(writes, fence)
        time = asyncio.get_running_loop().time()
        self.saved |= {write.name: time for write in writes if isinstance(write, WriteState)}


@asynccontextmanager
async def asleep(tmp_path, schedule, *sleepers):
    stores, chance = Watched(await open_stores(tmp_path, "mind", synchronous="OFF")), random.Random(1)
    links = Links("crowd", "a", Endpoint("nowhere", ""), tmp_path, SETTINGS.link, chance)
    cores = {one.name: one for one in sleepers}

    def begin(plan):
        async def birth(driver):
            return ActorShell(cores[plan.name], stores, driver, SHELL, embedder=None)

        return LiveActor(birth, WallClock(), links, None, ScriptedSubstrate(), None, SETTINGS, schedule, chance)

    plans = [ActorPlan(name, "cognitive") for name in cores]
    group = ActorGroup(plans, begin, stores, 0, SETTINGS.supervision, chance, print)
    life = asyncio.create_task(group.live())
    try:
        await until(lambda: len(stores.saved) == len(cores))  # the first time at once
        yield group, stores
    finally:
        group.stop()
        await asyncio.wait([life])
        await links.outboxes.close()
        await stores.close()


def here(every, later=0.0):
    return SaveSchedule(every, asyncio.get_running_loop().time() + later)


def test_the_moments_of_a_beat():
    schedule = SaveSchedule(2.0, first=1.0)
    assert [schedule.after(time) for time in (0.0, 1.0, 2.5, 3.0, 7.5)] == [1.0, 3.0, 3.0, 5.0, 9.0]
    assert schedule.within(1.5, 4.0) == 3.0
    assert schedule.within(1.5, 2.5) == 2.5, "none falls within it"
    assert schedule.within(1.5, 1.5) == 1.5


def test_who_is_alone_saves_at_once_but_not_more_often():
    shared, alone = SaveSchedule(2.0, first=1.0), SaveSchedule(2.0, first=1.0, shared=False)
    assert [shared.due(7.5, saved) for saved in (0.0, 7.2)] == [9.0, 9.0]
    assert [alone.due(7.5, saved) for saved in (0.0, 4.9, 7.2)] == [7.5, 7.5, 9.0]


async def test_who_has_leeway_is_woken_on_the_beat(tmp_path):
    schedule = here(1.5)
    sleepers = [Sleeper(f"s{n}", 1.0 + n / 20, 60.0) for n in range(20)]
    async with asleep(tmp_path, schedule, *sleepers):
        await until(lambda: all(one.woken for one in sleepers))
    # The moment an actor is told may lie before it hears of it, and a schedule between the two.
    early = [one.name for one in sleepers if one.woken < schedule.after(one.due - 0.4) - 0.01]
    assert not early, "before the beat"


async def test_who_has_none_or_too_little_does_not_wait_for_it(tmp_path):
    sleepers = [Sleeper("none", 0.05, 0.0), Sleeper("little", 0.05, 0.1)]
    async with asleep(tmp_path, here(3600.0, later=1800.0), *sleepers):
        await until(lambda: all(one.woken for one in sleepers))


async def test_what_changes_between_two_beats_is_saved_once_on_the_next(tmp_path):
    schedule = here(1.0)
    sleepers = [Sleeper(f"s{n}", 3600.0, 0.0) for n in range(3)]
    async with asleep(tmp_path, schedule, *sleepers) as (group, stores):
        before = dict(stores.saved)
        for member in group.members:
            member.deliver([(TOLD, 1.0)])
        await until(lambda: all(one.told for one in sleepers))
        await until(lambda: all(stores.saved[name] > at for name, at in before.items()))
        early = [one.name for one in sleepers if stores.saved[one.name] < schedule.after(one.told) - 0.01]
        assert not early, "before the beat"
        assert await stores.registry.state("s0") == b"1"
