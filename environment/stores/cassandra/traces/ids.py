"""Which ids of traces are surely new, so that leaving a new trace reads nothing.

A Bloom filter of fixed size over all ids that ever were: what it does not hold is new, what it may hold is read. It
is written down now and then, so a start reads it and the changes since, whatever the age of the mind. As it fills, more
new ids are read for; it is never wrong about one being new.
"""

import asyncio
import contextlib
import zlib
from hashlib import blake2b

import numpy as np

from environment.errors import ChangesGone, StoreUnavailable
from environment.stores.cassandra import partitions
from environment.stores.cassandra.driver.session import Session
from environment.stores.cassandra.traces.scan import scan_traces
from environment.stores.cassandra.traces.traces import TraceReader

_PROBES = 4
_HEAD = "SELECT change, pages FROM known_ids WHERE mind = ?"
_PAGE = "SELECT body FROM known_id_pages WHERE mind = ? AND page = ?"
_PUT_HEAD = "INSERT INTO known_ids (mind, change, pages) VALUES (?, ?, ?) USING TIMESTAMP ?"
_PUT_PAGE = "INSERT INTO known_id_pages (mind, page, body) VALUES (?, ?, ?) USING TIMESTAMP ?"


class KnownIds:
    """The ids of one mind's traces, for the one that writes them. ``size`` bytes; 0: every id may be known.

    Until it is complete, which a background task sees to, it says of every id that it may be known.
    """

    def __init__(self, session: Session, mind: str, reader: TraceReader, size: int) -> None:
        self._session = session
        self._mind = mind
        self._reader = reader
        self._pages = -(-size // partitions.PAGE)
        self._bits = bytearray()  # made when it is needed: most openings leave no traces
        self._change = 0
        """All ids of changes up to this one are in, once ``complete``."""
        self._written = 0
        self._filling: asyncio.Task[None] | None = None
        self.complete = False

    def start(self, change: int) -> None:
        """The ids of all changes up to ``change`` are to be known: read in the background what is not yet."""
        if self._pages:
            self.complete = False
            self._bits = self._bits or bytearray(self._pages * partitions.PAGE)
            if self._filling is not None:
                self._filling.cancel()
            self._filling = asyncio.create_task(self._fill(change), name=f"ids-{self._mind}")

    async def stop(self) -> None:
        """End the background task; may be called twice."""
        if self._filling is not None:
            self._filling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._filling
            self._filling = None

    def may_hold(self, name: str) -> bool:
        """Whether there may be a trace of that id; false means that there never was."""
        return not self.complete or all(self._bits[at >> 3] & (1 << (at & 7)) for at in self._places(name))

    def add(self, name: str) -> None:
        """There is a trace of that id."""
        if self._bits:
            for at in self._places(name):
                self._bits[at >> 3] |= 1 << (at & 7)

    async def write_down(self, change: int) -> None:
        """Write the filter down, which holds the ids of all changes up to ``change``; not while it is incomplete.

        In place: bits are only ever set, so pages of two times together hold at least what the older one held.
        """
        if not self.complete or change <= self._written:
            return
        put = await self._session.prepare(_PUT_PAGE)
        for page in range(self._pages):  # one after the other: nobody waits for them
            body = zlib.compress(self._bits[page * partitions.PAGE : (page + 1) * partitions.PAGE], 1)
            await self._session.execute(put, (self._mind, page, body, change), idempotent=True)
        head = await self._session.prepare(_PUT_HEAD)
        await self._session.execute(head, (self._mind, change, self._pages, change), idempotent=True)
        self._written = change

    async def _fill(self, change: int) -> None:
        while not self.complete:
            try:
                await self._load()
                await self._follow(change)
                self.complete = True
            except StoreUnavailable as error:
                await asyncio.sleep(error.retry_after)

    async def _follow(self, change: int) -> None:
        """Take in what came since; from all that are kept, where that is no longer known."""
        try:
            async for rows in self._reader.changes(self._change, change):
                for row in rows:
                    self.add(row.id)
                self._change = rows[-1].change
        except ChangesGone:
            async for name, _ in scan_traces(self._session, self._mind):
                self.add(name)
        self._change = max(self._change, change)

    async def _load(self) -> None:
        """Take in what was written down, where that is more than what is here; of another size it is of no use."""
        heads = await self._session.execute(await self._session.prepare(_HEAD), (self._mind,), idempotent=True)
        if not heads or heads[0].pages != self._pages or heads[0].change <= self._change:
            return
        statement = await self._session.prepare(_PAGE)
        for page in range(self._pages):
            rows = await self._session.execute(statement, (self._mind, page), idempotent=True)
            if rows:
                start = page * partitions.PAGE
                ours = np.frombuffer(self._bits, np.uint8, partitions.PAGE, start)
                np.bitwise_or(ours, np.frombuffer(zlib.decompress(rows[0].body), np.uint8), out=ours)
        self._change = self._written = heads[0].change

    def _places(self, name: str) -> list[int]:
        """Kirsch and Mitzenmacher (2006): two halves of one hash make as many places as are needed."""
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        first, step = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little") | 1
        size = 8 * len(self._bits)
        return [(first + probe * step) % size for probe in range(_PROBES)]
