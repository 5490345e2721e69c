"""Several actors in one process: what happens to one happens to no other."""

import asyncio
import random
import time
from contextlib import asynccontextmanager

import pytest

from actors.settings import ShellSettings
from actors.shell import ActorShell
from actors.substrate.embedding import WordLlamaEmbedder
from environment.errors import SequenceGap
from environment.ports import WriteEntries, WriteState
from environment.stores.sqlite import open_stores
from orchestration.clock import WallClock
from orchestration.links.addresses import Endpoint
from orchestration.links.links import Links
from orchestration.runtime.hosting.packing import pack
from orchestration.runtime.settings import DensitySettings, RuntimeSettings, SupervisionSettings
from orchestration.runtime.worker.actor_group import ActorGroup
from orchestration.runtime.worker.live import LiveActor
from orchestration.runtime.worker.overdue import CoreStuck, Overdue
from orchestration.runtime.worker.save_schedule import SaveSchedule
from orchestration.runtime.worker.together import JointStores
from orchestration.wiring import ActorPlan
from tests.actors.making import entry
from tests.actors.substrate.scripted import ScriptedSubstrate
from tests.orchestration.runtime.crowd import CALM, TOLD, core_of
from tests.orchestration.until import until

SETTINGS = RuntimeSettings(supervision=SupervisionSettings(settle=4, deaths=2, backoff=0.05, backoff_most=0.1))
SHELL = ShellSettings(save_every=0.05)


@asynccontextmanager
async def crowd(tmp_path, *more, stuck_after=60.0):
    stores = JointStores(await open_stores(tmp_path, "mind", synchronous="OFF"))
    embedder, chance = WordLlamaEmbedder(), random.Random(1)
    links = Links("crowd", "a", Endpoint("nowhere", ""), tmp_path, SETTINGS.link, chance)
    overdue, gone = Overdue(stuck_after), []

    def begin(plan):
        async def birth(driver):
            return ActorShell(core_of(plan.name), stores, driver, SHELL, embedder=embedder)

        rest = None, ScriptedSubstrate(), embedder, SETTINGS, SaveSchedule(SHELL.save_every), chance
        return LiveActor(birth, WallClock(), links, *rest, overdue=overdue)

    plans = [ActorPlan(name, "cognitive", ("be",)) for name in (*CALM, *more)]
    group = ActorGroup(plans, begin, stores, 0, SETTINGS.supervision, chance, gone.append)
    overdue.start()
    life = asyncio.create_task(group.live())
    try:
        yield {member.plan.name: member for member in group.members}, group, stores, life
    finally:
        group.stop()
        await asyncio.wait([life])
        overdue.stop()
        await links.outboxes.close()
        await stores.close()


def tell(member):
    member.deliver([(TOLD, 1.0)])


async def reports(stores):
    return {report.name: report for report in await stores.registry.reports()}


async def test_one_that_dies_comes_back_alone_and_is_given_up_alone(tmp_path):
    async with crowd(tmp_path, "doomed") as (members, group, stores, _):
        await until(lambda: group.health()["born"])
        shells = {name: members[name].actor.shell for name in CALM}
        for deaths in (1, 2):
            tell(members["doomed"])
            await until(lambda deaths=deaths: members["doomed"].policy.restarts == deaths)
            await until(lambda: members["doomed"].actor.shell)
            assert members["doomed"].actor.shell.counters["restarts_total"] == deaths
        assert group.health()["restarts:doomed"] == 2
        tell(members["doomed"])
        await until(lambda: members["doomed"].quarantined)
        assert "I cannot bear it" in members["doomed"].quarantined
        assert group.health()["quarantined:doomed"] == 1
        tell(members["doomed"])  # nobody is there
        for name in CALM:
            tell(members[name])
        await until(lambda: all(members[name].actor.shell.core.describe().figures["heard"] == 1 for name in CALM))
        assert {name: members[name].actor.shell for name in CALM} == shells
        async with asyncio.timeout(60):
            while (await reports(stores))["doomed"].state != "quarantined":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert group.health()["born"]
        assert group.health()["living"] == 3


async def test_one_that_hangs_comes_back_alone(tmp_path):
    async with crowd(tmp_path, "stuck", stuck_after=0.3) as (members, group, _, _):
        await until(lambda: group.health()["born"])
        shells = {name: members[name].actor.shell for name in CALM}
        tell(members["stuck"])
        await until(lambda: group.health().get("restarts:stuck") == 1 and group.health()["living"] == 4)
        tell(members[CALM[0]])
        await until(lambda: members[CALM[0]].actor.shell.core.describe().figures["heard"] == 1)
        assert {name: members[name].actor.shell for name in CALM} == shells


def named(*names):
    return [ActorPlan(name, "cognitive", ("be",)) for name in names]


async def test_who_comes_and_who_leaves_disturbs_nobody(tmp_path):
    async with crowd(tmp_path, "doomed") as (members, group, stores, _):
        await until(lambda: group.health()["born"])
        stay, leave = CALM[0], CALM[1]
        shell = members[stay].actor.shell
        tell(members[leave])
        await until(lambda: members[leave].actor.shell.core.describe().figures["heard"] == 1)
        group.enlist(1, named("late"), [leave])
        group.enlist(1, named("never"), [])  # said again, or too late
        late = next(member for member in group.members if member.plan.name == "late")
        tell(late)
        await until(lambda: late.actor.shell and late.actor.shell.core.describe().figures["heard"] == 1)
        await until(lambda: group.health()["roster"] == 1)
        assert {member.plan.name for member in group.members} == {*CALM, "doomed", "late"} - {leave}
        assert await stores.registry.state(leave) == b"1", "it saved"
        assert (await reports(stores))[leave].state == "stopped"
        for deaths in (1, 2, 3):  # one that is given up can leave as well
            tell(members["doomed"])
            await until(
                lambda deaths=deaths: members["doomed"].policy.restarts == deaths or members["doomed"].quarantined
            )
            await until(lambda: members["doomed"].actor.shell or members["doomed"].quarantined)
        await until(lambda: members["doomed"].quarantined)
        await until(lambda: "doomed" not in {task.get_name() for task in asyncio.all_tasks()})
        group.enlist(2, [], [leave, "doomed", "late"])
        await until(lambda: group.health()["roster"] == 2)
        assert {member.plan.name for member in group.members} == {*CALM} - {leave}
        assert members[stay].actor.shell is shell


async def test_one_that_is_named_again_while_it_leaves_lives_on_with_what_it_saved(tmp_path):
    one, other = CALM[:2]
    async with crowd(tmp_path) as (members, group, stores, _):
        await until(lambda: group.health()["born"])
        tell(members[one])
        await until(lambda: members[one].actor.shell.core.describe().figures["heard"] == 1)
        group.enlist(1, [], [one, other])
        group.enlist(2, named(one), [other])  # before it could save
        await until(lambda: group.health()["roster"] == 2 and group.health()["born"])
        assert sorted(member.plan.name for member in group.members) == sorted({*CALM} - {other})
        again = next(member for member in group.members if member.plan.name == one)
        assert again is not members[one]
        assert again.actor.shell.core.describe().figures["heard"] == 1
        assert await stores.registry.state(one) == b"1"

        group.enlist(3, [], [])  # one of the first comes back, long after it left
        await until(lambda: group.health()["roster"] == 3 and group.health()["born"])
        assert sorted(member.plan.name for member in group.members) == sorted(CALM)

        group.enlist(4, [], [one])
        group.enlist(5, named(one), [])
        group.enlist(6, [], [one])  # and away once more, before it was there
        await until(lambda: group.health()["roster"] == 6)
        assert sorted(member.plan.name for member in group.members) == sorted({*CALM} - {one})


async def test_what_takes_too_long_is_interrupted_wherever_it_waits():
    overdue = Overdue(0.2)
    overdue.start()
    try:
        assert overdue.call("quick", lambda: 1) == 1
        with pytest.raises(CoreStuck, match=r"slow took longer than 0\.2 s"):
            overdue.call("slow", time.sleep, 30)
        assert overdue.call("quick", lambda: 2) == 2
    finally:
        overdue.stop()


async def test_commits_that_wait_are_made_together(tmp_path):
    stores = JointStores(await open_stores(tmp_path, "mind", synchronous="OFF"))
    await asyncio.gather(*(stores.commit([WriteState(f"a{n}", b"x")]) for n in range(5000)))
    assert stores.commits < 10
    assert [await stores.registry.state(f"a{n}") for n in (0, 4999)] == [b"x", b"x"]
    await stores.close()


async def test_one_that_writes_nonsense_fails_alone(tmp_path):
    stores = JointStores(await open_stores(tmp_path, "mind", synchronous="OFF"))
    gap = entry(7)
    good = [stores.commit([WriteState(f"a{n}", b"x")]) for n in range(20)]
    failed = stores.commit([WriteEntries((gap,))])
    *fine, wrong = await asyncio.gather(*good, failed, return_exceptions=True)
    assert fine == [None] * 20
    assert isinstance(wrong, SequenceGap)
    assert await stores.registry.state("a19") == b"x"
    await stores.close()


def plans(role, count):
    return [ActorPlan(f"{role}-{n}", role) for n in range(count)]


def test_who_shares_a_process():
    everyone = [ActorPlan("environment", "environment"), *plans("perceptual", 2), *plans("cognitive", 10)]
    assert [one.plans for one in pack(everyone, DensitySettings())] == [(one,) for one in everyone]
    packs = pack(everyone, DensitySettings(cognitive=4))
    assert [one.name for one in packs[:3]] == ["environment", "perceptual-0", "perceptual-1"]
    assert [(one.name, len(one.plans)) for one in packs[3:]] == [
        ("cognitive~1", 4),
        ("cognitive~2", 4),
        ("cognitive~3", 2),
    ]
    assert [plan for one in packs for plan in one.plans] == everyone
    (single,) = pack(plans("cognitive", 1), DensitySettings(cognitive=4))
    assert single.name == "cognitive~1", "others may come to live there"
