"""Telling a mind a great deal."""

import asyncio
import math
import random

import pytest

from orchestration.client import MindClient, Rejected
from tests.environment.stores.making import NOON, perception
from tests.orchestration.client.conftest import lines
from tests.orchestration.until import until


async def slowly(perceptions, pause=0.0):
    for one in perceptions:
        await asyncio.sleep(pause)
        yield one


async def test_a_source_that_pauses_does_not_keep_what_it_gave_waiting(gateway, mind):
    more = asyncio.Event()

    async def source():
        yield perception(1, time=NOON)
        await more.wait()
        yield perception(2, time=NOON)

    receipts = mind.perceive_many(source(), batch=64, linger=0.01)
    assert (await anext(receipts)).new
    assert await gateway.texts() == ["line 1"]
    more.set()
    assert (await anext(receipts)).new
    with pytest.raises(StopAsyncIteration):
        await anext(receipts)


async def test_a_source_that_fails_is_told_up_to_there(gateway, mind):
    async def source():
        for one in lines(10):
            yield one
        raise OSError("the disk is away")

    receipts = []

    async def upload():
        async for receipt in mind.perceive_many(source(), batch=4):
            receipts.append(receipt)  # noqa: PERF401 - kept though it fails

    with pytest.raises(OSError, match="away"):
        await upload()
    assert len(receipts) == 10
    assert len(await gateway.texts()) == 10


async def test_reading_stops_while_the_mind_is_behind(serve):
    async with serve() as gateway, MindClient(gateway.target) as mind:
        gateway.log.may.clear()
        taken = 0

        async def source():
            nonlocal taken
            for one in lines(2000):
                taken += 1
                yield one

        upload = asyncio.ensure_future(anext(mind.perceive_many(source(), batch=10, window=4)))
        await until(lambda: gateway.log.commits)
        held = -1
        while held != taken:
            held = taken
            await asyncio.sleep(0.1)
        assert taken <= 10 * (4 + 3)  # in flight, ready, being filled
        gateway.log.may.set()
        assert (await upload).new


async def test_what_no_message_can_hold_is_handed_back_and_never_waited_for(gateway, mind):
    told = []
    batch = [perception(1), perception(2, text="half \ud800"), perception(3, time=math.nan), perception(4)]
    batch.append(perception(5, text=" "))  # which the mind refuses, not the client
    upload = mind.perceive_many(batch, refused=lambda one, why: told.append((one.text, why)))
    receipts = [receipt async for receipt in upload]
    assert [receipt.new for receipt in receipts] == [True, True]
    assert await gateway.texts() == ["line 1", "line 4"]
    (half, why), (third, _), (blank, reason) = told
    assert (half, third, blank, reason[:6]) == ("half \ud800", "line 3", " ", "text: ")
    assert "'\\ud800', half of a character" in why
    with pytest.raises(Rejected, match="half of a character"):
        _ = [receipt async for receipt in mind.perceive_many(batch)]
    with pytest.raises(Rejected, match="half of a character"):
        await mind.perceive(batch)


async def test_long_texts_share_no_message_that_would_be_too_long(gateway, mind):
    text = "x" * 900_000
    batch = [perception(number, time=NOON, text=f"{number} {text}") for number in range(24)]
    receipts = [receipt async for receipt in mind.perceive_many(batch)]
    assert [receipt.new for receipt in receipts] == [True] * 24
    assert [kept[:2].strip() for kept in await gateway.texts()] == [str(number) for number in range(24)]


async def test_an_upload_goes_on_through_restarts_and_nothing_is_lost_or_doubled(serve, free_port):
    listen = f"127.0.0.1:{free_port}"
    received = []

    async def upload(mind):
        async for receipt in mind.perceive_many(slowly(lines(900), 0.0005), batch=5, window=4):
            received.append(receipt)  # noqa: PERF401 - watched from outside

    async with MindClient(listen, retry_for=5.0, chance=random.Random(2)) as mind:
        task = None
        for life in range(4):
            async with serve(listen=listen, grace=0.1) as gateway:
                task = task or asyncio.ensure_future(upload(mind))
                if life < 3:
                    await until(lambda enough=(life + 1) * 150: len(received) >= enough)
                    await gateway.server._server.stop(0)  # as if it had been killed
                else:
                    await asyncio.wait_for(task, 60)
                    assert await gateway.texts() == [f"line {number}" for number in range(900)]
        assert len(received) == 900
        assert len({receipt.id for receipt in received}) == 900


async def test_leaving_early_ends_everything(gateway, mind):
    receipts = mind.perceive_many(slowly(lines(10_000)), batch=4)
    await anext(receipts)
    await receipts.aclose()
    await until(lambda: gateway.server.figures()["gateway_open:streams"] == 0)
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("perceive-many")]
