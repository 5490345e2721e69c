"""A lease that is kept for as long as this process lives, and taken anew when it was lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from orchestration.membership.election import RENEWALS, USABLE
from orchestration.membership.errors import CoordinationError, CoordinationUnavailable
from orchestration.membership.etcd.client import EtcdClient

_log = structlog.get_logger(__name__)

Granted = Callable[[int], Awaitable[None]]
"""Called with a new lease: writes what was under the old one. Called again when it raises ``CoordinationError``."""


class KeptLease:
    """Renews a lease until ``close``; when it is over, takes another and has everything written again under that."""

    def __init__(self, client: EtcdClient, length: float, ticking: Callable[[], float]) -> None:
        self._client = client
        self._length = length
        self._ticking = ticking
        self._retry = length / 10 * random.SystemRandom().uniform(0.5, 1.0)
        self._until = float("-inf")
        self._lease: int | None = None
        self._wanting: list[Granted] = []
        self._task: asyncio.Task[None] | None = None
        self._there = asyncio.Event()
        self.taken = 0
        """Leases taken so far: more than one means that signs of life did not get through."""

    @property
    def lease(self) -> int | None:
        """The lease, as long as it surely runs."""
        return self._lease if self._ticking() < self._until else None

    async def get(self, within: float) -> int:
        """The lease, taken first where there is none yet. Raises ``CoordinationUnavailable``."""
        self._task = self._task or asyncio.create_task(self._keep(), name="kept-lease")
        try:
            async with asyncio.timeout(within):
                while (lease := self.lease) is None:
                    self._there.clear()
                    await self._there.wait()
        except TimeoutError:
            raise CoordinationUnavailable(f"{self._client.address.label} gives no lease in time") from None
        return lease

    def on_grant(self, wanting: Granted) -> None:
        """Have something written under each further lease."""
        self._wanting.append(wanting)

    async def close(self) -> None:
        """End the lease, and with it all that is under it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        lease, self._lease, self._until = self._lease, None, float("-inf")
        if lease is not None:
            with suppress(CoordinationError):
                await self._client.revoke(lease)

    async def _keep(self) -> None:
        complained = ""
        while True:
            try:
                await asyncio.sleep(await self._once())
                complained = ""
            except CoordinationError as error:
                if str(error) != complained:
                    complained = str(error)
                    _log.warning("lease_not_renewed", reason=complained)
                await asyncio.sleep(self._retry)

    async def _once(self) -> float:
        """Renew, or take; how long until the next time."""
        sent = self._ticking()
        if self._lease is not None:
            ttl = await self._client.renew(self._lease)
            if ttl > 0:
                self._until = max(self._until, sent + USABLE * ttl)
                self._there.set()
                return ttl / RENEWALS
            _log.warning("lease_lost")
            self._lease, self._until = None, float("-inf")
        lease, ttl = await self._client.grant(self._length)
        self.taken += 1
        for wanting in self._wanting:
            await wanting(lease)
        self._lease, self._until = lease, sent + USABLE * ttl
        self._there.set()
        return max(0.0, sent + ttl / RENEWALS - self._ticking())
