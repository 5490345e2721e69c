"""Two lives of one actor's process at once, as the mind process begins them, without a cluster between them."""

import asyncio
import logging
import os

import pytest
import structlog

from environment.ports import WriteState
from environment.stores.sqlite import open_stores
from orchestration.clock import WallClock
from orchestration.links.directory import Directory
from orchestration.links.frames import Stop
from orchestration.runtime import processes
from orchestration.runtime.orders import ActorOrders, RunOrders
from orchestration.runtime.worker.actor import live
from orchestration.runtime.worker.live import Ending
from orchestration.wiring import ActorPlan
from tests.orchestration.runtime import speaking
from tests.orchestration.until import until


@pytest.fixture
async def begun(tmp_path):
    """Begins lives of the process of ``environment``; the directory they know."""
    told, tasks, root = [], [], logging.getLogger()
    handlers, level = root.handlers[:], root.level  # a process of an actor sets up logging
    run_dir = tmp_path / "run"
    settings = speaking.settings()
    directory = Directory(run_dir, settings.runtime.link, outlived=told.append)
    await directory.open()
    stores = await open_stores(tmp_path, "mind")
    fence = await stores.lead()
    run = RunOrders(settings, tmp_path, run_dir, WallClock(), 1, "tests.orchestration.runtime.speaking")
    plans = (ActorPlan("environment", "environment", ("a goal",)),)

    def begin(life, *, announced=True):
        if announced:
            directory.begin("environment", life)
        here = processes.machine()
        orders = ActorOrders(run, "environment", plans, fence, os.getpid(), here, 1, directory.endpoint, life=life)
        tasks.append(asyncio.create_task(live(orders, 0)))
        return tasks[-1]

    begin.directory, begin.told, begin.stores, begin.fence = directory, told, stores, fence
    yield begin
    directory.tell(Stop("environment"))
    for task in tasks:
        await asyncio.wait([task], timeout=60)
        task.cancel()
    await stores.close()
    await directory.close()
    structlog.reset_defaults()
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:], root.level = handlers, level


async def born(begun):
    pong = await begun.directory.ping("environment", 5.0)
    return pong is not None and pong.health["born"]


async def alive(begun):
    async with asyncio.timeout(60):
        while not await born(begun):  # noqa: ASYNC110 - it is asked
            await asyncio.sleep(0.02)


async def test_the_earlier_is_told_to_stop_and_what_it_would_save_is_refused(begun):
    first = begun(1)
    await alive(begun)
    second = begun(2)
    assert await asyncio.wait_for(first, 60) in {Ending.OUTLIVED, Ending.STOPPED}  # whether the other had claimed yet
    await until(lambda: begun.told == ["environment"])
    await alive(begun)
    begun.directory.tell(Stop("environment"))
    assert await asyncio.wait_for(second, 60) is Ending.STOPPED


async def test_one_that_comes_late_ends_before_it_has_read_anything(begun):
    await begun.stores.commit([WriteState("environment", b"")], begun.fence)
    second = begun(2)
    await alive(begun)
    late = begun(1, announced=False)
    assert await asyncio.wait_for(late, 60) is Ending.OUTLIVED
    await until(lambda: begun.directory.find("environment"))
    await alive(begun)
    assert not second.done()
