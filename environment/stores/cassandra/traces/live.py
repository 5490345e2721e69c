"""Which traces are live, without a row that is ever deleted from among others.

The log of changes says of each whether it was live then. Every so many changes the ids of all that are live are written
down as one *generation*, in pages that are never changed; with the changes since then it says what is live now. So
finding the live costs what they are and a bounded segment of the log, however old the mind. Of the generations the
last two are kept, the older ones are deleted as whole partitions.

Changes expire, and long before they do a generation is written down. Where that was not done, since the mind was off or
killed for longer than that, every trace that is kept is asked whether it is live, once.
"""

import zlib
from dataclasses import dataclass

import msgspec

from environment.errors import ChangesGone, StoreUnavailable
from environment.messages import Instant
from environment.stores.cassandra import partitions
from environment.stores.cassandra.driver.session import CassandraTable
from environment.stores.cassandra.traces.scan import scan_traces
from environment.stores.cassandra.traces.traces import TraceReader

_GENERATION = "SELECT generation, pages, previous, previous_pages, at FROM live_generations WHERE mind = ?"
_PAGE = "SELECT body FROM live_pages WHERE mind = ? AND generation = ? AND page = ?"
_PUT_PAGE = "INSERT INTO live_pages (mind, generation, page, body) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_PUT_GENERATION = """INSERT INTO live_generations (mind, generation, pages, previous, previous_pages, at)
    VALUES (?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"""
_NO_PAGE = "DELETE FROM live_pages USING TIMESTAMP ? WHERE mind = ? AND generation = ? AND page = ?"
_LIVE = "SELECT live FROM traces WHERE mind = ? AND id = ? AND chunk = 0 LIMIT 1"
_TRIES = 5
_AT_ONCE = 1000
_ids = msgspec.msgpack.Decoder(list[str])


@dataclass(frozen=True, slots=True)
class LiveGeneration:
    """What was written down last."""

    change: int = 0
    """It holds what was live after this change."""
    pages: int = 0
    previous: int = 0
    previous_pages: int = 0
    at: Instant | None = None
    """When it was written down; None: nobody knows."""


class _Gone(Exception):
    """A generation was dropped while it was read."""


@dataclass(eq=False, repr=False)
class LiveSet(CassandraTable):
    """The ids of the live traces of one mind. Every method may raise ``StoreUnavailable``."""

    _reader: TraceReader

    async def ids(self, change: int) -> set[str]:
        """What was live after ``change``, which must have been reached; later, where the changes since have expired."""
        for _ in range(_TRIES):
            generation = await self.generation()
            if generation.change > change:
                generation = LiveGeneration(generation.previous, generation.previous_pages)
            if generation.change > change:
                generation = LiveGeneration()
            try:
                return await self._since(generation, change)
            except _Gone:
                continue
            except ChangesGone:
                return await self._asked()
        raise StoreUnavailable("what is live was written down anew again and again", retry_after=1.0)

    async def generation(self) -> LiveGeneration:
        """The last that was written down."""
        statement = await self._session.prepare(_GENERATION)
        rows = await self._session.execute(statement, (self._mind,), idempotent=True)
        return LiveGeneration(*rows[0]) if rows else LiveGeneration()

    async def write_down(self, change: int, now: Instant) -> LiveGeneration:
        """Write down what is live after ``change``, then let go of the last generation but one.

        Two that do so at once write the same: what they write follows from ``change`` alone, or is made the same by
        the changes that follow it.
        """
        last = await self.generation()
        if last.change >= change:
            return last
        try:
            ids = sorted(await self._since(last, change))
        except ChangesGone:
            ids = sorted(await self._asked())
        bodies = _pages(ids)
        put = await self._session.prepare(_PUT_PAGE)
        pages = [(put, (self._mind, change, page, body, change)) for page, body in enumerate(bodies)]
        await self._session.execute_all(pages, idempotent=True, concurrency=8)
        made = LiveGeneration(change, len(bodies), last.change, last.pages, now)
        values = (self._mind, made.change, made.pages, made.previous, made.previous_pages, now, change)
        await self._session.execute(await self._session.prepare(_PUT_GENERATION), values, idempotent=True)
        gone = await self._session.prepare(_NO_PAGE)
        old = [(gone, (last.previous, self._mind, last.previous, page)) for page in range(last.previous_pages)]
        await self._session.execute_all(old, idempotent=True, concurrency=8)
        return made

    async def _asked(self) -> set[str]:
        """What is live by what every trace says of itself."""
        statement = await self._session.prepare(_LIVE)
        ids: set[str] = set()
        names: list[str] = []

        async def ask() -> None:
            requests = [(statement, (self._mind, name)) for name in names]
            answers = await self._session.execute_all(requests, idempotent=True, patient=True)
            ids.update(name for name, rows in zip(names, answers, strict=True) if rows and rows[0].live)
            names.clear()

        async for name, _ in scan_traces(self._session, self._mind):
            names.append(name)
            if len(names) >= _AT_ONCE:
                await ask()
        await ask()
        return ids

    async def _since(self, generation: LiveGeneration, change: int) -> set[str]:
        ids = await self._read(generation)
        async for rows in self._reader.changes(generation.change, change):
            for row in rows:
                if row.live:
                    ids.add(row.id)
                else:
                    ids.discard(row.id)
        return ids

    async def _read(self, generation: LiveGeneration) -> set[str]:
        statement = await self._session.prepare(_PAGE)
        pages = [(statement, (self._mind, generation.change, page)) for page in range(generation.pages)]
        ids: set[str] = set()
        for rows in await self._session.execute_all(pages, idempotent=True, concurrency=8, patient=True):
            if not rows:
                raise _Gone
            ids.update(_ids.decode(zlib.decompress(rows[0].body)))
        return ids


def _pages(ids: list[str]) -> list[bytes]:
    """Ids in pages of less than ``PAGE`` bytes (an id alone is smaller than that by far)."""
    pages: list[bytes] = []
    page: list[str] = []
    size = 0
    for name in ids:
        size += len(name.encode()) + 5
        if page and size > partitions.PAGE:
            pages.append(zlib.compress(msgspec.msgpack.encode(page)))
            page, size = [], len(name.encode()) + 5
        page.append(name)
    if page:
        pages.append(zlib.compress(msgspec.msgpack.encode(page)))
    return pages
