"""The servers that tests share, one of each in a run, and a place in them for each test.

``SUBMIND_TEST_CASSANDRA`` and ``SUBMIND_TEST_ETCD`` (``host:port``) name servers that are there already; otherwise
they are started here and stopped at the end. Tests that stop or secure a server make one of their own.
``SUBMIND_TEST_SERVERS=none`` skips them all, for a person who can have none; CI never sets it.
"""

import asyncio
import contextlib
import os
import random
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from environment.stores.cassandra.driver.address import CassandraAddress, parse_address
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.session import Session
from environment.stores.cassandra.schema.migrations import migrate
from tests.servers.cassandra import DC, CassandraCluster, CassandraServer
from tests.servers.etcd import EtcdCluster, EtcdServer


@pytest.fixture(scope="session")
def servers() -> None:
    """What every test asks for, by its fixtures, that needs a server."""
    if os.environ.get("SUBMIND_TEST_SERVERS") == "none":
        pytest.skip("there are no servers here: SUBMIND_TEST_SERVERS=none")


@pytest.fixture(scope="session")
def cassandra(servers: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], CassandraAddress]]:
    """Addresses in the shared Cassandra: called with a keyspace."""
    dc = os.environ.get("SUBMIND_TEST_CASSANDRA_DC", DC)
    given = os.environ.get("SUBMIND_TEST_CASSANDRA")
    if given:
        yield lambda keyspace: parse_address(f"cassandra://{given}/{keyspace}?dc={dc}")
        return
    server = CassandraServer(tmp_path_factory.mktemp("cassandra"), durable=False)
    server.start()
    try:
        yield server.address
    finally:
        server.kill()


async def make_keyspace(address: CassandraAddress) -> None:
    """Make the empty keyspace that an address names, with one replica."""
    session = await open_session(address, rng=random.Random(1), keyspace=False)
    try:
        await session.run(
            f"CREATE KEYSPACE {address.keyspace} WITH replication = "
            f"{{'class': 'NetworkTopologyStrategy', '{address.dc}': 1}}"
        )
    finally:
        await session.close()


async def drop_keyspace(address: CassandraAddress) -> None:
    """Drop it and all that is in it."""
    session = await open_session(address, rng=random.Random(1), keyspace=False)
    try:
        await session.run(f"DROP KEYSPACE IF EXISTS {address.keyspace}")
    finally:
        await session.close()


@pytest_asyncio.fixture
async def keyspace(cassandra: Callable[[str], CassandraAddress]) -> AsyncIterator[CassandraAddress]:
    """The address of an empty keyspace of the test's own, dropped after it."""
    address = cassandra(f"test_{secrets.token_hex(6)}")
    await make_keyspace(address)
    try:
        yield address
    finally:
        await drop_keyspace(address)


@contextlib.contextmanager
def migrated_keyspace(cassandra: Callable[[str], CassandraAddress]) -> Iterator[CassandraAddress]:
    """The address of a migrated keyspace, dropped afterwards."""
    address = cassandra(f"test_{secrets.token_hex(6)}")

    async def make() -> None:
        await make_keyspace(address)
        session = await open_session(address, rng=random.Random(1))
        await migrate(session, runner="tests", rng=random.Random(2))
        await session.close()

    asyncio.run(make())
    try:
        yield address
    finally:
        asyncio.run(drop_keyspace(address))


@pytest.fixture(scope="session")
def shared_keyspace(cassandra: Callable[[str], CassandraAddress]) -> Iterator[CassandraAddress]:
    """The address of a migrated keyspace, in which each test has a mind of its own."""
    with migrated_keyspace(cassandra) as address:
        yield address


@pytest_asyncio.fixture
async def session(keyspace: CassandraAddress) -> AsyncIterator[Session]:
    """A session in the test's own keyspace."""
    session = await open_session(keyspace, rng=random.Random(1))
    try:
        yield session
    finally:
        await session.close()


@pytest.fixture
def cassandra_of_its_own(servers: None, tmp_path: Path) -> Iterator[CassandraServer]:
    """A server that the test may kill or pause; started."""
    server = CassandraServer(tmp_path / "cassandra")
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def cassandra_cluster(servers: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CassandraCluster]:
    """Three nodes that the module's tests may kill and start again; started."""
    cluster = CassandraCluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def etcd(servers: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``host:port`` of the shared etcd; a test keeps to a prefix of its own."""
    given = os.environ.get("SUBMIND_TEST_ETCD")
    if given:
        yield given
        return
    server = EtcdServer(tmp_path_factory.mktemp("etcd"))
    server.start()
    try:
        yield server.endpoint
    finally:
        server.stop()


@pytest.fixture
def etcd_of_its_own(servers: None, tmp_path: Path) -> Iterator[EtcdServer]:
    """An etcd that the test may kill or pause; started."""
    server = EtcdServer(tmp_path / "etcd")
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def etcd_cluster(servers: None, tmp_path: Path) -> Iterator[EtcdCluster]:
    """Three that vote, so that a test may take their majority away; started."""
    cluster = EtcdCluster(tmp_path / "etcd")
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
