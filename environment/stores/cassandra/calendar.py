"""Which buckets hold rows: read in two steps, so that nobody walks through hours in which nothing happened."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

from environment.messages import Instant
from environment.stores.cassandra import partitions
from environment.stores.cassandra.driver.session import Session

EVER = (-(1 << 41), 1 << 41)
"""All hours, and all numbers."""
Work: TypeAlias = Callable[[int, int, int, int], Awaitable[tuple[int, int | None]]]
"""Forgets in an hour's part at most so much, at a write time: how much went; by which time nothing is left, if so."""

_ERAS = "SELECT era FROM eras WHERE mind = ? AND scope = ? AND era >= ? AND era <= ?"
_NO_BUCKET = (
    "DELETE FROM buckets USING TIMESTAMP ? WHERE mind = ? AND scope = ? AND era = ? AND bucket = ? AND part = ?"
)
_NO_ERA = "DELETE FROM eras USING TIMESTAMP ? WHERE mind = ? AND scope = ? AND era = ?"
_ANY = "SELECT bucket FROM buckets WHERE mind = ? AND scope = ? AND era = ? LIMIT 1"
_BUCKETS = "SELECT bucket, part FROM buckets WHERE mind = ? AND scope = ? AND era = ? AND bucket >= ? AND bucket <= ?"


async def buckets_of(
    session: Session, mind: str, scope: str, first: int, last: int, *, newest_first: bool
) -> AsyncIterator[tuple[int, list[int]]]:
    """Buckets of a scope from ``first`` to ``last`` that hold rows, or once did, in order, each with its parts."""
    for era in (await eras_of(session, mind, scope, first, last))[:: -1 if newest_first else 1]:
        async for found in buckets_in(session, mind, scope, era, first, last, newest_first=newest_first):
            yield found


async def eras_of(session: Session, mind: str, scope: str, first: int, last: int) -> list[int]:
    """Eras of a scope in which some of these buckets may hold rows, in order."""
    statement = await session.prepare(_ERAS)
    values = (mind, scope, partitions.era(first), partitions.era(last))
    return [row.era for row in await session.execute(statement, values, idempotent=True)]


async def buckets_in(
    session: Session, mind: str, scope: str, era: int, first: int, last: int, *, newest_first: bool
) -> AsyncIterator[tuple[int, list[int]]]:
    """As ``buckets_of``, in one era."""
    statement = await session.prepare(_BUCKETS)
    parts: dict[int, list[int]] = {}
    for bucket, part in await session.execute(statement, (mind, scope, era, first, last), idempotent=True):
        parts.setdefault(bucket, []).append(part)
    for bucket in sorted(parts, reverse=newest_first):
        yield bucket, parts[bucket][:: -1 if newest_first else 1]


async def work_off(
    session: Session, mind: str, scope: str, before: Instant, limit: int, clock: Callable[[], float], work: Work
) -> int:
    """Work through the parts of hours up to ``before``, the oldest first, until ``limit`` went; how many did.

    Hours that are over and have nothing left go from the directory.
    """
    gone, last = 0, partitions.hour(before)
    for era in await eras_of(session, mind, scope, EVER[0], last):
        now = int(clock() * 1e6)
        async for hour, parts in buckets_in(session, mind, scope, era, EVER[0], last, newest_first=False):
            for part in parts:
                if gone >= limit:
                    return gone
                went, emptied = await work(hour, part, limit - gone, now)
                gone += went
                if emptied is not None and hour < last:
                    await _drop_bucket(session, mind, scope, hour, part, emptied)
        if era < partitions.era(last):
            await _drop_empty(session, mind, scope, era, now)
    return gone


async def _drop_bucket(session: Session, mind: str, scope: str, bucket: int, part: int, stamp: int) -> None:
    """Nothing is in it any more that was written by ``stamp``."""
    statement = await session.prepare(_NO_BUCKET)
    values = (stamp, mind, scope, partitions.era(bucket), bucket, part)
    await session.execute(statement, values, idempotent=True)


async def _drop_empty(session: Session, mind: str, scope: str, era: int, stamp: int) -> None:
    """Forget an era that had no bucket left by ``stamp``, if it has none."""
    if not await session.execute(await session.prepare(_ANY), (mind, scope, era), idempotent=True):
        await session.execute(await session.prepare(_NO_ERA), (stamp, mind, scope, era), idempotent=True)
