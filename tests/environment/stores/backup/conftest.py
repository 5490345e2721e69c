"""A mind that is furnished, and what its files show at one moment."""

import pytest

from environment.stores.sqlite.snapshot import open_snapshot
from tests.environment.stores.furnished import furnish, opening


@pytest.fixture
async def opened(tmp_path):
    """Opens stores by name."""
    async with opening(tmp_path) as open_at:
        yield open_at


@pytest.fixture
async def living(opened):
    stores = await opened("living")
    await furnish(stores)
    return stores


@pytest.fixture
async def snapshot(living, tmp_path):
    stores = await open_snapshot(tmp_path / "living", "alpha")
    yield stores
    await stores.close()
