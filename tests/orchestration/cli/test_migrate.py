"""``submind migrate`` as people run it, against a real Cassandra."""

import asyncio
import random
import secrets

import pytest

from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.schema.migrations import load_migrations, require_schema
from tests.orchestration.cli.conftest import submind
from tests.servers.fixtures import drop_keyspace


def store(address):
    return f"{address}?dc={address.dc}"


@pytest.fixture
async def absent(cassandra):
    """The address of a keyspace that is not there yet."""
    address = cassandra(f"test_{secrets.token_hex(6)}")
    yield address
    await drop_keyspace(address)


async def test_a_keyspace_is_made_migrated_and_checked(absent):
    done = await submind("migrate", "--store", store(absent))
    assert done.code == 1
    assert "no keyspace" in done.err
    assert "submind migrate --create" in done.err
    done = await submind("migrate", "--store", store(absent), "--create", "--replication", 1)
    assert done.code == 0, done.err
    files = [migration.file for migration in load_migrations()]
    assert [line for line in done.out.splitlines() if line.startswith("applied")] == [f"applied {one}" for one in files]
    session = await open_session(absent, rng=random.Random(1))
    try:
        await require_schema(session)
    finally:
        await session.close()
    again = await submind("migrate", "--store", store(absent), "--create", "--replication", 1)
    assert again.code == 0
    assert "applied" not in again.out
    checked = await submind("migrate", "--store", store(absent), "--check")
    assert checked.code == 0
    assert f"has schema {len(files)}" in checked.out


async def test_check_changes_nothing_and_says_what_to_do(keyspace):
    done = await submind("migrate", "--store", store(keyspace), "--check")
    assert done.code == 1
    assert f"the store has schema 0, this version knows {len(load_migrations())}: run `submind migrate`" in done.err
    again = await submind("migrate", "--store", store(keyspace), "--check")
    assert "schema 0" in again.err


async def test_who_checks_may_wait_for_whoever_migrates(keyspace):
    waiting = asyncio.create_task(submind("migrate", "--store", store(keyspace), "--check", "--wait", 120))
    await asyncio.sleep(4.0)
    assert not waiting.done()
    await submind("migrate", "--store", store(keyspace))
    done = await waiting
    assert done.code == 0
    assert done.err.count("waiting: the store has schema") >= 1
    assert "which this version knows" in done.out


async def test_more_copies_than_nodes_are_refused(absent):
    done = await submind("migrate", "--store", store(absent), "--create", "--replication", 3)
    assert done.code == 1
    assert "3 copies need as many nodes, data centre 'datacenter1' has 1: give --replication 1 or fewer" in done.err


async def test_an_embedded_store_needs_none(tmp_path):
    done = await submind("migrate", "--store", f"sqlite:{tmp_path}")
    assert (done.code, done.out) == (0, "an embedded store is migrated when a mind opens it: nothing to do\n")


async def test_an_address_that_is_none_is_used_wrongly():
    done = await submind("migrate", "--store", "cassandra://somewhere/keys")
    assert done.code == 2
    assert "?dc=NAME" in done.err
    done = await submind("migrate", "--store", "cassandra://me:secret@somewhere/keys?dc=a")
    assert done.code == 2
    assert "secret" not in done.err
