"""A real mind under a real Ray: killed in every part of it, and back each time."""

import asyncio
import signal
from contextlib import asynccontextmanager

import pytest

from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.client import MindClient
from orchestration.clock import wall
from tests.orchestration.living import LivingMind, tiny_run
from tests.orchestration.runtime.tiny import POISON


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    with LivingMind(tmp_path_factory.mktemp("living"), tiny_run) as living:
        yield living.start()


@pytest.fixture
def mind(started):
    """It runs, whatever came of the test before."""
    return started if started.host.poll() is None else started.start()


async def perceive(mind, *texts):
    """Tell it something; answered means durable."""
    async with MindClient(mind.grpc) as client:
        now = wall()
        return await client.perceive([NewPerception("test", now, now, text=text) for text in texts])


@asynccontextmanager
async def stores_of(mind):
    stores = await open_stores(mind.data_dir, "mind")
    try:
        yield stores
    finally:
        await stores.close()


async def eventually(what, seconds=60.0):
    """The first true answer of the coroutine function ``what``."""
    async with asyncio.timeout(seconds):
        while not (answer := await what()):  # noqa: ASYNC110 - what is waited for does not know that it is
            await asyncio.sleep(0.05)
        return answer


async def traces(mind, receipts):
    """Wait until each of ``receipts`` is a trace, one version of it."""
    wanted = {f"t-{receipt.id.removeprefix('p-')}" for receipt in receipts}
    async with stores_of(mind) as stores:

        async def there():
            found = await stores.traces.get(list(wanted))
            assert {trace.version for trace in found.values()} <= {1}
            return wanted == set(found)

        await eventually(there)


async def subminds(mind):
    async with MindClient(mind.grpc) as client:
        return {report.name: report for report in await client.subminds()}


async def counted_all(mind):
    """Wait until the counter has counted each perception once, over all its lives."""
    async with stores_of(mind) as stores:
        told = len(await stores.perceptions.read(0, 100_000))

    async def counted():
        return (await subminds(mind))["text"].metrics.get("counted") == told

    await eventually(counted)


async def reported(mind, look, seconds=60.0):
    """Wait until ``look`` of ``runtime.json`` is true."""

    async def seen():
        return look(mind.report())

    await eventually(seen, seconds)


async def test_what_it_is_told_becomes_traces(mind):
    await traces(mind, await perceive(mind, *(f"line {n}" for n in range(200))))
    found = mind.processes()
    assert {"host", "mind", "raylet", "gcs", "actor:text", "actor:environment", "actor:doomed"} <= set(found)


async def test_an_actor_that_is_killed_comes_back_with_its_state(mind):
    name = "environment"
    await counted_all(mind)
    pid = mind.kill(f"actor:{name}")
    await traces(mind, await perceive(mind, "while it was dead"))
    await reported(mind, lambda report: report["actors"].get(name, {}).get("restarts"))
    assert [p.pid for p in mind.processes()[f"actor:{name}"]] != [pid]
    assert mind.report()["restarts"] == 0
    await counted_all(mind)


async def test_one_that_keeps_dying_is_quarantined_and_the_others_go_on(mind):
    if _deaths(mind.report()):  # tried again: in a life in which it has not died yet
        mind.stop()
        mind.start()
    restarting = asyncio.create_task(eventually(lambda: _restarting(mind), 60.0))
    for deaths in range(3):
        await traces(mind, await perceive(mind, POISON))
        await reported(mind, lambda report, deaths=deaths: _deaths(report) > deaths)
        if not deaths:
            await restarting
    assert "I cannot bear it" in mind.report()["actors"]["doomed"]["quarantined"]
    await eventually(lambda: _given_up(mind))  # also to those who ask
    assert "actor:doomed" not in mind.processes()
    await traces(mind, await perceive(mind, "the others go on"))


async def _given_up(mind):
    doomed = (await subminds(mind))["doomed"]
    return doomed.state == "quarantined" and "3 times" in doomed.reason


async def _restarting(mind):
    doomed = (await subminds(mind))["doomed"]
    return doomed.state == "restarting" and "I cannot bear it; it starts again" in doomed.reason


def _deaths(report):
    doomed = report["actors"].get("doomed", {})
    return doomed.get("restarts", 0) + bool(doomed.get("quarantined"))


@pytest.mark.parametrize("role", ["gcs", "mind"])
async def test_a_part_that_dies_is_replaced_while_perceptions_are_acknowledged(mind, role):
    before = mind.report()["restarts"]
    old = {p.pid for found in mind.processes().values() for p in found} - {mind.host.pid}
    mind.kill(role)
    receipts = await perceive(mind, f"while the {role} is dead")
    mind.running(before + 1)
    assert not old & {p.pid for found in mind.processes().values() for p in found}
    await traces(mind, receipts)


async def test_a_killed_host_takes_everything_with_it_and_nothing_is_lost(mind):
    receipts = await perceive(mind, *(f"just before {n}" for n in range(20)))
    mind.kill("host")
    mind.gone()
    mind.start()
    await traces(mind, receipts)
    await counted_all(mind)


async def test_asked_to_stop_it_saves_and_leaves_nothing(mind):
    await traces(mind, await perceive(mind, "the last"))
    assert mind.stop(signal.SIGINT) == 0
    mind.gone()
    assert (mind.data_dir / "mind.err").read_text() == ""
    async with stores_of(mind) as stores:
        assert {report.state for report in await stores.registry.reports()} == {"stopped"}
    mind.start()
    await counted_all(mind)
