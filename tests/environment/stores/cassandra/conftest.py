"""A keyspace that many tests share, each with a mind of its own."""

from __future__ import annotations

import asyncio
import random
import secrets

import pytest
import pytest_asyncio

from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.schema.migrations import migrate
from tests.environment.stores.cassandra.logs import Opening
from tests.servers.fixtures import drop_keyspace, make_keyspace


@pytest.fixture(scope="module")
def shared_keyspace(cassandra):
    """The address of a migrated keyspace."""
    address = cassandra(f"test_{secrets.token_hex(6)}")

    async def make():
        await make_keyspace(address)
        session = await open_session(address, rng=random.Random(1))
        await migrate(session, runner="tests", rng=random.Random(2))
        await session.close()

    asyncio.run(make())
    yield address
    asyncio.run(drop_keyspace(address))


@pytest_asyncio.fixture
async def opened(shared_keyspace):
    """Opens the log of the test's mind once more, or of another."""
    openings = []
    own = secrets.token_hex(6)

    async def another(mind="", **options):
        session = await open_session(shared_keyspace, rng=random.Random(len(openings)))
        openings.append(Opening(session, f"{own}{mind}", **options))
        return openings[-1]

    yield another
    for each in openings:
        await each.close()
