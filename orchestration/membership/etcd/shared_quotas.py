"""Quotas as transactions: a bucket is a key, and who changed it since we read it makes us read it again."""

from __future__ import annotations

import asyncio
import json
import random
from collections import defaultdict

from aetcd.transactions import Mod, Put

from environment.messages import Instant
from orchestration.membership.errors import CoordinationUnavailable
from orchestration.membership.etcd.client import EtcdClient, Kv
from orchestration.membership.keys import Keys
from orchestration.membership.ports import QuotaGrant, QuotaRate
from orchestration.membership.token_bucket import TokenBucket, full_bucket

_ATTEMPTS = 64
_PAUSE = 0.002


class EtcdQuotas:
    """``Quotas`` in etcd. Takers within this process take turns, so that only processes race."""

    def __init__(self, client: EtcdClient, keys: Keys) -> None:
        self._client = client
        self._keys = keys
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._chance = random.SystemRandom()
        self.races = 0
        """Times that another process was first."""

    async def take(self, name: str, amount: float, allowance: QuotaRate, now: Instant) -> QuotaGrant:
        key = self._key(name)
        async with self._turns[name]:
            for attempt in range(_ATTEMPTS):
                found = await self._client.get(key)
                bucket, taken = _bucket(found, allowance, now).take(amount, allowance, now)
                if not taken.granted:
                    return taken
                body = json.dumps({"level": bucket.level, "at": bucket.at}).encode()
                revision = 0 if found is None else found.mod
                if await self._client.transact([Mod(key.encode()) == revision], [Put(key.encode(), body)]):
                    return taken
                self.races += 1
                await asyncio.sleep(self._chance.uniform(0, _PAUSE * min(attempt + 1, 16)))
        raise CoordinationUnavailable(f"the quota {name!r} is taken from too often at once", retry_after=0.5)

    def _key(self, name: str) -> str:
        if "/" in name or not name:
            raise ValueError(f"a quota's name is not empty and holds no slash, unlike {name!r}")
        return self._keys.quota(name)


def _bucket(found: Kv | None, allowance: QuotaRate, now: Instant) -> TokenBucket:
    if found is None:
        return full_bucket(allowance, now)
    said = json.loads(found.value)
    return TokenBucket(float(said["level"]), float(said["at"]))
