"""Which buckets hold rows: read in two steps, so that nobody walks through hours in which nothing happened."""

from __future__ import annotations

from collections.abc import AsyncIterator

from environment.stores.cassandra import partitions
from environment.stores.cassandra.driver.session import Session

_ERAS = "SELECT era FROM eras WHERE mind = ? AND scope = ? AND era >= ? AND era <= ?"
_BUCKETS = "SELECT bucket, part FROM buckets WHERE mind = ? AND scope = ? AND era = ? AND bucket >= ? AND bucket <= ?"


async def buckets_of(
    session: Session, mind: str, scope: str, first: int, last: int, *, newest_first: bool
) -> AsyncIterator[tuple[int, list[int]]]:
    """Buckets of a scope from ``first`` to ``last`` that hold rows, or once did, in order, each with its parts."""
    step = -1 if newest_first else 1
    eras = await session.prepare(_ERAS)
    found = await session.execute(eras, (mind, scope, partitions.era(first), partitions.era(last)), idempotent=True)
    statement = await session.prepare(_BUCKETS)
    for row in found[::step]:
        parts: dict[int, list[int]] = {}
        for bucket, part in await session.execute(statement, (mind, scope, row.era, first, last), idempotent=True):
            parts.setdefault(bucket, []).append(part)
        for bucket in sorted(parts, reverse=newest_first):
            yield bucket, parts[bucket][::step]
