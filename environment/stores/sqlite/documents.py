"""Collections in SQLite: all documents of all collections in one table."""

import json
import sqlite3
from collections.abc import Sequence
from typing import TypeAlias

from environment.collections import Document, RemoveDocument, WriteDocument, beyond
from environment.errors import ChangesGone, StaleRevision
from environment.messages import Instant
from environment.stores.sqlite.connection_executor import SqliteTable, fit
from environment.stores.sqlite.schema import counter, set_counter
from environment.vectors import packed, unpacked

_CHANGE = "documents.change"
_GONE = "documents.gone/"
"""And a collection: the last change of a document of it that was forgotten, of which nobody can be told any more."""

_COLUMNS = "collection, key, body, time, expires, vector, version, change, removed"
_SELECT = f"SELECT {_COLUMNS} FROM documents WHERE mind = ? AND collection = ?"  # noqa: S608 - the words are ours
_PUT = f"""INSERT INTO documents (mind, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (mind, collection, key) DO UPDATE SET body = excluded.body, time = excluded.time,
    expires = excluded.expires, vector = excluded.vector, version = excluded.version, change = excluded.change,
    removed = excluded.removed"""  # noqa: S608 - the words are ours

_Row: TypeAlias = "tuple[str, str, bytes, float, float | None, bytes | None, int, int, int]"


def _document(row: _Row) -> Document:
    collection, key, body, time, expires, vector, version, change, removed = row
    return Document(collection, key, body, time, expires, unpacked(vector), version, change, removed=bool(removed))


def write_document(connection: sqlite3.Connection, mind: str, write: WriteDocument | RemoveDocument) -> None:
    """Put or remove a document, inside a transaction. Raises ``StaleRevision``."""
    document = write.document
    row = connection.execute(f"{_SELECT} AND key = ?", (mind, document.collection, document.key)).fetchone()
    there = None if row is None or row[-1] else _document(row)
    current = there.version if there else 0
    if (there == document) if there else document.removed:
        return
    if write.base is not None and write.base != current:
        raise StaleRevision(f"{document.collection}/{document.key}", write.base, current)
    change = counter(connection, mind, _CHANGE) + 1
    set_counter(connection, mind, _CHANGE, change)
    connection.execute(
        _PUT,
        (
            *(mind, document.collection, document.key, document.body, document.time, document.expires),
            *(packed(document.vector), max(current + 1, document.version), change, document.removed),
        ),
    )


class SqliteCollections(SqliteTable):
    """``Collections`` in ``mind.db``."""

    async def get(self, collection: str, keys: Sequence[str]) -> dict[str, Document]:
        among = " AND key IN (SELECT value FROM json_each(?)) AND removed = 0"
        found = await self._read(collection, among, json.dumps(list(keys)))
        return {each.key: each for each in found}

    async def scan(
        self, collection: str, prefix: str = "", *, after: str = "", limit: int = 1000, backwards: bool = False
    ) -> list[Document]:
        where, values = " AND key >= ?", [prefix]
        if (end := beyond(prefix)) is not None:
            where, values = f"{where} AND key < ?", [*values, end]
        if after:
            where, values = f"{where} AND key {'<' if backwards else '>'} ?", [*values, after]
        order = f" AND removed = 0 ORDER BY key {'DESC' if backwards else 'ASC'} LIMIT ?"
        return await self._read(collection, where + order, *values, fit(limit))

    async def between(self, collection: str, since: Instant, until: Instant, limit: int = 100) -> list[Document]:
        where = " AND removed = 0 AND time >= ? AND time < ? ORDER BY time DESC, key LIMIT ?"
        return await self._read(collection, where, since, until, fit(limit))

    async def changes(self, collection: str, after: int, limit: int) -> tuple[int, list[Document]]:
        def work(connection: sqlite3.Connection) -> tuple[int, list[Document]]:
            if after < counter(connection, self._mind, _GONE + collection):
                raise ChangesGone(after)
            rows = connection.execute(
                f"{_SELECT} AND change > ? ORDER BY change LIMIT ?", (self._mind, collection, fit(after), fit(limit))
            ).fetchall()
            head = max(after, counter(connection, self._mind, _CHANGE)) if len(rows) < limit else rows[-1][7]
            return head, [_document(row) for row in rows]

        return await self._executor.read(work)

    async def head(self) -> int:
        return await self._executor.read(lambda connection: counter(connection, self._mind, _CHANGE))

    async def names(self) -> list[str]:
        statement = "SELECT DISTINCT collection FROM documents WHERE mind = ?"
        return sorted(await self._executor.rows(lambda row: str(row[0]), statement, (self._mind,)), key=str.encode)

    async def forget(self, before: Instant, limit: int = 10_000) -> int:
        return await self._delete("expires < ?2 ORDER BY expires LIMIT ?3", before, fit(limit))

    async def trim(self, collection: str, most: int, limit: int = 10_000) -> int:
        over = "(SELECT count(*) FROM documents WHERE mind = ?1 AND collection = ?2 AND removed = 0) - ?3"
        where = f"collection = ?2 AND removed = 0 ORDER BY time, key LIMIT max(0, min({over}, ?4))"
        return await self._delete(where, collection, fit(most), fit(limit))

    async def _read(self, collection: str, where: str, *values: object) -> list[Document]:
        return await self._executor.rows(_document, _SELECT + where, (self._mind, collection, *values))

    async def _delete(self, where: str, *values: object) -> int:
        def work(connection: sqlite3.Connection) -> int:
            old = connection.execute(
                f"SELECT number, collection, change FROM documents WHERE mind = ?1 AND {where}",  # noqa: S608 - the words are ours
                (self._mind, *values),
            ).fetchall()
            connection.executemany("DELETE FROM documents WHERE number = ?", [(number,) for number, _, _ in old])
            gone: dict[str, int] = {}
            for _, collection, change in old:
                gone[collection] = max(gone.get(collection, 0), change)
            for collection, last in gone.items():
                name = _GONE + collection
                set_counter(connection, self._mind, name, max(last, counter(connection, self._mind, name)))
            return len(old)

        return await self._executor.change(work)
