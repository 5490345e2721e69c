"""A whole mind through a Cassandra that is killed, and one that stands still: nothing is lost, all resumes unaided."""

import asyncio
import os
import random
import sys

import pytest

from environment.messages import NewPerception
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.schema.migrations import migrate
from environment.stores.opening import open_stores
from orchestration.client import MindClient, Unavailable
from orchestration.clock import wall
from tests.orchestration.living import LivingMind
from tests.orchestration.until import until
from tests.servers.cassandra import DC
from tests.servers.fixtures import make_keyspace

PAUSE = float(os.environ.get("SUBMIND_TEST_PAUSE", "30"))
"""Seconds for which the server stands still."""


def speaking_run(data_dir):
    return [sys.executable, "-m", "tests.orchestration.runtime.speaking", str(data_dir)]


@pytest.fixture
async def address(cassandra_of_its_own):
    from environment.stores.cassandra.driver.address import parse_address

    address = parse_address(f"cassandra://127.0.0.1:{cassandra_of_its_own.port}/away?dc={DC}")
    await make_keyspace(address)
    session = await open_session(address, rng=random.Random(1))
    await migrate(session, runner="tests", rng=random.Random(2))
    await session.close()
    return f"{address}?dc={DC}"


class Talking:
    """Somebody who says one thing after the other, each until it is acknowledged."""

    def __init__(self, living):
        self._living = living
        self.acknowledged = []
        self.refusals = 0
        self.told = []
        """When to come back, as each refusal said."""
        self._going = True
        self._task = asyncio.create_task(self._talk())

    async def _talk(self):
        async with MindClient(self._living.grpc, retry_for=0.5, timeout=20.0) as client:
            while self._going:
                text = f"line {len(self.acknowledged)}"
                now = wall()
                try:
                    await client.perceive([NewPerception("test", now, now, text=text, key=text)])
                except Unavailable as error:
                    self.told.append(error.retry_after)
                    self.refusals += 1
                    await asyncio.sleep(0.2)
                    continue
                self.acknowledged.append(text)
                await asyncio.sleep(0.02)

    async def more(self, count=30, seconds=120.0):
        wanted = len(self.acknowledged) + count
        async with asyncio.timeout(seconds):
            while len(self.acknowledged) < wanted:
                assert not self._task.done(), self._task.exception()
                await asyncio.sleep(0.1)

    async def end(self):
        self._going = False
        await self._task


@pytest.mark.timeout(900)
async def test_a_mind_goes_on_through_a_killed_and_a_paused_store(cassandra_of_its_own, address, tmp_path):
    server = cassandra_of_its_own
    with LivingMind(tmp_path / "mind", speaking_run, {"SUBMIND__STORE__ADDRESS": address}) as living:
        await asyncio.to_thread(living.start)
        talking = Talking(living)
        await talking.more()
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(3)
        living.kill("actor:text")  # and comes back while there is no store to read its state from
        await until(lambda: talking.refusals)
        await asyncio.sleep(5)
        await asyncio.to_thread(server.start)
        await talking.more()
        refusals = talking.refusals
        server.pause()
        await asyncio.sleep(PAUSE)
        server.resume()
        await talking.more()
        assert talking.refusals > refusals
        assert any(talking.told)
        assert all(after is None or after > 0 for after in talking.told)
        await talking.end()
        stores = await open_stores(address, "mind", writer="tests")
        try:
            perceived = await stores.perceptions.read(0, 1_000_000)
            assert [p.seq for p in perceived] == list(range(1, len(perceived) + 1))
            assert [p.text for p in perceived] == talking.acknowledged
            async with asyncio.timeout(120):
                while True:
                    entries = await stores.stream.read(1, 1_000_000)
                    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
                    said = [entry.text for entry in entries]
                    assert len(set(said)) == len(said)
                    if set(said) == set(talking.acknowledged):
                        break
                    await asyncio.sleep(0.5)
        finally:
            await stores.close()
        report = living.report()
        assert not any(actor["quarantined"] for actor in report["actors"].values())
