"""Traces and their revisions in SQLite."""

import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from typing import TypeAlias

from environment.errors import ChangesGone, StaleRevision
from environment.messages import Instant, Level, Trace
from environment.ports import Progress, WriteLevel, WriteTrace
from environment.stores.codec import decode_names, decode_thought, encode, encode_names
from environment.stores.movable import MovedTrace
from environment.stores.repeats import same_content
from environment.stores.sqlite.connection_executor import SqliteTable, fit
from environment.stores.sqlite.schema import counter, set_counter

_Rows: TypeAlias = list[tuple[object, ...]]

_CHANGE, _ROWS = "traces.change", "traces.rows"
_GONE = "traces.gone"
"""The last change of a trace that was forgotten: who has read less far cannot be told of it."""

_SELECT = """SELECT t.version, t.live, t.conscious, t.value, t.at, t.half_life, c.authors, c.body, t.id, t.change
    FROM traces t JOIN contents c ON c.number = t.content AND c.mind = t.mind WHERE t.mind = ?"""

_AMONG = " AND t.id IN (SELECT value FROM json_each(?))"

_REVISIONS = """WITH RECURSIVE chain (number) AS (
        SELECT content FROM traces WHERE mind = ?1 AND id = ?2
        UNION ALL
        SELECT c.previous FROM contents c JOIN chain ON c.number = chain.number
        WHERE c.mind = ?1 AND c.previous IS NOT NULL)
    SELECT c.version, c.value, c.at, c.half_life, c.authors, c.body
    FROM chain JOIN contents c ON c.number = chain.number AND c.mind = ?1 ORDER BY c.version"""

_PUT = """INSERT INTO traces (mind, id, version, content, live, conscious, value, at, half_life, change)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (mind, id) DO UPDATE SET version = excluded.version, content = excluded.content,
    live = excluded.live, conscious = excluded.conscious, value = excluded.value, at = excluded.at,
    half_life = excluded.half_life, change = excluded.change"""


def _trace(row: tuple[int, int, int | None, float, float, float, bytes, bytes]) -> Trace:
    version, live, conscious, value, at, half_life, authors, body = row[:8]
    level = Level(value, at, half_life)
    return Trace(decode_thought(body), version, level, bool(live), conscious, decode_names(authors))


def _revisions(connection: sqlite3.Connection, mind: str, trace_id: str) -> list[Trace]:
    newest = connection.execute(f"{_SELECT} AND t.id = ?", (mind, trace_id)).fetchone()
    if newest is None:
        return []
    older = connection.execute(_REVISIONS, (mind, trace_id)).fetchall()[:-1]
    return [_trace((version, 0, None, *rest)) for version, *rest in older] + [_trace(newest)]


def moved(connection: sqlite3.Connection, mind: str, trace_id: str) -> MovedTrace:
    """A trace that is there, with every version as it was written."""
    standing = _trace(connection.execute(f"{_SELECT} AND t.id = ?", (mind, trace_id)).fetchone())
    written = connection.execute(_REVISIONS, (mind, trace_id))
    live, conscious = standing.live, standing.conscious
    return MovedTrace(tuple(_trace((version, live, conscious, *rest)) for version, *rest in written), standing)


def changes_of(connection: sqlite3.Connection, mind: str, ids: str) -> list[tuple[str, int]]:
    """Those of ``ids``, as JSON, that are there, each with its last change."""
    sql = "SELECT id, change FROM traces WHERE mind = ? AND id IN (SELECT value FROM json_each(?))"
    return connection.execute(sql, (mind, ids)).fetchall()


def changed_after(connection: sqlite3.Connection, mind: str, after: int) -> tuple[int, list[str]]:
    """See ``Moving.changed``."""
    if after < counter(connection, mind, _GONE):
        raise ChangesGone(after)
    rows = connection.execute("SELECT id FROM traces WHERE mind = ? AND change > ? ORDER BY change", (mind, fit(after)))
    return counter(connection, mind, _CHANGE), [name for (name,) in rows]


class TraceWriter:
    """Writes traces inside a transaction that is already open; counters are read once and stored by ``finish``."""

    def __init__(self, connection: sqlite3.Connection, mind: str) -> None:
        self._connection = connection
        self._mind = mind
        self._change = counter(connection, mind, _CHANGE)
        self._added = 0
        (number,) = connection.execute("SELECT max(number) FROM contents").fetchone()  # rows of all minds share it
        self._number: int = number or 0

    def traces(self, writes: Sequence[tuple[WriteTrace, bytes]]) -> None:
        """New traces and revisions, each with its encoded thought. Raises ``StaleRevision``."""
        stands = self._stands([write.trace.id for write, _ in writes])
        contents: _Rows = []
        rows: _Rows = []
        for write, body in writes:
            trace = write.trace
            version, previous = stands.get(trace.id, (0, None))
            if trace.version != version + 1:
                if trace.version > version or trace.version < 1:
                    raise StaleRevision(trace.id, trace.version - 1, version)
                self._flush(contents, rows)
                self._check_repeat(trace, version)
                continue
            self._number += 1
            self._change += 1
            self._added += version == 0
            stands[trace.id] = (trace.version, self._number)
            level = trace.level
            authors = encode_names(trace.authors)
            at = (level.value, level.at, level.half_life)
            contents.append((self._number, self._mind, trace.version, previous, *at, authors, body))
            rows.append(
                (self._mind, trace.id, trace.version, self._number, trace.live, trace.conscious, *at, self._change)
            )
        self._flush(contents, rows)

    def levels(self, writes: Sequence[WriteLevel]) -> None:
        """Levels as they now are; one for a trace that is not there changes nothing."""
        rows = []
        for write in writes:
            self._change += 1
            level = write.level
            standing = (write.live, write.conscious, level.value, level.at, level.half_life)
            rows.append((*standing, self._change, self._mind, write.trace_id))
        self._connection.executemany(
            "UPDATE traces SET live = ?, conscious = ?, value = ?, at = ?, half_life = ?, change = ? "
            "WHERE mind = ? AND id = ?",
            rows,
        )

    def finish(self) -> None:
        """Store the counters."""
        set_counter(self._connection, self._mind, _CHANGE, self._change)
        if self._added:
            rows = counter(self._connection, self._mind, _ROWS)
            set_counter(self._connection, self._mind, _ROWS, rows + self._added)

    def _stands(self, ids: list[str]) -> dict[str, tuple[int, int | None]]:
        return {
            name: (version, content)
            for name, version, content in self._connection.execute(
                "SELECT id, version, content FROM traces WHERE mind = ? AND id IN (SELECT value FROM json_each(?))",
                (self._mind, json.dumps(ids)),
            )
        }

    def _check_repeat(self, trace: Trace, version: int) -> None:
        for known in _revisions(self._connection, self._mind, trace.id):
            if known.version == trace.version and same_content(trace, known):
                return
        raise StaleRevision(trace.id, trace.version - 1, version)

    def _flush(self, contents: _Rows, rows: _Rows) -> None:
        self._connection.executemany(
            "INSERT INTO contents (number, mind, version, previous, value, at, half_life, authors, body) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            contents,
        )
        self._connection.executemany(_PUT, rows)
        contents.clear()
        rows.clear()


def encode_traces(writes: Sequence[WriteTrace]) -> list[tuple[WriteTrace, bytes]]:
    """Each write with its encoded thought: done before the transaction, to keep that short."""
    return [(write, encode(write.trace.thought)) for write in writes]


class SqliteTraces(SqliteTable):
    """``TraceStore`` in ``mind.db``."""

    async def get(self, ids: Sequence[str]) -> dict[str, Trace]:
        found = await self._executor.rows(_trace, _SELECT + _AMONG, (self._mind, json.dumps(list(ids))))
        return {trace.id: trace for trace in found}

    async def revisions(self, trace_id: str) -> list[Trace]:
        return await self._executor.read(lambda connection: _revisions(connection, self._mind, trace_id))

    async def live(self, batch: int = 1000, progress: Progress | None = None) -> AsyncIterator[list[Trace]]:
        after, read = "", 0
        total = (await self.rows())[1] if progress else 0
        while True:
            statement = f"{_SELECT} AND t.live = 1 AND t.id > ? ORDER BY t.id LIMIT ?"
            found = await self._executor.rows(_trace, statement, (self._mind, after, batch))
            if found:
                read += len(found)
                if progress is not None:
                    progress(read, max(read, total))
                yield found
                after = found[-1].id
            if len(found) < batch:
                return

    async def changes(self, after: int, limit: int) -> tuple[int, list[Trace]]:
        def work(connection: sqlite3.Connection) -> tuple[int, list[Trace]]:
            if after < counter(connection, self._mind, _GONE):
                raise ChangesGone(after)
            rows = connection.execute(
                f"{_SELECT} AND t.change > ? ORDER BY t.change LIMIT ?", (self._mind, fit(after), fit(limit))
            ).fetchall()
            return (rows[-1][9] if rows else after), [_trace(row) for row in rows]

        return await self._executor.read(work)

    async def head(self) -> int:
        return await self._executor.read(lambda connection: counter(connection, self._mind, _CHANGE))

    async def forget(self, before: Instant, limit: int = 10_000) -> int:
        return await self._executor.change(lambda connection: _forget(connection, self._mind, before, limit))

    async def rows(self) -> tuple[int, int]:
        """How many traces are kept, and how many of them are live."""

        def work(connection: sqlite3.Connection) -> tuple[int, int]:
            (live,) = connection.execute(
                "SELECT count(*) FROM traces WHERE mind = ? AND live = 1", (self._mind,)
            ).fetchone()
            return counter(connection, self._mind, _ROWS), live

        return await self._executor.read(work)


def _forget(connection: sqlite3.Connection, mind: str, before: Instant, limit: int) -> int:
    old = connection.execute(
        "SELECT id, content, change FROM traces WHERE mind = ? AND live = 0 AND conscious IS NULL AND at < ? "
        "ORDER BY at LIMIT ?",
        (mind, before, fit(limit)),
    ).fetchall()
    if not old:
        return 0
    connection.execute(
        """DELETE FROM contents WHERE mind = ?1 AND number IN (
            WITH RECURSIVE chain (number) AS (
                SELECT value FROM json_each(?2)
                UNION
                SELECT c.previous FROM contents c JOIN chain ON c.number = chain.number
                WHERE c.mind = ?1 AND c.previous IS NOT NULL)
            SELECT number FROM chain)""",
        (mind, json.dumps([content for _, content, _ in old])),
    )
    connection.executemany("DELETE FROM traces WHERE mind = ? AND id = ?", [(mind, name) for name, _, _ in old])
    set_counter(connection, mind, _ROWS, counter(connection, mind, _ROWS) - len(old))
    last = max(change for _, _, change in old)
    set_counter(connection, mind, _GONE, max(last, counter(connection, mind, _GONE)))
    return len(old)
