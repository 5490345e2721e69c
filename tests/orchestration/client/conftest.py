"""The gateway of ``tests/orchestration/gateway``, and a client of it."""

import random

import pytest

from orchestration.client import MindClient
from tests.environment.stores.making import NOON, perception
from tests.orchestration.gateway.conftest import gateway, serve
from tests.servers.process import free_ports

__all__ = ["gateway", "serve"]


@pytest.fixture
async def mind(gateway):
    async with MindClient(gateway.target, retry_for=2.0, chance=random.Random(1)) as client:
        yield client


@pytest.fixture
def free_port():
    return free_ports(1)[0]


def lines(count, first=0, **changes):
    return [perception(number, time=NOON, **changes) for number in range(first, first + count)]
