"""The session while its server is killed, paused and brought back: nothing hangs, nothing blocks, all resumes."""

import asyncio
import contextlib
import logging
import random
import secrets

import pytest

from environment.errors import StoreUnavailable
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.driver.session import CircuitOpen
from environment.stores.cassandra.driver.settings import CassandraSettings
from tests.servers.cassandra import CassandraServer
from tests.servers.fixtures import make_keyspace

QUICK = CassandraSettings(
    request_timeout=1.0,
    deadline=2.0,
    heartbeat=1.0,
    reconnect_within=1.0,
    circuit_failures=6,
    circuit_cooldown=0.5,
    in_flight=64,
)


@pytest.fixture(scope="module")
def server(servers, tmp_path_factory):
    server = CassandraServer(tmp_path_factory.mktemp("failing"))
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
async def session(server):
    address = server.address(f"test_{secrets.token_hex(6)}")
    await make_keyspace(address)
    session = await open_session(address, QUICK, rng=random.Random(1))
    await session.run("CREATE TABLE numbers (a int, b int, PRIMARY KEY (a, b))")
    try:
        yield session
    finally:
        await session.close()


@contextlib.asynccontextmanager
async def unblocked(most=1.0):
    """The body never keeps the loop from its other work for longer than ``most`` seconds."""
    loop = asyncio.get_running_loop()
    longest = 0.0

    async def watch():
        nonlocal longest
        while True:
            before = loop.time()
            await asyncio.sleep(0.02)
            longest = max(longest, loop.time() - before)

    watching = asyncio.ensure_future(watch())
    try:
        yield
    finally:
        watching.cancel()
    assert longest < most


class Writers:
    """Tasks that write one row after the other, and keep what was acknowledged and what was refused."""

    def __init__(self, session, insert):
        self.session = session
        self.insert = insert
        self.acknowledged = []
        self.refused = []
        self.waits = []
        self.tasks = [asyncio.ensure_future(self.write(at)) for at in range(16)]

    async def write(self, a):
        loop = asyncio.get_running_loop()
        for b in range(1_000_000):
            began = loop.time()
            try:
                await self.session.execute(self.insert, (a, b), idempotent=True)
                self.acknowledged.append((a, b))
            except StoreUnavailable as error:
                self.refused.append(error)
                await asyncio.sleep(min(error.retry_after, 0.2))
            self.waits.append(loop.time() - began)

    async def until_resumed(self, within=30.0):
        before = len(self.acknowledged)
        loop = asyncio.get_running_loop()
        until = loop.time() + within
        while len(self.acknowledged) < before + 200:
            await asyncio.sleep(0.1)
            assert loop.time() < until

    async def end(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def all_there(self):
        select = await self.session.prepare("SELECT b FROM numbers WHERE a = ?")
        answers = await self.session.execute_all(((select, (a,)) for a in range(16)), idempotent=True)
        there = {(a, row.b) for a, rows in enumerate(answers) for row in rows}
        return set(self.acknowledged) <= there


@pytest.fixture
async def writers(session):
    writers = Writers(session, await session.prepare("INSERT INTO numbers (a, b) VALUES (?, ?)"))
    await writers.until_resumed()
    yield writers
    await writers.end()


async def test_a_killed_server_is_refused_at_once_and_used_again_when_it_is_back(server, session, writers, caplog):
    caplog.set_level(logging.INFO, "environment.stores.cassandra")
    async with unblocked():
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(3.0)
        assert session.circuit != "closed"
        assert any(isinstance(error, CircuitOpen) and 0 < error.retry_after <= 0.5 for error in writers.refused)
        began = asyncio.get_running_loop().time()
        with pytest.raises(StoreUnavailable, match=r"cassandra://127\.0\.0\.1"):
            await session.execute(writers.insert, (99, 99), idempotent=True)
        assert asyncio.get_running_loop().time() - began < QUICK.request_timeout + QUICK.deadline
        await asyncio.to_thread(server.start)
        await writers.until_resumed()
    await writers.end()
    assert session.circuit == "closed"
    assert await writers.all_there()
    told = [one.getMessage().rpartition("/")[2] for one in caplog.records if one.name.startswith("environment.")]
    assert told[0].endswith("does not answer: requests are refused until it does")
    assert told[-1].endswith("answers again")
    assert len(told) == 2 * sum(one.endswith("answers again") for one in told)


async def test_a_paused_server_costs_a_timeout_and_nothing_acknowledged(server, session, writers):
    async with unblocked():
        server.pause()
        try:
            await asyncio.sleep(6.0)
            assert session.circuit != "closed"
            refused = len(writers.refused)
        finally:
            server.resume()
        await writers.until_resumed()
    await writers.end()
    assert refused > 16
    assert max(writers.waits) < QUICK.request_timeout + QUICK.deadline + 1.0
    assert await writers.all_there()


async def eventually(call, within=30.0):
    """What ``call`` answers when the store is available again."""
    async with asyncio.timeout(within):
        while True:
            with contextlib.suppress(StoreUnavailable):
                return await call()
            await asyncio.sleep(0.05)


async def test_a_condition_that_was_lost_is_settled_by_the_next_one_whatever_a_read_showed(server, session):
    await session.run("CREATE TABLE lanes (lane int PRIMARY KEY, n int, writer text)")
    begin = await session.prepare("INSERT INTO lanes (lane, n, writer) VALUES (1, 0, 'nobody') IF NOT EXISTS")
    advance = await session.prepare("UPDATE lanes SET n = ?, writer = ? WHERE lane = 1 IF n = ?")
    look = await session.prepare("SELECT n, writer FROM lanes WHERE lane = 1")
    await session.conditional(begin)
    server.pause()
    try:
        with pytest.raises(OutcomeUnknown):
            await session.conditional(advance, (1, "lost", 0))
    finally:
        server.resume()
    await eventually(lambda: session.serial(look))  # may show 0 still: the lost one is on its way
    applied, row = await eventually(lambda: session.conditional(advance, (1, "next", 0)))
    settled = await session.serial(look)
    assert settled == [(1, "next" if applied else "lost")]
    assert applied or row.n == 1
    await asyncio.sleep(0.5)
    assert await session.serial(look) == settled


async def test_one_failure_among_many_requests_ends_them_all(server, session):
    insert = await session.prepare("INSERT INTO numbers (a, b) VALUES (?, ?)")
    drawn = 0

    def endless():
        nonlocal drawn
        while True:
            drawn += 1
            yield insert, (drawn, 0)

    server.pause()
    try:
        with pytest.raises(StoreUnavailable):
            await session.execute_all(endless(), idempotent=True, concurrency=8)
    finally:
        server.resume()
    assert drawn <= 16


async def test_a_long_read_waits_out_an_open_circuit_where_it_was_told_to(server, session):
    insert = await session.prepare("INSERT INTO numbers (a, b) VALUES (?, ?)")
    select = await session.prepare("SELECT b FROM numbers WHERE a = ?")
    await session.execute_all([(insert, (a, a)) for a in range(400)], idempotent=True)
    reads = [(select, (a,)) for a in range(400)]
    server.pause()
    try:
        with pytest.raises(StoreUnavailable):
            await session.execute_all(reads, idempotent=True)
        assert session.circuit != "closed"
    finally:
        server.resume()
    for _ in range(QUICK.circuit_failures):
        session._circuit.failed(asyncio.get_running_loop().time())
    with pytest.raises(CircuitOpen):
        await session.execute_all(reads, idempotent=True)
    answers = await session.execute_all(reads, idempotent=True, patient=True)
    assert [[row.b for row in rows] for rows in answers] == [[a] for a in range(400)]


async def test_a_server_that_is_silent_is_given_up_within_the_connect_timeout(server):
    address = server.address("system")
    loop = asyncio.get_running_loop()
    server.pause()
    try:
        began = loop.time()
        with pytest.raises(StoreUnavailable):
            await open_session(address, CassandraSettings(connect_timeout=2.0), rng=random.Random(1))
        assert loop.time() - began < 3.0
    finally:
        server.resume()
    await (await eventually(lambda: open_session(address, QUICK, rng=random.Random(1)))).close()


async def test_closing_ends_what_is_under_way_and_refuses_the_rest_at_once(server, session):
    insert = await session.prepare("INSERT INTO numbers (a, b) VALUES (?, ?)")
    loop = asyncio.get_running_loop()
    server.pause()
    try:
        under_way = [asyncio.ensure_future(session.execute(insert, (a, 0), idempotent=True)) for a in range(100)]
        await asyncio.sleep(0.1)
        await session.close()
        began = loop.time()
        with pytest.raises(StoreUnavailable, match="has been closed"):
            await session.execute(insert, (1, 1), idempotent=True)
        assert loop.time() - began < 0.1
        ended = await asyncio.wait_for(asyncio.gather(*under_way, return_exceptions=True), 10)
        assert all(isinstance(one, StoreUnavailable) for one in ended)
    finally:
        server.resume()
