"""``submind doctor`` before real clusters that are set up wrongly: each mistake is named, with what mends it."""

import asyncio
import contextlib
import random
import secrets
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from environment.configuration import Configuration, write_configuration
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.schema.keyspaces import create_keyspace
from environment.stores.opening import open_stores
from orchestration.cli.doctor import rays
from orchestration.cli.doctor.checks import Finding, State
from orchestration.cli.doctor.databases import clocks, databases
from orchestration.clock import wall
from orchestration.loading import load_settings
from orchestration.membership.backends import open_coordination
from orchestration.membership.etcd.address import parse_address, read_credentials
from orchestration.membership.etcd.client import EtcdMember
from orchestration.settings import Settings
from tests.orchestration.cli.conftest import by_check, environ, here, submind
from tests.orchestration.nodes.raylets import Raylets
from tests.servers.etcd import EtcdServer


def store_settings(place: str) -> Settings:
    return load_settings(environ={}, flags={"--store": ("store.address", place)})


async def looked_at(settings: Settings, **more: Any) -> dict[str, Finding]:
    return {finding.check: finding async for finding in databases(settings, **more)}


async def test_copies_that_cannot_be_served_or_do_not_last(cassandra: Any) -> None:
    root = await open_session(cassandra("system"), rng=random.Random(1))
    for replication, state, told, fix in (
        ("'NetworkTopologyStrategy', '{dc}': 1", State.DOUBTFUL, "1 copy of each row", "3 servers"),
        ("'NetworkTopologyStrategy', '{dc}': 3", State.BAD, "2 must answer and 1 of its servers do", "ALTER KEYSPACE"),
        ("'SimpleStrategy', 'replication_factor': 1", State.DOUBTFUL, "knows no data centres", "NetworkTopology"),
    ):
        name = f"test_{secrets.token_hex(6)}"
        address = cassandra(name)
        given = replication.format(dc=address.dc)
        await root.run(f"CREATE KEYSPACE {name} WITH replication = {{'class': {given}}}")
        try:
            found = await looked_at(store_settings(f"{address}?dc={address.dc}"))
        finally:
            await root.run(f"DROP KEYSPACE {name}")
        assert found["copies"].state is state, found
        assert told in found["copies"].found
        assert fix in found["copies"].fix
        assert found["servers"].state is State.GOOD
        assert found["clocks"].state is State.GOOD
    await root.close()


async def test_clocks_that_are_apart(keyspace: Any) -> None:
    settings = store_settings(f"{keyspace}?dc={keyspace.dc}")
    for ahead, state in ((0.0, State.GOOD), (-5.0, State.DOUBTFUL), (120.0, State.BAD)):
        found = await looked_at(settings, clock=lambda ahead=ahead: wall() + ahead)
        assert found["clocks"].state is state, found
        assert ("chronyc" in found["clocks"].fix) is (state is not State.GOOD)
    assert "behind" in found["clocks"].found
    assert clocks("clocks", {"a": 0.2, "b": -40.0}).found == "that of b is 40.0 s behind this machine's"


@pytest.mark.soak
async def test_a_server_that_is_away_is_missed(cassandra_cluster: Any) -> None:
    address = cassandra_cluster.address("minds")
    assert await create_keyspace(address, 3, rng=random.Random(1))
    lost = cassandra_cluster.nodes[2]
    await asyncio.to_thread(lost.kill)
    try:
        found = await looked_at(store_settings(f"{address}?dc={address.dc}"))
    finally:
        await asyncio.to_thread(lost.start)
    assert found["copies"].state is State.GOOD
    assert found["servers"].state is State.DOUBTFUL
    assert found["servers"].found.startswith(f"{lost.host} of 3 servers")


@pytest.fixture
def small_etcd(servers: None, tmp_path: Path) -> Iterator[EtcdServer]:
    """An etcd that is full soon."""
    server = EtcdServer(tmp_path / "etcd")
    server.command += ["--quota-backend-bytes", "131072"]
    server.start()
    try:
        yield server
    finally:
        server.stop()


async def test_an_etcd_that_is_full_is_named_with_the_way_out(small_etcd: EtcdServer, tmp_path: Path) -> None:
    address = f"etcd://{small_etcd.endpoint}"
    good = by_check(await submind(*here(tmp_path), "--coordination", address))
    assert good["alarm"]["state"] == "good"
    parsed = parse_address(address)
    member = EtcdMember("127.0.0.1", small_etcd.port, parsed, read_credentials(parsed), 5.0)

    async def fill() -> None:
        for n in range(100):
            await member.put(b"/elsewhere/%d" % n, b"x" * 20_000)

    with pytest.raises(Exception, match="space"):
        await fill()
    await member.close()
    done = await submind(*here(tmp_path), "--coordination", address)
    found = by_check(done)
    assert done.code == 1
    assert found["alarm"]["state"] == "bad"
    assert "NOSPACE" in found["alarm"]["found"]
    assert "etcdctl alarm disarm" in found["alarm"]["fix"]


async def test_a_leader_that_nobody_reaches(etcd: str, tmp_path: Path) -> None:
    address, mind = f"etcd://{etcd}", f"m-{secrets.token_hex(4)}"
    given = (*here(tmp_path), "--coordination", address)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        away = f"127.0.0.1:{nobody.getsockname()[1]}"
        async with open_coordination(address, mind) as coordination, coordination.leadership(away):
            done = await submind(*given, env=environ(SUBMIND__MIND__NAME=mind))
    found = by_check(done)
    assert done.code == 1
    assert f"{away} leads" in found["leader"]["found"]
    assert "host.advertise" in found["leader"]["fix"]
    assert found["advertise"]["state"] == "doubtful"
    quiet = by_check(await submind(*given, env=environ(SUBMIND__MIND__NAME=mind)))
    assert "nobody leads" in quiet["leader"]["found"]
    assert "submind run --coordination" in quiet["leader"]["fix"]


async def test_two_hosts_that_would_not_think_alike(keyspace: Any, etcd: str, tmp_path: Path) -> None:
    place, mind = f"{keyspace}?dc={keyspace.dc}", f"m-{secrets.token_hex(4)}"
    assert (await submind("migrate", "--store", place)).code == 0
    at_work = load_settings(environ={}, flags={"": ("attention.per_hour", 3.0), " ": ("gateway.listen", "127.0.0.1:1")})
    stores = await open_stores(place, mind)
    body = at_work.model_dump_json()
    await stores.commit([write_configuration(Configuration(1, wall(), "somebody", body))])
    await stores.close()
    address = f"etcd://{etcd}"
    async with (
        listening() as reached,
        open_coordination(address, mind) as coordination,
        coordination.leadership(reached),
    ):
        given = (*here(tmp_path), "--coordination", address, "--store", place)
        found = by_check(await submind(*given, env=environ(SUBMIND__MIND__NAME=mind)))
        alike = environ(SUBMIND__MIND__NAME=mind, SUBMIND__ATTENTION__PER_HOUR="3")
        same = by_check(await submind(*given, env=alike))
    assert found["leader"]["state"] == "good"
    assert found["same"]["state"] == "doubtful"
    assert "attention.per_hour: " in found["same"]["found"]
    assert "3.0 there" in found["same"]["found"]
    assert "gateway" not in found["same"]["found"]
    assert same["same"]["found"] != found["same"]["found"]
    assert "attention" not in same["same"]["found"]


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[str]:
    """Somebody who accepts connections, as ``HOST:PORT``."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


def test_shared_memory_that_is_too_small(tmp_path: Path) -> None:
    (enough,) = rays.shared_memory(1 << 20)
    (short,) = rays.shared_memory(1 << 50)
    assert (enough.state, short.state) == (State.GOOD, State.DOUBTFUL)
    assert "--shm-size" in short.fix
    assert list(rays.shared_memory(1, tmp_path / "nowhere")) == []


async def test_a_ray_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        done = await submind(*here(tmp_path), env=environ(SUBMIND__RUNTIME__CLUSTER__ADDRESS=address))
    found = by_check(done)
    assert done.code == 1
    assert f"no Ray cluster answers at {address}" in found["ray"]["found"]
    assert "runtime.cluster.address" in found["ray"]["fix"]


@pytest.mark.timeout(600)
async def test_a_ray_without_room_or_of_another_version(tmp_path: Path) -> None:
    raylets = await asyncio.to_thread(Raylets)
    env = environ(SUBMIND__RUNTIME__CLUSTER__ADDRESS=raylets.address, RAY_AUTH_MODE="disabled")
    try:
        done = await submind(*here(tmp_path), env=env)
        found = by_check(done)
        assert done.code == 1
        assert (found["ray"]["state"], found["versions"]["state"]) == ("good", "good")
        assert found["head"]["state"] == "doubtful"
        assert "RAY_gcs_storage=rocksdb" in found["head"]["fix"]
        assert "has the resource submind" in found["nodes"]["found"]
        assert f"ray start --address {raylets.address} --resources" in found["nodes"]["fix"]
        await asyncio.to_thread(raylets.add, "one")
        found = by_check(await submind(*here(tmp_path), env=env))
        assert found["nodes"]["found"] == "1 of 2 nodes have submind, 16 units in all"
        apart = rays._versions(
            {"here": {"ray": "2.60", "python": "3.11"}, "cluster": {"ray": "1.13", "python": "3.11"}}
        )
        assert (apart.state, apart.found.startswith("the cluster has ray 1.13, here 2.60:")) == (State.BAD, True)
    finally:
        await asyncio.to_thread(raylets.end)
