"""What a client that is closed, left alone or kept waiting does: nothing hangs, nothing is asked twice."""

import asyncio
import random

import pytest

from orchestration.client import Closed, MindClient
from tests.orchestration.access.conftest import keys  # noqa: F401 - a fixture
from tests.orchestration.access.conftest import serve as guarded  # noqa: F401 - a fixture
from tests.orchestration.client.conftest import lines
from tests.orchestration.until import until


async def never():
    for one in lines(1):
        yield one
    await asyncio.Event().wait()


async def first_receipts(mind):
    return [receipt async for receipt in mind.perceive_many(never())]


async def entries(mind):
    return [entry async for entry in mind.watch(1)]


@pytest.mark.parametrize("work", [entries, first_receipts])
async def test_what_is_under_way_when_it_is_closed_ends_with_a_word_and_leaves_no_task(gateway, work):
    before = asyncio.all_tasks()
    mind = MindClient(gateway.target, retry_for=5.0)
    working = asyncio.create_task(work(mind))
    await until(lambda: sum(gateway.server._guard.open.values()) == 1)
    await asyncio.sleep(0.1)
    await mind.close()
    with pytest.raises(Closed, match="this client was closed"):
        await asyncio.wait_for(working, 60)
    with pytest.raises(Closed):
        await mind.status()  # and no connection is opened that nobody would close
    assert mind._open is None
    await until(lambda: not [task for task in asyncio.all_tasks() - before if "perceive" in task.get_name()])


async def test_who_is_cancelled_is_cancelled_also_when_it_was_closed(gateway):
    mind = MindClient(gateway.target)
    working = asyncio.create_task(entries(mind))
    await until(lambda: sum(gateway.server._guard.open.values()) == 1)
    working.cancel()
    await mind.close()
    with pytest.raises(asyncio.CancelledError):
        await working


class Slow:
    """Takes its time over each order, and counts them."""

    def __init__(self):
        self.asked = 0

    async def restart(self, name):
        self.asked += 1
        await asyncio.sleep(1.0)
        return [name]


async def test_an_order_that_takes_long_is_given_once(guarded, keys):  # noqa: F811
    token = keys.make("ops")
    async with guarded() as served:
        slow = Slow()
        served.nodes.restart = slow.restart
        async with MindClient(served.target, token=token, timeout=0.3, retry_for=5.0) as mind:
            assert await mind.nodes().restart("causes") == ["causes"]
        assert slow.asked == 1


@pytest.mark.parametrize("work", ["watch", "tell"])
async def test_once_let_in_it_waits_for_ever_though_nothing_was_ever_said(serve, free_port, work):
    listen = f"127.0.0.1:{free_port}"
    go_on = asyncio.Event()

    async def told_later():
        await go_on.wait()
        for one in lines(1):
            yield one

    async with MindClient(listen, retry_for=1.0, chance=random.Random(3)) as mind:
        async with serve(listen=listen, grace=0.1) as gateway:
            waiting = mind.watch(1) if work == "watch" else mind.perceive_many(told_later())
            first = asyncio.ensure_future(anext(waiting))
            await until(lambda: sum(gateway.server._guard.open.values()) == 1)
            await asyncio.sleep(0.2)
        await asyncio.sleep(2.5)  # more than twice as long as it has patience
        async with serve(listen=listen) as gateway:
            await gateway.think(1, 1)
            go_on.set()
            assert (await asyncio.wait_for(first, 60)).seq == 1
            await waiting.aclose()
