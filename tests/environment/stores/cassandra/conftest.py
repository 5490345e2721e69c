"""A keyspace that many tests share, each with a mind of its own."""

import random
import secrets

import pytest_asyncio

from environment.stores.cassandra.driver.connecting import open_session
from tests.environment.stores.cassandra.logs import Opening


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
