"""Ownership of shards: each a key under its owner's lease, with a token that grows with every owner."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import structlog
from aetcd.transactions import Delete, Mod, Put, Value, Version

from orchestration.membership.assignment import assign
from orchestration.membership.errors import CoordinationError
from orchestration.membership.etcd.client import EtcdClient, Kv
from orchestration.membership.etcd.lease import KeptLease
from orchestration.membership.etcd.watch import mirror
from orchestration.membership.keys import Keys
from orchestration.membership.latest import Latest
from orchestration.membership.ports import ShardHold, ShardOwner
from orchestration.membership.settings import CoordinationSettings

_log = structlog.get_logger(__name__)


class EtcdHold:
    """``ShardHold``: follows who takes part, gives up what others should have, claims what is its own and free."""

    def __init__(
        self, client: EtcdClient, keys: Keys, lease: KeptLease, settings: CoordinationSettings, node: str, count: int
    ) -> None:
        self._client = client
        self._keys = keys
        self._lease = lease
        self._settings = settings
        self._node = node
        self._count = count
        self._mine: dict[int, int] = {}
        self._under: int | None = None
        self._latest: Latest[Mapping[int, int]] = Latest()
        self._over = False
        self._work: asyncio.Task[None] | None = None

    def mine(self) -> Mapping[int, int]:
        held = self._lease.lease
        return {} if self._over or held is None or held != self._under else dict(self._mine)

    def changes(self) -> AsyncIterator[Mapping[int, int]]:
        return self._latest.follow()

    async def begin(self) -> None:
        """Take part."""
        await self.register(await self._lease.get(self._settings.request_timeout))
        self._work = asyncio.create_task(self._follow(), name=f"shards-{self._node}")

    async def register(self, lease: int) -> None:
        """Take part under a lease; what was held under another is not held any more."""
        if self._over:
            return
        if lease != self._under:
            self._mine = {}
        self._under = lease
        await self._client.put(self._keys.node(self._node), b"{}", lease)

    async def end(self) -> None:
        """Give everything up."""
        self._over = True
        self._latest.set({})
        self._latest.close()
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        with suppress(CoordinationError):
            for shard, token in self._mine.items():
                await self._release(shard, token)
            await self._client.delete(self._keys.node(self._node))

    async def _follow(self) -> None:
        every = self._settings.lease / 3
        async for state in mirror(self._client, self._keys.sharding, every, self._settings.lease / 10):
            try:
                await self._settle(state)
            except CoordinationError as error:  # the next state, at the latest after ``every``, tries again
                _log.warning("shards_not_settled", node=self._node, reason=str(error))
            self._latest.set(self.mine())

    async def _settle(self, state: Mapping[str, Kv]) -> None:
        """Come nearer to what should be."""
        lease = self._lease.lease
        if lease is None or lease != self._under:
            return
        nodes = [key.removeprefix(self._keys.node("")) for key in state if key.startswith(self._keys.node(""))]
        if self._node not in nodes:
            await self.register(lease)
            return
        owners = owners_in(state, self._keys)
        wanted = assign(self._count, nodes, {shard: owner.node for shard, owner in owners.items()})
        for shard, token in list(self._mine.items()):
            kept = state.get(self._keys.owner(shard))
            if kept is not None and kept.lease != lease:  # somebody's by now
                del self._mine[shard]
            elif wanted.get(shard) != self._node:
                del self._mine[shard]
                self._latest.set(self.mine())  # whoever works on it hears of it before it can be another's
                await self._release(shard, token)
        for shard, node in wanted.items():
            if node == self._node and shard not in owners and shard not in self._mine:
                await self._claim(shard, state.get(self._keys.shard_token(shard)), lease)

    async def _claim(self, shard: int, counter: Kv | None, lease: int) -> None:
        owner, count = self._keys.owner(shard).encode(), self._keys.shard_token(shard).encode()
        token, revision = (1, 0) if counter is None else (int(counter.value) + 1, counter.mod)
        claim = [Put(owner, self._name(token), lease), Put(count, str(token).encode())]
        if await self._client.transact([Version(owner) == 0, Mod(count) == revision], claim):
            self._mine[shard] = token

    async def _release(self, shard: int, token: int) -> None:
        owner = self._keys.owner(shard).encode()
        await self._client.transact([Value(owner) == self._name(token)], [Delete(owner)])

    def _name(self, token: int) -> bytes:
        return json.dumps({"node": self._node, "token": token}).encode()


def owners_in(state: Mapping[str, Kv], keys: Keys) -> dict[int, ShardOwner]:
    """Who owns which shard, by what is under the prefix."""
    above = keys.owner(0).rpartition("/")[0] + "/"
    owners = {}
    for key, kv in state.items():
        if key.startswith(above):
            said = json.loads(kv.value)
            owners[int(key.removeprefix(above))] = ShardOwner(str(said["node"]), int(said["token"]))
    return owners


class EtcdShards:
    """``Shards`` in etcd."""

    def __init__(self, client: EtcdClient, keys: Keys, lease: KeptLease, settings: CoordinationSettings) -> None:
        self._client = client
        self._keys = keys
        self._lease = lease
        self._settings = settings
        self._holds: list[EtcdHold] = []
        lease.on_grant(self._again)

    def hold(self, node: str, count: int) -> AbstractAsyncContextManager[ShardHold]:
        return self._hold(node, count)

    @asynccontextmanager
    async def _hold(self, node: str, count: int) -> AsyncIterator[ShardHold]:
        if "/" in node or not node or count < 1:
            raise ValueError(f"a node has a name without a slash, and there is at least one shard: {node!r}, {count}")
        hold = EtcdHold(self._client, self._keys, self._lease, self._settings, node, count)
        self._holds.append(hold)
        try:
            await hold.begin()
            yield hold
        finally:
            self._holds.remove(hold)
            await hold.end()

    async def owners(self) -> Mapping[int, ShardOwner]:
        state, _ = await self._client.range(self._keys.sharding)
        return owners_in(state, self._keys)

    async def _again(self, lease: int) -> None:
        for hold in self._holds:
            await hold.register(lease)
