"""A mind of its own for each test, in an etcd that really runs."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from orchestration.membership.etcd.client import EtcdClient
from tests.orchestration.membership.joining import Joining, client_of


@pytest.fixture
def mind() -> str:
    return f"test-{secrets.token_hex(6)}"


@pytest_asyncio.fixture
async def client(etcd: str, mind: str) -> AsyncIterator[EtcdClient]:
    """Bare requests; everything of the mind is deleted at the end."""
    client = client_of(etcd, mind)
    try:
        yield client
        for key in (await client.range(client.prefix.rstrip("/")))[0]:
            await client.delete(key)
    finally:
        await client.close()


@pytest_asyncio.fixture
async def join(etcd: str, mind: str, client: EtcdClient) -> AsyncIterator[Joining]:
    """Another process's worth of coordination, each on its own connection."""
    async with AsyncExitStack() as stack:
        yield Joining(f"etcd://{etcd}", mind, stack)
