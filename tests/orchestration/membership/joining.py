"""Opening coordinations in tests."""

from contextlib import AsyncExitStack

from orchestration.membership.backends import open_coordination
from orchestration.membership.etcd.address import EtcdCredentials, parse_address
from orchestration.membership.etcd.client import EtcdClient
from orchestration.membership.keys import Keys
from orchestration.membership.ports import Coordination
from orchestration.membership.settings import CoordinationSettings

SHORT = CoordinationSettings(lease=2, request_timeout=0.6, connect_timeout=5)
"""The shortest lease that etcd grants: for who waits until it is over."""
STEADY = CoordinationSettings(lease=60, request_timeout=20, connect_timeout=60)
"""For everybody else: no lease ends, and no request fails, because the machine is busy."""


def client_of(endpoint: str, mind: str, timeout: float = 20.0) -> EtcdClient:
    return EtcdClient(parse_address(f"etcd://{endpoint}"), EtcdCredentials(), Keys(mind).prefix, timeout)


class Joining:
    """Opens coordinations that are closed with the test."""

    def __init__(self, address: str, mind: str, stack: AsyncExitStack) -> None:
        self.address = address
        self.mind = mind
        self._stack = stack

    async def __call__(self, settings: CoordinationSettings = STEADY, *, mind: str | None = None) -> Coordination:
        opening = open_coordination(self.address, mind or self.mind, settings=settings)
        return await self._stack.enter_async_context(opening)
