"""The session, against a real server that stays up."""

import asyncio
import random

import pytest

from environment.errors import StoreBroken, StoreUnavailable
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.driver.settings import CassandraSettings


@pytest.fixture
async def numbers(session):
    await session.run("CREATE TABLE numbers (a int, b int, c text, PRIMARY KEY (a, b))")
    return session


async def test_none_leaves_a_column_as_it_was(numbers):
    insert = await numbers.prepare("INSERT INTO numbers (a, b, c) VALUES (?, ?, ?)")
    await numbers.execute(insert, (1, 1, "kept"), idempotent=True)
    await numbers.execute(insert, (1, 1, None), idempotent=True)
    select = await numbers.prepare("SELECT c FROM numbers WHERE a = 1")
    assert await numbers.execute(select, idempotent=True) == [("kept",)]


async def test_a_statement_for_another_schema_says_so_and_may_be_asked_for_again(session):
    with pytest.raises(StoreBroken, match=r"submind migrate"):
        await session.prepare("SELECT a FROM not_yet WHERE a = ?")
    await session.run("CREATE TABLE not_yet (a int PRIMARY KEY)")
    select = await session.prepare("SELECT a FROM not_yet WHERE a = ?")
    assert await session.execute(select, (1,), idempotent=True) == []
    assert session.circuit == "closed"


async def test_callers_who_leave_give_their_permits_back(keyspace):
    session = await open_session(keyspace, CassandraSettings(in_flight=2), rng=random.Random(1))
    try:
        select = await session.prepare("SELECT key FROM system.local")
        for _ in range(20):
            tasks = [asyncio.ensure_future(session.execute(select, idempotent=True)) for _ in range(8)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        rows = await asyncio.gather(*(session.execute(select, idempotent=True) for _ in range(20)))
        assert all(row == [("local",)] for row in rows)
    finally:
        await session.close()


async def test_too_few_replicas_are_told_with_how_many_are_needed(session):
    await session.run("CREATE TABLE numbers (a int PRIMARY KEY)")
    insert = await session.prepare("INSERT INTO numbers (a) VALUES (?)")
    name, dc = session.address.keyspace, session.address.dc
    await session.run(f"ALTER KEYSPACE {name} WITH replication = {{'class': 'NetworkTopologyStrategy', '{dc}': 3}}")
    with pytest.raises(StoreUnavailable, match="1 of the 2 replicas needed are alive") as refused:
        await session.execute(insert, (1,), idempotent=True)
    assert not isinstance(refused.value, OutcomeUnknown)
    conditional = await session.prepare("INSERT INTO numbers (a) VALUES (?) IF NOT EXISTS")
    with pytest.raises(StoreUnavailable, match="replicas needed are alive"):
        await session.conditional(conditional, (1,))
