"""Ingestion and the stream through a Cassandra that is killed, and one that stands still for half a minute."""

import asyncio
import random
from collections import Counter

import grpc
import pytest

from environment.errors import StoreUnavailable
from environment.ports import WriteEntries
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.schema.migrations import migrate
from environment.stores.opening import open_stores
from orchestration.client.mind import MindClient
from tests.environment.stores.making import entry
from tests.orchestration.gateway.conftest import Details, perceived, request, serving
from tests.orchestration.until import until
from tests.servers.fixtures import make_keyspace

CLIENTS = 8
ENOUGH = 200
"""Perceptions that are acknowledged before the next thing happens."""


class Feeding:
    """Clients that send one perception after the other, each until it is acknowledged."""

    def __init__(self, gateway):
        self.gateway = gateway
        self.acknowledged = {}
        self.refusals = []
        self.going = True
        self.tasks = [asyncio.ensure_future(self.feed(client)) for client in range(CLIENTS)]

    async def feed(self, client):
        number = 0
        while self.going:
            key = f"{client}-{number}"
            try:
                answer = await self.gateway.perception.Perceive(
                    request(perceived(f"line {key}", source="away", idempotency_key=key)), timeout=60
                )
            except grpc.aio.AioRpcError as error:
                self.refusals.append(Details(error))
                await asyncio.sleep(min(self.refusals[-1].retry_after or 1.0, 1.0))
                continue
            self.acknowledged[key] = answer.receipts[0].id
            number += 1

    async def until_resumed(self, within=120.0):
        loop = asyncio.get_running_loop()
        target, until = len(self.acknowledged) + ENOUGH, loop.time() + within
        while len(self.acknowledged) < target:
            for task in self.tasks:
                assert not task.done(), task.exception()
            assert loop.time() < until, Counter((one.code, one.text) for one in self.refusals)
            await asyncio.sleep(0.1)

    async def end(self):
        self.going = False
        await asyncio.gather(*self.tasks)


class Thinking:
    """The one who writes the stream: the next entry is written when the last surely is."""

    def __init__(self, stores, fence):
        self.stores = stores
        self.fence = fence
        self.said = 0
        self.going = True
        self.task = asyncio.ensure_future(self.think())

    async def think(self):
        while self.going:
            try:
                await self.stores.commit([WriteEntries((entry(self.said + 1),))], self.fence)
                self.said += 1
            except StoreUnavailable as error:
                await asyncio.sleep(error.retry_after)
            await asyncio.sleep(0.02)

    async def until_resumed(self, within=120.0):
        before = self.said
        async with asyncio.timeout(within):
            while self.said == before:
                assert not self.task.done(), self.task.exception()
                await asyncio.sleep(0.1)

    async def end(self):
        self.going = False
        await self.task


@pytest.fixture
async def address(cassandra_of_its_own):
    address = cassandra_of_its_own.address("minds")
    await make_keyspace(address)
    session = await open_session(address, rng=random.Random(1))
    await migrate(session, runner="tests", rng=random.Random(1))
    await session.close()
    return f"{address}?dc={address.dc}"


async def watch(target, seen):
    async with MindClient(target, retry_for=300.0) as client:
        async for one in client.watch(1):
            seen.append(one.seq)


@pytest.mark.timeout(400)
async def test_nothing_acknowledged_is_lost_and_all_resumes_by_itself(cassandra_of_its_own, address, tmp_path):
    server = cassandra_of_its_own
    stores = await open_stores(address, "alpha", writer="host")
    thinker = await open_stores(address, "alpha", writer="stream")
    fence = await thinker.lead()
    seen = []
    async with serving(tmp_path, stores=stores) as gateway:
        watching = asyncio.ensure_future(watch(gateway.target, seen))
        feeding, thinking = Feeding(gateway), Thinking(thinker, fence)
        await feeding.until_resumed()

        await asyncio.to_thread(server.kill)
        await until(lambda: any(one.code is grpc.StatusCode.UNAVAILABLE for one in feeding.refusals))
        await asyncio.sleep(5.0)
        refused = [one for one in feeding.refusals if one.code is grpc.StatusCode.UNAVAILABLE]
        assert refused
        assert all(one.retry_after > 0 for one in refused)
        await asyncio.to_thread(server.start)
        await feeding.until_resumed()
        await thinking.until_resumed()

        server.pause()
        await asyncio.sleep(30.0)
        assert len(feeding.refusals) > len(refused)
        server.resume()
        await feeding.until_resumed()
        await thinking.until_resumed()

        await feeding.end()
        await thinking.end()
        assert {one.code for one in feeding.refusals} == {grpc.StatusCode.UNAVAILABLE}

        there, after = [], 0
        while page := await stores.perceptions.read(after, 500):
            there += page
            after = page[-1].seq
        ids = {one.key: one.id for one in there}
        assert len(ids) == len(there)
        assert {key: ids.get(key) for key in feeding.acknowledged} == feeding.acknowledged
        numbers = [one.seq for one in await stores.stream.read(1, thinking.said + 10)]
        assert numbers == list(range(1, thinking.said + 1))
        async with asyncio.timeout(60):
            while len(seen) < thinking.said:  # noqa: ASYNC110 - it grows in another task, entry by entry
                await asyncio.sleep(0.1)
        assert seen == numbers
        watching.cancel()
    await thinker.close()
