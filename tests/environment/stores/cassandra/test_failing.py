"""The session while its server is killed, paused and brought back: nothing hangs, nothing blocks, all resumes."""

import asyncio
import contextlib
import random
import secrets
import threading

import pytest

from environment.errors import StoreUnavailable
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.session import CircuitOpen
from environment.stores.cassandra.driver.settings import CassandraSettings
from tests.orchestration.until import until
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
    """The test before may have had the server stand still: what it missed meanwhile takes longer than QUICK allows."""
    address = server.address(f"test_{secrets.token_hex(6)}")
    await eventually(lambda: make_keyspace(address))
    session = await eventually(lambda: open_session(address, QUICK, rng=random.Random(1)))
    try:
        await eventually(lambda: session.run("CREATE TABLE IF NOT EXISTS numbers (a int, b int, PRIMARY KEY (a, b))"))
        yield session
    finally:
        await session.close()


class Ticks:
    """Seconds as a thread beside the loop has them: few pass while the machine stands still, or is another's."""

    def __init__(self):
        self.passed = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def _count(self):
        while not self._over.wait(0.02):
            self.passed += 0.02

    def end(self):
        self._over.set()
        self._thread.join(60)


@pytest.fixture
def ticks():
    ticks = Ticks()
    yield ticks
    ticks.end()


@contextlib.asynccontextmanager
async def unblocked(ticks, most=1.0):
    """The body never keeps the loop from its other work for longer than ``most`` seconds."""
    longest = 0.0

    async def watch():
        nonlocal longest
        while True:
            before = ticks.passed
            await asyncio.sleep(0.02)
            longest = max(longest, ticks.passed - before)

    watching = asyncio.ensure_future(watch())
    try:
        yield
    finally:
        watching.cancel()
    assert longest < most


class Writers:
    """Tasks that write one row after the other, and keep what was acknowledged and what was refused."""

    def __init__(self, session, insert, ticks):
        self.ticks = ticks
        self.session = session
        self.insert = insert
        self.acknowledged = []
        self.refused = []
        self.waits = []
        self.tasks = [asyncio.ensure_future(self.write(at)) for at in range(16)]

    async def write(self, a):
        for b in range(1_000_000):
            began = self.ticks.passed
            try:
                await self.session.execute(self.insert, (a, b), idempotent=True)
                self.acknowledged.append((a, b))
            except StoreUnavailable as error:
                self.refused.append(error)
                await asyncio.sleep(min(error.retry_after, 0.2))
            self.waits.append(self.ticks.passed - began)

    async def until_resumed(self, within=60.0):
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
        """Looked up until it answers: a server that has just begun may be too slow for these settings once more."""
        select = await prepared(self.session, "SELECT b FROM numbers WHERE a = ?")
        reads = [(select, (a,)) for a in range(16)]
        answers = await eventually(lambda: self.session.execute_all(reads, idempotent=True))
        there = {(a, row.b) for a, rows in enumerate(answers) for row in rows}
        return set(self.acknowledged) <= there


@pytest.fixture
async def writers(session, ticks):
    writers = Writers(session, await prepared(session, "INSERT INTO numbers (a, b) VALUES (?, ?)"), ticks)
    await writers.until_resumed()
    yield writers
    await writers.end()


async def test_a_killed_server_is_refused_at_once_and_used_again_when_it_is_back(server, session, writers, ticks):
    async with unblocked(ticks):
        await asyncio.to_thread(server.kill)
        await until(lambda: any(isinstance(e, CircuitOpen) and 0 < e.retry_after <= 0.5 for e in writers.refused))
        assert session.circuit != "closed"
        began = ticks.passed
        with pytest.raises(StoreUnavailable, match=r"cassandra://127\.0\.0\.1"):
            await session.execute(writers.insert, (99, 99), idempotent=True)
        assert ticks.passed - began < QUICK.request_timeout + QUICK.deadline
        await asyncio.to_thread(server.start)
        await writers.until_resumed()
    await writers.end()
    assert await writers.all_there()
    assert session.circuit == "closed"


async def test_a_paused_server_costs_a_timeout_and_nothing_acknowledged(server, session, writers, ticks):
    async with unblocked(ticks):
        server.pause()
        try:
            await until(lambda: session.circuit != "closed" and len(writers.refused) > 16)
            refused = len(writers.refused)
        finally:
            server.resume()
        await writers.until_resumed()
    await writers.end()
    assert refused > 16, "each of them was refused, and tried again"
    assert max(writers.waits) < QUICK.request_timeout + QUICK.deadline + 2.0
    assert await writers.all_there()


async def eventually(call, within=60.0):
    """What ``call`` answers when the store is available again."""
    async with asyncio.timeout(within):
        while True:
            with contextlib.suppress(StoreUnavailable):
                return await call()
            await asyncio.sleep(0.05)


async def prepared(session, statement):
    return await eventually(lambda: session.prepare(statement))


async def test_a_long_read_waits_out_an_open_circuit_where_it_was_told_to(server, session):
    insert = await prepared(session, "INSERT INTO numbers (a, b) VALUES (?, ?)")
    select = await prepared(session, "SELECT b FROM numbers WHERE a = ?")
    rows = [(insert, (a, a)) for a in range(400)]
    await eventually(lambda: session.execute_all(rows, idempotent=True))
    reads = [(select, (a,)) for a in range(400)]
    server.pause()
    try:
        with pytest.raises(StoreUnavailable):
            await session.execute_all(reads, idempotent=True)
        assert session.circuit != "closed"
    finally:
        server.resume()

    async def patiently():
        for _ in range(QUICK.circuit_failures):
            session._circuit.failed(asyncio.get_running_loop().time())
        with pytest.raises(CircuitOpen):
            await session.execute_all(reads, idempotent=True)
        return await session.execute_all(reads, idempotent=True, patient=True)

    answers = await eventually(patiently)  # one that has just woken may be too slow for these settings
    assert [[row.b for row in rows] for rows in answers] == [[a] for a in range(400)]


async def test_a_server_that_is_silent_is_given_up_within_the_connect_timeout(server, ticks):
    address = server.address("system")
    server.pause()
    try:
        began = ticks.passed
        with pytest.raises(StoreUnavailable):
            await open_session(address, CassandraSettings(connect_timeout=2.0), rng=random.Random(1))
        assert ticks.passed - began < 6.0
    finally:
        server.resume()
    await (await eventually(lambda: open_session(address, QUICK, rng=random.Random(1)))).close()


async def test_closing_ends_what_is_under_way_and_refuses_the_rest_at_once(server, session, ticks):
    insert = await prepared(session, "INSERT INTO numbers (a, b) VALUES (?, ?)")
    server.pause()
    try:
        under_way = [asyncio.ensure_future(session.execute(insert, (a, 0), idempotent=True)) for a in range(100)]
        await asyncio.sleep(0.1)
        await session.close()
        began = ticks.passed
        with pytest.raises(StoreUnavailable, match="has been closed"):
            await session.execute(insert, (1, 1), idempotent=True)
        assert ticks.passed - began < QUICK.request_timeout  # and did not wait for anybody
        ended = await asyncio.wait_for(asyncio.gather(*under_way, return_exceptions=True), 60)
        assert all(isinstance(one, StoreUnavailable) for one in ended)
    finally:
        server.resume()
