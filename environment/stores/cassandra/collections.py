"""Collections in Cassandra: how documents are found, and forgotten."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing

from environment.collections import Document, beyond
from environment.errors import ChangesGone
from environment.messages import Instant
from environment.stores.cassandra import partitions
from environment.stores.cassandra.calendar import EVER, buckets_of, work_off
from environment.stores.cassandra.commits.commit_logs import head_of
from environment.stores.cassandra.commits.drafts import Draft
from environment.stores.cassandra.commits.record import CORE, DOCUMENTS
from environment.stores.cassandra.commits.writer import CommitWriter
from environment.stores.cassandra.documents import DocumentMeta, DocumentReader, Place
from environment.stores.cassandra.driver.session import Row
from environment.stores.cassandra.traces.traces import change_rows

_KEYS = """SELECT id FROM document_keys WHERE mind = ? AND collection = ? AND part = ? AND id >= ? AND id < ?
    ORDER BY id {} LIMIT ?"""
_TIMES = """SELECT at, id FROM documents_by_time
    WHERE mind = ? AND collection = ? AND hour = ? AND part = ? AND at >= ? AND at < ? LIMIT ?"""
_OLDEST = """SELECT id FROM documents_by_time WHERE mind = ? AND collection = ? AND hour = ? AND part = ?
    ORDER BY at ASC, id DESC LIMIT ?"""
_EXPIRING = "SELECT collection, id FROM documents_expiring WHERE mind = ? AND hour = ? AND part = ? AND at < ? LIMIT ?"
_CHANGES = """SELECT change, collection, id, previous FROM document_changes
    WHERE mind = ? AND bucket = ? AND change > ? AND change <= ?"""
_NAMES = "SELECT name FROM names WHERE mind = ? AND kind = ?"
_LAST = chr(0x10FFFF) * 8
"""Behind every key."""
_AT_ONCE = 500
_MOST = (1 << 31) - 1


class CassandraCollections:
    """``Collections`` in the tables ``document…``; whoever follows sees a commit when all its rows are there."""

    def __init__(self, reader: DocumentReader, writer: CommitWriter) -> None:
        self._reader = reader
        self._session = reader.session
        self._mind = reader.mind
        self._writer = writer

    async def get(self, collection: str, keys: Sequence[str]) -> dict[str, Document]:
        found = await self._reader.documents((collection, key) for key in keys)
        return {key: each for (_, key), each in found.items() if not each.removed}

    async def scan(
        self, collection: str, prefix: str = "", *, after: str = "", limit: int = 1000, backwards: bool = False
    ) -> list[Document]:
        statement = await self._session.prepare(_KEYS.format("DESC" if backwards else "ASC"))
        low, high = prefix, beyond(prefix) or _LAST
        found: list[Document] = []
        while len(found) < limit:
            if after and backwards:
                high = min(high, after)
            elif after:
                low = max(low, after + "\0")
            most = min(limit - len(found), _MOST)
            keys = set[str]()
            async for part, _ in self._buckets(partitions.keys_scope(collection)):
                values = (self._mind, collection, part, low, high, most)
                keys |= {row.id for row in await self._session.execute(statement, values, idempotent=True)}
            page = sorted(keys, reverse=backwards)[:most]
            found += (await self.get(collection, page)).values()
            if len(page) < most:
                break
            after = page[-1]  # some may have been removed meanwhile
        return found

    async def between(self, collection: str, since: Instant, until: Instant, limit: int = 100) -> list[Document]:
        statement = await self._session.prepare(_TIMES)
        hours = partitions.hour(since), partitions.hour(until)
        found: list[Document] = []
        async for hour, parts in self._buckets(partitions.documents_scope(collection), hours, newest_first=True):
            if len(found) >= limit:
                break
            rows: list[Row] = []
            for part in parts:
                values = (self._mind, collection, hour, part, since, until, min(limit, _MOST))
                rows += await self._session.execute(statement, values, idempotent=True)
            rows.sort(key=lambda row: (-row.at, row.id))
            there = await self.get(collection, [row.id for row in rows[:limit]])
            found += [there[row.id] for row in rows[:limit] if row.id in there and there[row.id].time == row.at]
        return found[:limit]

    async def changes(self, collection: str, after: int, limit: int) -> tuple[int, list[Document]]:
        head, reached = await self.head(), max(after, 0)
        found: list[Document] = []
        while len(found) < limit and reached < head:  # fewer than asked for are all there are
            last: dict[Place, int] = {}
            async with aclosing(change_rows(self._session, self._mind, _CHANGES, reached, head)) as pages:
                async for row in (row async for rows in pages for row in rows):
                    if row.collection == collection:
                        if len(last) >= limit - len(found):
                            break
                        last.pop((collection, row.id), None)
                        last[collection, row.id] = row.change
                    reached = row.change
            there = await self._reader.documents(last)
            if len(there) < len(last):  # forgotten since: nobody can tell what became of it
                raise ChangesGone(after)
            # One that has changed again comes later, under that change.
            found += [each for place, each in there.items() if each.change == last[place]]
        return reached, found

    async def head(self) -> int:
        return (await head_of(self._session, self._mind, DOCUMENTS, CORE)).change

    async def names(self) -> list[str]:
        statement = await self._session.prepare(_NAMES)
        rows = await self._session.execute(statement, (self._mind, partitions.COLLECTION), idempotent=True)
        return [row.name for row in rows]

    async def forget(self, before: Instant, limit: int = 10_000) -> int:
        statement = await self._session.prepare(_EXPIRING)

        async def work(hour: int, part: int, most: int, now: int) -> tuple[int, int | None]:
            values = (self._mind, hour, part, before, most)
            rows = await self._session.execute(statement, values, idempotent=True)
            gone = await self._forget(
                [(row.collection, row.id) for row in rows],
                lambda meta: meta.expires is not None and meta.expires < before,
            )
            return gone, now if len(rows) < most else None

        place = (self._session, self._mind, partitions.EXPIRING)
        return await work_off(*place, before, limit, self._writer.logs.clock, work)

    async def trim(self, collection: str, most: int, limit: int = 10_000) -> int:
        counted = await head_of(self._session, self._mind, DOCUMENTS, CORE)
        gone, limit = 0, min(limit, counted.documents.get(collection, 0) - most)
        if limit <= 0:
            return 0
        statement = await self._session.prepare(_OLDEST)
        async for hour, parts in self._buckets(partitions.documents_scope(collection)):
            for part in parts:
                while gone < limit:
                    values = (self._mind, collection, hour, part, min(limit - gone, _AT_ONCE))
                    rows = await self._session.execute(statement, values, idempotent=True)
                    went = await self._forget([(collection, row.id) for row in rows], lambda meta: not meta.removed)
                    gone += went
                    if not went:
                        break
        return gone

    async def _forget(self, places: Sequence[Place], may: Callable[[DocumentMeta], bool]) -> int:
        """Forget those of which that is so when it is decided; how many went."""
        gone: Sequence[Place] = ()

        async def fill(draft: Draft) -> None:
            nonlocal gone
            gone = await draft.forget_documents(places, may)

        if places:
            await self._writer.decide_on(DOCUMENTS, fill)
        return len(gone)

    def _buckets(
        self, scope: str, span: tuple[int, int] = EVER, *, newest_first: bool = False
    ) -> AsyncIterator[tuple[int, list[int]]]:
        return buckets_of(self._session, self._mind, scope, *span, newest_first=newest_first)
