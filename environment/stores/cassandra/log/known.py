"""Which idempotency keys are known, as the writer of a mind's perception log asks.

In this order: the keys that came last, in memory; a filter that says of nearly every new key that it is new; and only
where neither knows, the table, and then the perception that it names, since a row may be left by a writer that never
committed. The filter is filled after the start, from the newest perceptions to the oldest, while keys are
being asked for by reads; where it would need more memory than it may have, that goes on.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Sequence

from environment.errors import StoreUnavailable
from environment.stores.cassandra.driver.session import Session
from environment.stores.cassandra.log.header import Header
from environment.stores.cassandra.log.keys import NO_KEY, SEGMENT_BYTES, KeyFilter, each_key
from environment.stores.cassandra.log.layout import CHUNK, chunk_of, first_of, last_of
from environment.stores.cassandra.log.segments import Request, SegmentTable

_FIND = "SELECT position FROM perception_keys WHERE mind = ? AND key = ?"
_WRITE = "INSERT INTO perception_keys (mind, key, position) VALUES (?, ?, ?) USING TIMESTAMP ?"
_DELETE = "DELETE FROM perception_keys USING TIMESTAMP ? WHERE mind = ? AND key = ?"
_AT_ONCE = 8
"""Chunks that are read at the same time to fill the filter."""
_GAP = 4 * CHUNK
"""Numbers that another wrote and that are learnt before writing goes on; beyond that the filter begins anew."""


class KnownKeys:
    """The keys of one mind's log, for the one that writes it."""

    def __init__(self, session: Session, mind: str, table: SegmentTable, *, recent: int, filter_bytes: int) -> None:
        self._session = session
        self._mind = mind
        self._table = table
        self._most = recent
        self._recent: OrderedDict[bytes, int] = OrderedDict()
        self._filter = KeyFilter(filter_bytes // SEGMENT_BYTES)
        self._begun = False
        self._low = 0
        self._filling: asyncio.Task[None] | None = None
        self.asked = 0
        """Keys that were asked for by a read."""

    @property
    def missing(self) -> int:
        """Perceptions whose keys the filter does not hold yet, or has no room for."""
        return max(0, self._filter.first - 1 - self._low)

    async def begin(self, header: Header) -> None:
        """This one writes now: learn what others wrote, and fill the filter from what was there before."""
        await self.stop()
        self._low = header.low
        if not self._begun or not 0 <= header.head - self._filter.last <= _GAP:
            self._filter.begin(header.head)
            self._begun = True
        while self._filter.last < header.head:
            first = self._filter.last + 1
            last = min(header.head, last_of(chunk_of(first)))
            self._filter.extend(await self._table.keys_between(first, last, header.head), last + 1 - first)
        if not self._filter.holds(header.low):
            self._filling = asyncio.create_task(self._fill(), name=f"keys-{self._mind}")

    async def stop(self) -> None:
        """End the filling; may be called twice."""
        if self._filling is not None:
            self._filling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._filling
            self._filling = None

    async def _fill(self) -> None:
        while not self._filter.holds(self._low):
            last = chunk_of(self._filter.first - 1)
            chunks = range(last, max(chunk_of(self._low + 1), last - _AT_ONCE + 1) - 1, -1)
            try:
                found = await asyncio.gather(*map(self._table.keys, chunks))
            except StoreUnavailable as error:
                await asyncio.sleep(error.retry_after)
                continue
            for chunk, hashes in zip(chunks, found, strict=True):
                if not self._filter.precede(first_of(chunk), hashes):
                    return

    def learn(self, keys: bytes, count: int, first: int) -> None:
        """Perceptions with ``keys`` (or none) were committed from the number ``first`` on."""
        self._filter.extend(keys, count)
        for position, key in enumerate(each_key(keys), first):
            if key != NO_KEY:
                self._recent[key] = position
        while len(self._recent) > self._most:
            self._recent.popitem(last=False)

    def forget(self, low: int) -> None:
        """What stands up to ``low`` was forgotten, and its keys with it."""
        self._low = max(self._low, low)
        self._filter.drop(self._low)

    async def find(self, keys: Sequence[bytes], header: Header) -> dict[bytes, int]:
        """Those of ``keys`` under which a perception is kept, and its number. ``header`` is of now, but for ``low``."""
        found = {key: self._recent[key] for key in keys if key in self._recent}
        unsure = [key for key in keys if key not in found]
        if unsure and self._filter.holds(self._low):
            maybe = self._filter.maybe(b"".join(unsure))
            unsure = [key for key, may in zip(unsure, maybe.tolist(), strict=True) if may] if maybe.any() else []
        if unsure:
            found |= await self._ask(unsure, header)
        return {key: position for key, position in found.items() if position > self._low}

    async def _ask(self, keys: Sequence[bytes], header: Header) -> dict[bytes, int]:
        self.asked += len(keys)
        statement = await self._session.prepare(_FIND)
        answers = await self._session.execute_all([(statement, (self._mind, key)) for key in keys], idempotent=True)
        said = {key: rows[0].position for key, rows in zip(keys, answers, strict=True) if rows}
        said = {key: position for key, position in said.items() if self._low < position <= header.head}
        there = await asyncio.gather(*(self._table.key_at(position, header.head) for position in said.values()))
        return {key: position for (key, position), own in zip(said.items(), there, strict=True) if own == key}

    async def requests(self, first: int, keys: bytes, written: int) -> list[Request]:
        """What writes the keys of perceptions from the number ``first`` on."""
        statement = await self._session.prepare(_WRITE)
        return [
            (statement, (self._mind, key, position, written))
            for position, key in enumerate(each_key(keys), first)
            if key != NO_KEY
        ]

    async def delete(self, keys: bytes, written: int) -> None:
        """Delete keys as they were written then: not what was written later. May be repeated."""
        statement = await self._session.prepare(_DELETE)
        for key in each_key(keys):
            self._recent.pop(key, None)
        requests = [(statement, (written, self._mind, key)) for key in each_key(keys) if key != NO_KEY]
        await self._session.execute_all(requests, idempotent=True)
