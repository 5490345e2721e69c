"""The gateway of ``tests/orchestration/gateway``, and a client of it."""

import random
import socket

import pytest

from orchestration.client import MindClient
from tests.environment.stores.contract import NOON, perception
from tests.orchestration.gateway.conftest import gateway, serve

__all__ = ["gateway", "serve"]


@pytest.fixture
async def mind(gateway):
    async with MindClient(gateway.target, patience=2.0, chance=random.Random(1)) as client:
        yield client


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def lines(count, first=0, **changes):
    return [perception(number, time=NOON, **changes) for number in range(first, first + count)]
