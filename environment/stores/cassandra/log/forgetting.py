"""Forgetting old perceptions: first nobody sees them any more, then their rows go, whole partitions at a time."""

import asyncio
from dataclasses import dataclass

from environment.messages import Instant
from environment.stores.cassandra.log.header import Header, LogHeader
from environment.stores.cassandra.log.known import KnownKeys
from environment.stores.cassandra.log.layout import chunk_of, last_of
from environment.stores.cassandra.log.segments import SegmentTable


@dataclass(frozen=True, slots=True)
class Age:
    """What is old enough to go."""

    before: Instant
    """What was received before this."""
    believed: Instant
    """A clock that said later than this was wrong."""


async def forget(log: LogHeader, table: SegmentTable, header: Header, up_to: int, limit: int, age: Age) -> int:
    """Raise the last number that was forgotten as far as it may go; that number. Nothing is read but places.

    The oldest go first: where one must stay, so do those after it. What was received at a time that cannot be is passed
    over, and goes with what is old behind it.
    """
    low, most = header.low, min(up_to, header.head)
    at = low
    while at < most and low - header.low < limit:
        found = [each for each in await table.index(chunk_of(at + 1), header.head) if each.position > at]
        for each in found:
            old = each.received < age.before
            if each.end > most or not (old or each.received > age.believed) or low - header.low >= limit:
                return await _raise(log, header, low)
            at = each.end
            low = at if old else low
        if not found:
            raise table.broken(f"perception {at + 1} is missing")
    return await _raise(log, header, low)


async def _raise(log: LogHeader, header: Header, low: int) -> int:
    if low > header.low:
        await log.raise_end(low=low)
    return low


async def sweep(log: LogHeader, table: SegmentTable, known: KnownKeys, swept: int, low: int) -> None:
    """Delete the rows of whole chunks up to the number ``low``, after those that were ``swept``; may be repeated.

    Keys go as they were written with their perceptions: one that was accepted again since then stays.
    """
    last = swept
    while last_of(chunk_of(last + 1)) <= low:
        chunk = chunk_of(last + 1)
        gone = await table.gone(chunk)
        await asyncio.gather(*(known.delete(keys, written) for _, keys, written in gone))
        await table.delete(chunk, [segment for segment, _, _ in gone])
        last = last_of(chunk)
    if last > swept:
        await log.raise_end(swept=last)
