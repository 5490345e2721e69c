"""The directory of subminds, under this process's lease."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import msgspec
import structlog
from aetcd.transactions import Delete, Mod, Put, Version

from orchestration.membership.etcd.client import EtcdClient, Kv
from orchestration.membership.etcd.lease import KeptLease
from orchestration.membership.etcd.watch import mirror
from orchestration.membership.keys import Keys
from orchestration.membership.latest import Latest
from orchestration.membership.ports import Listing
from orchestration.membership.settings import CoordinationSettings

_log = structlog.get_logger(__name__)
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Listing)


class EtcdDirectory:
    """``Directory`` in etcd. The last to announce a name has it; who lost it neither takes it back nor off."""

    def __init__(self, client: EtcdClient, keys: Keys, lease: KeptLease, settings: CoordinationSettings) -> None:
        self._client = client
        self._keys = keys
        self._lease = lease
        self._settings = settings
        self._mine: dict[str, tuple[Listing, int]] = {}
        self._latest: Latest[Mapping[str, Listing]] = Latest()
        self._following: asyncio.Task[None] | None = None
        lease.on_grant(self._again)

    async def announce(self, listing: Listing) -> None:
        if "/" in listing.name or not listing.name:
            raise ValueError(f"a submind's name is not empty and holds no slash, unlike {listing.name!r}")
        self._mine[listing.name] = (listing, 0)  # so that it comes back when this does not get through
        lease = await self._lease.get(self._settings.request_timeout)
        revision = await self._client.put(self._key(listing.name), _ENCODER.encode(listing), lease)
        self._mine[listing.name] = (listing, revision)

    async def withdraw(self, name: str) -> None:
        _, revision = self._mine.pop(name, (None, 0))
        if revision:
            key = self._key(name).encode()
            await self._client.transact([Mod(key) == revision], [Delete(key)])

    async def listings(self) -> Mapping[str, Listing]:
        found, _ = await self._client.range(self._keys.subminds)
        return self._read(found)

    def watch(self) -> AsyncIterator[Mapping[str, Listing]]:
        self._following = self._following or asyncio.create_task(self._follow(), name="directory")
        return self._latest.follow()

    async def close(self) -> None:
        """End every ``watch``; what is listed goes with the lease."""
        self._latest.close()
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def _follow(self) -> None:
        async for state in mirror(self._client, self._keys.subminds, self._settings.lease, self._settings.lease / 10):
            self._latest.set(self._read(state))

    async def _again(self, lease: int) -> None:
        """List everybody under a new lease, but for those whom another process has listed meanwhile."""
        for name, (listing, revision) in list(self._mine.items()):
            key, body = self._key(name).encode(), _ENCODER.encode(listing)
            for condition in (Version(key) == 0, Mod(key) == revision):
                if await self._client.transact([condition], [Put(key, body, lease)]):
                    found = await self._client.get(self._key(name))
                    if found is not None and found.lease == lease:
                        self._mine[name] = (listing, found.mod)
                    break
            else:
                _log.warning("listed_elsewhere", submind=name)

    def _key(self, name: str) -> str:
        return f"{self._keys.subminds}{name}"

    def _read(self, found: Mapping[str, Kv]) -> Mapping[str, Listing]:
        listings = {}
        for key, kv in found.items():
            try:
                listings[key.removeprefix(self._keys.subminds)] = _DECODER.decode(kv.value)
            except msgspec.MsgspecError as error:  # another version's, or a hand's: the others are there all the same
                _log.warning("listing_unread", key=key, reason=str(error))
        return listings
