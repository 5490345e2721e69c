"""Watch, Explain, Search, GetTrace and the mind's own figures, as a stock client sees them."""

import asyncio

import grpc
import pytest

from environment.messages import EntryKind
from orchestration.pb.submind.v1 import consciousness_pb2
from tests.orchestration.gateway.conftest import refusal
from tests.orchestration.until import until


async def take(call, count):
    found = []
    async with asyncio.timeout(60):
        while len(found) < count:
            answer = await call.read()
            found += [answer.entry] if answer.HasField("entry") else []
    return found


async def drain(call, into):
    while (answer := await call.read()) is not grpc.aio.EOF:
        into += [answer.entry.seq] if answer.HasField("entry") else []


async def test_filters(gateway):
    await gateway.think(1, 2, text="the DISK is full")
    await gateway.think(3, 1, kind=EntryKind.SEGUE)
    await gateway.think(4, 1, salience=0.99)
    everything = {1: {"contains": "disk"}, 3: {"kinds": [consciousness_pb2.ENTRY_KIND_SEGUE]}, 4: {"min_salience": 0.9}}
    for seq, wanted in everything.items():
        assert [entry.seq for entry in await take(gateway.watch(1, **wanted), 1)] == [seq]
    call = gateway.watch(1, source="nobody")
    passed = [await call.read() for _ in range(2)]  # where it begins, and how far it was looked at
    assert [(one.HasField("entry"), one.mark) for one in passed] == [(False, 0), (False, 4)]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await call.read()


async def test_a_reader_who_reads_nothing_is_not_buffered_and_is_let_go(serve):
    async with serve(reader_timeout=0.5) as gateway:
        await gateway.think(1, 800, text="x" * 20_000)
        fetched = 0
        read = gateway.stores.stream.read

        async def counted(*args):
            nonlocal fetched
            found = await read(*args)
            fetched += len(found)
            return found

        gateway.stores.stream.read = counted
        slow = gateway.watch(1)
        await take(slow, 1)
        await until(lambda: gateway.server.figures()["gateway_open:watchers"] == 1)
        other = gateway.watch(799)  # others are served meanwhile
        assert [entry.seq for entry in await take(other, 2)] == [799, 800]
        other.cancel()
        await asyncio.sleep(0.2)
        assert fetched < 700
        await until(lambda: gateway.server.figures()["gateway_open:watchers"] == 0)
        kept = []
        failed = await refusal(drain(slow, kept))
        assert failed.code is grpc.StatusCode.ABORTED
        following = len(kept) + 2
        assert kept == list(range(2, following))  # what was under way still comes, in order
        assert following < 800
        again = gateway.watch(following)
        assert [entry.seq for entry in await take(again, 3)] == [following, following + 1, following + 2]


async def test_readers_who_vanish_are_forgotten_and_too_many_are_asked_to_come_back(serve):
    async with serve(watchers=2) as gateway:
        calls = [gateway.watch(1) for _ in range(2)]
        await until(lambda: gateway.tail.waiting == 2)
        failed = await refusal(gateway.watch(1).read())
        assert (failed.code, failed.quota) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "gateway.watchers")
        for call in calls:
            call.cancel()
        await until(lambda: gateway.tail.waiting == 0)
        await until(lambda: gateway.server.figures()["gateway_open:watchers"] == 0)
        await gateway.think(1)
        assert [entry.seq for entry in await take(gateway.watch(1), 1)] == [1]


async def test_stopping_ends_readers_unavailable(gateway):
    await gateway.think(1)
    call = gateway.watch(1)
    await take(call, 1)
    stop = asyncio.ensure_future(gateway.server.stop())
    failed = await refusal(call.read())
    assert failed.code is grpc.StatusCode.UNAVAILABLE
    assert failed.retry_after > 0
    await stop
