"""The stream of consciousness in SQLite."""

import sqlite3
from collections.abc import Sequence

from environment.errors import DuplicateEntry, SequenceGap
from environment.messages import StreamEntry
from environment.stores.codec import decode_entry, encode
from environment.stores.sqlite.connection_executor import SqliteTable, fit


def _head(connection: sqlite3.Connection, mind: str) -> int:
    (head,) = connection.execute("SELECT max(seq) FROM entries WHERE mind = ?", (mind,)).fetchone()
    return head or 0


def append_entries(connection: sqlite3.Connection, mind: str, entries: Sequence[StreamEntry]) -> None:
    """Continue the stream, inside a transaction; what is there already, number and id, is left as it is.

    Raises ``SequenceGap`` or ``DuplicateEntry``.
    """
    expected = _head(connection, mind) + 1
    for entry in entries:
        known = connection.execute("SELECT seq FROM entries WHERE mind = ? AND id = ?", (mind, entry.id)).fetchone()
        if known is not None:
            if known[0] == entry.seq:
                continue
            raise DuplicateEntry(entry.id, known[0])
        if entry.seq != expected:
            raise SequenceGap(expected, entry.seq)
        connection.execute(
            "INSERT INTO entries (mind, seq, id, body) VALUES (?, ?, ?, ?)",
            (mind, entry.seq, entry.id, encode(entry)),
        )
        expected += 1


def redact_entries(connection: sqlite3.Connection, mind: str, entries: Sequence[StreamEntry]) -> None:
    """Put entries in the place of those of their numbers and ids, inside a transaction."""
    connection.executemany(
        "UPDATE entries SET body = ? WHERE mind = ? AND seq = ? AND id = ?",
        [(encode(entry), mind, entry.seq, entry.id) for entry in entries],
    )


def _entry(row: tuple[bytes]) -> StreamEntry:
    return decode_entry(row[0])


class SqliteStream(SqliteTable):
    """``StreamLog`` in ``mind.db``."""

    async def head(self) -> int:
        return await self._executor.read(lambda connection: _head(connection, self._mind))

    async def read(self, from_seq: int, limit: int) -> list[StreamEntry]:
        statement = "SELECT body FROM entries WHERE mind = ? AND seq >= ? ORDER BY seq LIMIT ?"
        return await self._executor.rows(_entry, statement, (self._mind, fit(from_seq), fit(limit)))

    async def find(self, entry_id: str) -> StreamEntry | None:
        statement = "SELECT body FROM entries WHERE mind = ? AND id = ?"
        return await self._executor.row(_entry, statement, (self._mind, entry_id))
