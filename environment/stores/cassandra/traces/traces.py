"""Traces and their revisions in Cassandra."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import NamedTuple

from environment.errors import ChangesGone
from environment.messages import Level, Trace
from environment.stores.cassandra import partitions
from environment.stores.cassandra.driver.session import CassandraTable, Row, Session
from environment.stores.codec import decode_names, decode_thought

_NEWEST = """SELECT version, first_value, first_at, first_half_life, part, authors, body,
    newest, live, conscious, value, at, half_life, change FROM traces
    WHERE mind = ? AND id = ? AND chunk = 0 LIMIT 1"""
_VERSION = """SELECT version, first_value, first_at, first_half_life, part, authors, body FROM traces
    WHERE mind = ? AND id = ? AND chunk = ? AND version = ?"""
_VERSIONS = """SELECT version, first_value, first_at, first_half_life, part, authors, body FROM traces
    WHERE mind = ? AND id = ? AND chunk = ?"""
_CHANGES = "SELECT change, id, live, previous FROM changes WHERE mind = ? AND bucket = ? AND change > ? AND change <= ?"


class Changed(NamedTuple):
    """A trace at its newest version, its last change, and the level that this version was written with."""

    trace: Trace
    change: int
    written: Level


class Written(NamedTuple):
    """A version as it was written, and the part of the indexes that it stands in."""

    trace: Trace
    part: int


class TraceReader(CassandraTable):
    """Reads the traces of one mind. Every method may raise ``StoreUnavailable``."""

    async def newest(self, ids: Iterable[str], *, patient: bool = False) -> list[Changed]:
        """Those of ``ids`` that are there, in their order, read concurrently; ``patient`` as in ``execute_all``."""
        names = list(ids)
        statement = await self._session.prepare(_NEWEST)
        requests = [(statement, (self._mind, name)) for name in names]
        answers = await self._session.execute_all(requests, idempotent=True, patient=patient)
        return [
            await self._changed(name, rows[0])
            for name, rows in zip(names, answers, strict=True)
            if rows and rows[0].newest is not None
        ]

    async def written(self, trace_id: str, version: int) -> Written | None:
        """One version as it was written; None where it is not there."""
        chunk = partitions.version_chunk(version)
        statement = await self._session.prepare(_VERSION)
        rows = await self._session.execute(statement, (self._mind, trace_id, chunk, version), idempotent=True)
        return _written(rows[0]) if rows else None

    async def versions(self, trace_id: str, newest: int) -> list[Written]:
        """All versions as they were written, oldest first."""
        statement = await self._session.prepare(_VERSIONS)
        found: list[Written] = []
        for chunk in range(partitions.version_chunk(newest) + 1):
            rows = await self._session.execute(statement, (self._mind, trace_id, chunk), idempotent=True)
            found += [_written(row) for row in reversed(rows) if row.version is not None]
        return found

    async def changes(self, after: int, to: int) -> AsyncGenerator[list[Row], None]:
        """The log of changes above ``after`` and up to ``to``, which was given, in order: pages of (change, id, live).

        Raises ``ChangesGone``, after what came before it, where one has expired.
        """
        async for rows in change_rows(self._session, self._mind, _CHANGES, after, to):
            yield rows

    async def _changed(self, trace_id: str, row: Row) -> Changed:
        content: Row = row
        if row.newest != row.version:  # it stands in a later chunk than how the trace stands
            statement = await self._session.prepare(_VERSION)
            chunk = partitions.version_chunk(row.newest)
            rows = await self._session.execute(statement, (self._mind, trace_id, chunk, row.newest), idempotent=True)
            content = rows[0] if rows else row
        thought, level = decode_thought(content.body), Level(row.value, row.at, row.half_life)
        authors = decode_names(content.authors)
        trace = Trace(thought, content.version, level, row.live, row.conscious or None, authors)
        written = Level(content.first_value, content.first_at, content.first_half_life)
        return Changed(trace, row.change, written)


def _written(row: Row) -> Written:
    level = Level(row.first_value, row.first_at, row.first_half_life)
    trace = Trace(decode_thought(row.body), row.version, level, live=False, authors=decode_names(row.authors))
    return Written(trace, row.part)


async def change_rows(session: Session, mind: str, cql: str, after: int, to: int) -> AsyncGenerator[list[Row], None]:
    """A log of changes above ``after`` and up to ``to``, which was given, in order, by pages.

    Raises ``ChangesGone``, after what came before it, where one has expired: each names the one before it.
    """
    if to <= after:
        return
    statement, last = await session.prepare(cql), after
    for bucket in range(partitions.change_bucket(after + 1), partitions.change_bucket(to) + 1):
        async for rows in session.pages(statement, (mind, bucket, after, to)):
            for row in rows:
                if row.previous > last:
                    raise ChangesGone(after)
                last = row.change
            yield rows
    if last < to:
        raise ChangesGone(after)


def last_changes(rows: Sequence[Row]) -> dict[str, int]:
    """The last change of each trace among ``rows`` of the log, in order of these changes."""
    last: dict[str, int] = {}
    for row in rows:
        last.pop(row.id, None)
        last[row.id] = row.change
    return last
