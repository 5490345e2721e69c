"""A real mind under a real Ray whose subminds share a process: one dies, one hangs, all are killed, all come back."""

import asyncio
import re

import pytest

from tests.orchestration.host.test_living import eventually, perceive, reported, stores_of, subminds
from tests.orchestration.living import LivingMind, tiny_run
from tests.orchestration.runtime.crowd import CALM

PACKED = {
    "TINY": "tests.orchestration.runtime.crowd",
    "SUBMIND__RUNTIME__SUBMINDS_PER_ACTOR__COGNITIVE": "8",
    "SUBMIND__RUNTIME__SUPERVISION__STUCK_AFTER": "5s",
}


@pytest.fixture(scope="module")
def mind(tmp_path_factory):
    with LivingMind(tmp_path_factory.mktemp("packed"), tiny_run, PACKED) as living:
        yield living.start()


async def heard(mind, least):
    """Tell the calm until each has heard at least so much; what was in flight when their process ended is lost."""

    async def all_of_them():
        reports = await subminds(mind)
        missing = [name for name in CALM if reports[name].metrics.get("heard", 0) < least]
        if missing:
            await perceive(mind, *(f"tell {name}" for name in missing))
            await asyncio.sleep(0.5)
        return not missing

    await eventually(all_of_them, 60.0)


async def test_they_share_a_process_and_each_is_reached_and_reports(mind):
    found = mind.processes()
    assert {"actor:text", "actor:environment", "actor:cognitive~1"} <= set(found)
    assert not any(name in role for role in found for name in (*CALM, "doomed", "stuck"))
    await heard(mind, 1)
    reports = await subminds(mind)
    assert {reports[name].state for name in (*CALM, "doomed", "stuck")} == {"running"}
    assert all(reports[name].metrics["messages_received_total"] >= 1 for name in CALM)


async def test_one_that_hangs_is_named_and_restarted_alone(mind):
    await heard(mind, 1)  # they have begun
    (process,) = mind.processes()["actor:cognitive~1"]
    await perceive(mind, "tell stuck")
    await reported(mind, lambda report: report["actors"].get("stuck", {}).get("restarts"), 60.0)
    assert re.search(r'"submind":"stuck".*"event":"core_stuck"', (mind.data_dir / "submind.log").read_text("utf-8"))
    await heard(mind, 3)
    assert [p.pid for p in mind.processes()["actor:cognitive~1"]] == [process.pid]


async def test_when_their_process_is_killed_all_come_back_with_what_they_knew(mind):
    await heard(mind, 4)
    reports = await subminds(mind)
    before = {name: reports[name].metrics.get("restarts_total", 0) for name in CALM}
    pid = mind.kill("actor:cognitive~1")

    async def back():
        reports = await subminds(mind)
        return all(
            reports[n].state == "running" and reports[n].metrics.get("restarts_total", 0) > before[n] for n in CALM
        )

    await eventually(back)
    assert mind.report()["actors"]["cognitive~1"]["restarts"]
    reports = await subminds(mind)
    assert all(reports[name].metrics["heard"] >= 4 for name in CALM)
    assert [p.pid for p in mind.processes()["actor:cognitive~1"]] != [pid]
    await heard(mind, 5)


async def test_asked_to_stop_they_all_save(mind):
    await heard(mind, 1)  # they have begun, and have something to save
    assert mind.stop() == 0
    mind.gone()
    async with stores_of(mind) as stores:
        states = {report.name: report.state for report in await stores.registry.reports()}
    assert {states[name] for name in CALM} == {"stopped"}
