"""No coordination: one process is the leader, holds every shard, and knows everybody there is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

from environment.messages import Instant
from orchestration.clock import wall
from orchestration.membership.bucket import Bucket, fresh
from orchestration.membership.errors import BadCoordination, NotLeading
from orchestration.membership.latest import Latest
from orchestration.membership.ports import (
    Allowance,
    Leader,
    Leadership,
    Listing,
    LiveSettings,
    ShardHold,
    ShardOwner,
    Taken,
)


class AloneLeadership:
    """A term that only its own end ends."""

    token: int | None = None
    """None: the store counts its epochs by itself."""

    def __init__(self, candidate: str) -> None:
        self.candidate = candidate
        self.lost = asyncio.Event()
        self.reason = ""

    def leads(self) -> bool:
        return not self.lost.is_set()

    async def advance(self, above: int) -> int:
        if self.lost.is_set():
            raise NotLeading(self.candidate, self.reason)
        return above + 1

    def end(self, reason: str) -> None:
        """The term is over."""
        if not self.lost.is_set():
            self.reason = reason
            self.lost.set()


class AloneDirectory:
    """Who lives here, in memory."""

    def __init__(self) -> None:
        self._listings: dict[str, Listing] = {}
        self._latest: Latest[Mapping[str, Listing]] = Latest()
        self._latest.set(self._listings)

    async def announce(self, listing: Listing) -> None:
        self._put({**self._listings, listing.name: listing})

    async def withdraw(self, name: str) -> None:
        self._put({key: value for key, value in self._listings.items() if key != name})

    async def listings(self) -> Mapping[str, Listing]:
        return self._listings

    def watch(self) -> AsyncIterator[Mapping[str, Listing]]:
        return self._latest.follow()

    def close(self) -> None:
        """End every ``watch``."""
        self._latest.close()

    def _put(self, listings: dict[str, Listing]) -> None:
        self._listings = listings
        self._latest.set(listings)


class AloneHold:
    """All shards there are."""

    def __init__(self, count: int) -> None:
        self._mine = dict.fromkeys(range(count), 1)
        self.over = asyncio.Event()

    def mine(self) -> Mapping[int, int]:
        return {} if self.over.is_set() else self._mine

    async def changes(self) -> AsyncIterator[Mapping[int, int]]:
        yield self.mine()
        await self.over.wait()


class AloneShards:
    """Every shard lives here."""

    def __init__(self) -> None:
        self._owners: dict[int, ShardOwner] = {}

    @asynccontextmanager
    async def hold(self, node: str, count: int) -> AsyncIterator[ShardHold]:
        hold = AloneHold(count)
        self._owners = {shard: ShardOwner(node, token) for shard, token in hold.mine().items()}
        try:
            yield hold
        finally:
            self._owners = {}
            hold.over.set()

    async def owners(self) -> Mapping[int, ShardOwner]:
        return self._owners


class AloneConfiguration:
    """What file and environment say; it changes with a restart."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()

    async def current(self) -> LiveSettings:
        return LiveSettings()

    async def change(
        self,
        values: Mapping[str, Any],  # noqa: ARG002 - nothing of it can be done
        *,
        by: str,  # noqa: ARG002 - as above
        at: Instant,  # noqa: ARG002 - as above
        reset: Collection[str] = (),  # noqa: ARG002 - as above
        base: int | None = None,  # noqa: ARG002 - as above
    ) -> LiveSettings:
        raise BadCoordination(
            "settings change without a restart only where the mind is coordinated (--coordination etcd://HOST:PORT):"
            " change its file, and start it again"
        )

    async def history(self, limit: int = 50) -> list[LiveSettings]:  # noqa: ARG002 - there is none
        return []

    async def watch(self) -> AsyncIterator[LiveSettings]:
        yield LiveSettings()
        await self.closed.wait()


class AloneQuotas:
    """Buckets in memory."""

    def __init__(self) -> None:
        self._buckets: dict[str, Bucket] = {}

    async def take(self, name: str, amount: float, allowance: Allowance, now: Instant) -> Taken:
        bucket = self._buckets.get(name) or fresh(allowance, now)
        self._buckets[name], taken = bucket.take(amount, allowance, now)
        return taken

    async def left(self, name: str, allowance: Allowance, now: Instant) -> float:
        bucket = self._buckets.get(name) or fresh(allowance, now)
        return bucket.refilled(allowance, now).level


class Alone:
    """``Coordination`` of a process that has nobody to agree with."""

    address = "alone"

    def __init__(self, mind: str) -> None:
        self.mind = mind
        self.directory = AloneDirectory()
        self.shards = AloneShards()
        self.configuration = AloneConfiguration()
        self.quotas = AloneQuotas()
        self._terms: list[AloneLeadership] = []
        self._since: Instant = 0.0

    def leadership(self, candidate: str) -> AbstractAsyncContextManager[Leadership]:
        return self._leadership(candidate)

    @asynccontextmanager
    async def _leadership(self, candidate: str) -> AsyncIterator[Leadership]:
        term = AloneLeadership(candidate)
        self._terms.append(term)
        self._since = wall()
        try:
            yield term
        finally:
            term.end("it resigned")
            with suppress(ValueError):
                self._terms.remove(term)

    async def leader(self) -> Leader | None:
        return Leader(self._terms[-1].candidate, 0, self._since) if self._terms else None

    async def leaders(self) -> AsyncIterator[Leader | None]:
        yield await self.leader()
        await self.configuration.closed.wait()

    async def figures(self) -> Mapping[str, float]:
        return {}

    async def close(self) -> None:
        for term in self._terms:
            term.end("the coordination was closed")
        self.configuration.closed.set()
        self.directory.close()
