"""Three nodes, three replicas: one that dies is not missed, two are, and what was acknowledged is there all the time.

The tests use the same nodes, in their order: they take long to start.
"""

import asyncio
import random
import secrets

import pytest

from environment.errors import StoreUnavailable
from environment.ports import WriteEntries, WriteTrace
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.schema.keyspaces import create_keyspace
from environment.stores.cassandra.schema.migrations import load_migrations, migrate
from environment.stores.opening import open_stores
from tests.environment.stores.making import entry, name, perception, trace

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]
SETTINGS = CassandraSettings(reconnect_within=1.0)
PATIENCE = SETTINGS.request_timeout + SETTINGS.deadline
SLOW = 10.0
"""Seconds by which a busy machine may be late."""
_VERSION = "SELECT schema_version FROM system.local"
_TABLES = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'minds'"
_REPLICATION = "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = 'minds'"


class Mind:
    """A mind at work: it takes perceptions in, and leaves traces and entries; what is refused it offers again."""

    def __init__(self, host, mind):
        self.host, self.mind = host, mind
        self.acknowledged = {}
        self.said = 0
        self.refusals = []
        self.longest = 0.0
        self.tasks = [asyncio.ensure_future(self._think()), *(asyncio.ensure_future(self._feed(n)) for n in range(4))]

    async def _persist(self, call):
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            try:
                answer = await call()
            except StoreUnavailable as error:
                self.refusals.append(error)
                await asyncio.sleep(min(error.retry_after, 0.5))
            else:
                self.longest = max(self.longest, loop.time() - began)
                return answer

    async def _feed(self, client):
        for number in range(1_000_000):
            key = f"{client}-{number}"
            batch = [perception(number, key=key)]
            (receipt,) = await self._persist(lambda batch=batch: self.host.perceptions.append(batch))
            self.acknowledged[key] = receipt.id

    async def _think(self):
        for number in range(1, 1_000_000):
            writes = [WriteTrace(trace(number)), WriteEntries((entry(number),))]
            await self._persist(lambda writes=writes: self.mind.commit(writes))
            self.said = number

    async def until_more(self, count=40):
        target = len(self.acknowledged) + count, self.said + 5
        async with asyncio.timeout(180):
            while len(self.acknowledged) < target[0] or self.said < target[1]:  # noqa: ASYNC110 - several tasks work
                await asyncio.sleep(0.05)

    async def until_refused(self):
        self.refusals.clear()
        async with asyncio.timeout(180):
            while not self.refusals:  # noqa: ASYNC110 - several tasks work
                await asyncio.sleep(0.05)
        return self.refusals[-1]

    async def end(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def is_whole(self):
        """Whether everything that was acknowledged is there once, and the stream has no gap."""
        acknowledged, said = dict(self.acknowledged), self.said
        there = await self._persist(lambda: self.host.perceptions.read(0, 1_000_000))
        ids = {one.key: one.id for one in there}
        assert len(ids) == len(there)
        assert {key: ids.get(key) for key in acknowledged} == acknowledged
        entries = await self._persist(lambda: self.mind.stream.read(1, 1_000_000))
        assert [one.seq for one in entries] == list(range(1, len(entries) + 1))
        assert len(entries) >= said
        names = [name("t", number) for number in range(1, said + 1)]
        assert len(await self._persist(lambda: self.mind.traces.get(names))) == said


@pytest.fixture
async def address(cassandra_cluster):
    return cassandra_cluster.address("minds")


@pytest.fixture
async def mind(address):
    await create_keyspace(address, 3, rng=random.Random(3))  # nothing is done where the test before has done it
    session = await open_session(address, rng=random.Random(3))
    await migrate(session, runner="mind", rng=random.Random(3))
    await session.close()
    place, own = f"{address}?dc={address.dc}", secrets.token_hex(6)
    opened = [await open_stores(place, own, writer=writer, cassandra=SETTINGS) for writer in ("host", "stream")]
    mind = Mind(*opened)
    try:
        yield mind
    finally:
        await mind.end()
        for stores in opened:
            await stores.close()


async def everywhere(session, cql):
    """What each node answers."""
    hosts = session._cluster.metadata.all_hosts()
    return {
        host.address: await asyncio.to_thread(lambda host=host: session._driver.execute(cql, host=host).all())
        for host in hosts
    }


async def test_all_nodes_agree_on_a_schema_that_two_make_at_once(cassandra_cluster, address):
    chance = random.Random(1)
    await create_keyspace(address, 3, rng=chance)
    sessions = [await open_session(address, rng=random.Random(n)) for n in range(2)]
    done = await asyncio.gather(
        *(migrate(session, runner=f"runner {n}", rng=chance) for n, session in enumerate(sessions))
    )
    assert sorted(map(len, done)) == [0, len(load_migrations())]
    versions = await everywhere(sessions[0], _VERSION)
    assert len(versions) == 3
    assert len({rows[0].schema_version for rows in versions.values()}) == 1
    tables = [{row.table_name for row in rows} for rows in (await everywhere(sessions[0], _TABLES)).values()]
    assert tables[0] == tables[1] == tables[2]
    assert len(tables[0]) > 20
    (row,) = await sessions[0].run(_REPLICATION)
    assert row.replication[address.dc] == "3"
    for session in sessions:
        await session.close()


async def test_a_node_that_dies_amid_ingestion_is_not_missed(cassandra_cluster, mind):
    await mind.until_more()
    third = cassandra_cluster.nodes[2]
    await asyncio.to_thread(third.kill)
    await mind.until_more(100)
    assert mind.longest < PATIENCE + SLOW
    await mind.is_whole()  # of the two that are left
    await asyncio.to_thread(third.start)
    await mind.until_more()
    await mind.is_whole()


async def test_two_nodes_that_die_are_told_with_a_time_and_all_goes_on_when_they_are_back(cassandra_cluster, mind):
    await mind.until_more()
    first, second, _ = cassandra_cluster.nodes
    await asyncio.gather(*(asyncio.to_thread(node.kill) for node in (first, second)))
    refused = await mind.until_refused()
    assert 0 < refused.retry_after <= 60
    assert "\n" not in str(refused)
    before = len(mind.acknowledged)
    await mind.until_refused()  # again and again
    assert len(mind.acknowledged) <= before + 8  # what was under way
    await asyncio.gather(*(asyncio.to_thread(node.start) for node in (first, second)))
    await mind.until_more()
    await mind.is_whole()
