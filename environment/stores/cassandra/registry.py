"""Connections, reports and states in Cassandra."""

import json
import math
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from environment.messages import (
    ChangeKind,
    Connection,
    ConnectionChange,
    Instant,
    SubmindReport,
)
from environment.stores.cassandra import partitions
from environment.stores.cassandra.calendar import EVER, buckets_of, work_off
from environment.stores.cassandra.documents import read_pieces
from environment.stores.cassandra.driver.session import CassandraTable, Row
from environment.stores.codec import decode_connection, decode_report

_INT, _LONG = 1 << 31, 1 << 63
_NAMES = "SELECT name FROM names WHERE mind = ? AND kind = ? AND name > ? LIMIT ?"
_CONNECTIONS = """SELECT owner, topic, label, peer, weight, ltp, uses, credited, last_use, history FROM connections
    WHERE mind = ? AND owner = ?"""
_HISTORY = """SELECT at, stamp, place, topic, peer, kind, weight, reason, label FROM connection_changes
    WHERE mind = ? AND owner = ? AND hour = ? AND part = ? AND (at, stamp, place) <= (?, ?, ?) AND (at) >= (?)
    LIMIT ?"""
_PART = """SELECT at, stamp, place, topic, peer, kind, weight, reason, label FROM connection_changes
    WHERE mind = ? AND owner = ? AND hour = ? AND part = ?"""
_OLDEST = """SELECT at, stamp, place FROM connection_changes WHERE mind = ? AND owner = ? AND hour = ? AND part = ?
    AND at < ? ORDER BY at ASC, stamp ASC, place ASC LIMIT ?"""
_NO_CHANGES = """DELETE FROM connection_changes USING TIMESTAMP ? WHERE mind = ? AND owner = ? AND hour = ?
    AND part = ? AND (at, stamp, place) <= (?, ?, ?)"""
_REPORTS = "SELECT body FROM reports WHERE mind = ? AND name > ? LIMIT ?"
_STATE = "SELECT piece, pieces, stamp, body FROM states WHERE mind = ? AND name = ?"
_LARGEST = (1 << 31) - 1


_Place: TypeAlias = tuple[float, int, int, str]
"""Of a change: mind time, write time, place within the commit, owner. The history is in this order."""
_EARLIEST = -math.inf
_SETTLED = 1.0
"""Seconds after which no change is expected to appear that was written before one that is there."""
_LATE = 300.0
"""Mind time after which a change is written at the latest, for who follows them."""
_MOST_WRITTEN = 100_000
"""Changes of one submind that are looked at for who follows them: of more, the latest."""
_NEWEST: _Place = (math.inf, (1 << 63) - 1, _LARGEST, "")


@dataclass(frozen=True, slots=True)
class _Span:
    """A segment of the history."""

    since: Instant = _EARLIEST
    before: _Place = _NEWEST


@dataclass(eq=False, repr=False)
class CassandraRegistry(CassandraTable):
    """``RegistryStore`` in the tables of the registry.

    ``clock`` gives what write times are taken from, in seconds.
    """

    _clock: Callable[[], float]

    async def connections(self, owner: str | None = None) -> list[Connection]:
        owners = [owner] if owner is not None else await self._owners()
        statement = await self._session.prepare(_CONNECTIONS)
        answers = await self._session.execute_all(
            [(statement, (self._mind, each)) for each in owners], idempotent=True, concurrency=16
        )
        found = [decode_connection(row) for rows in answers for row in rows]
        return sorted(found, key=lambda c: (-c.weight, c.owner, c.topic, c.peer))

    async def history(
        self, owner: str | None = None, limit: int = 1000, *, since: Instant | None = None, before: str = ""
    ) -> list[ConnectionChange]:
        owners = [owner] if owner is not None else await self._owners()
        span = _Span(_EARLIEST if since is None else since, _place(before) if before else _NEWEST)
        latest: list[tuple[_Place, ConnectionChange]] = []
        for each in owners:
            latest += await self._latest(each, limit, span)
            latest.sort(key=lambda found: found[0], reverse=True)
            del latest[max(limit, 0) :]
        return [change for _, change in latest]

    async def written(self, after: str, limit: int) -> list[ConnectionChange]:
        """As the port has it, as far as writers' clocks are within ``_SETTLED`` of each other.

        Writers do not wait for each other, so what was written a moment ago is not told yet: something written before
        it may still appear. What was written more than ``_LATE`` after its mind time is not found.
        """
        place = _place(after) if after else None
        since = _EARLIEST if place is None else place[0] - _LATE
        behind = _written_at(place) if place is not None else (-1, 0, "")
        settled = int((self._clock() - _SETTLED) * 1e6)
        found: list[tuple[_Place, ConnectionChange]] = []
        for owner in await self._owners():
            latest = await self._latest(owner, _MOST_WRITTEN, _Span(since))
            found += [each for each in latest if behind < _written_at(each[0]) and each[0][1] <= settled]
        found.sort(key=lambda each: _written_at(each[0]))
        return [change for _, change in found[: max(limit, 0)]]

    async def is_listed(self, change: ConnectionChange, among: int) -> bool:
        """Whether a change is in the history, where no more than so many came at its time or after it."""
        latest = await self._latest(change.owner, among, _Span(change.at))
        return any(there == change for _, there in latest)

    async def last_written(self) -> str:
        last: list[tuple[_Place, ConnectionChange]] = []
        for owner in await self._owners():
            newest = max((place[0] for place, _ in await self._latest(owner, 1, _Span())), default=None)
            if newest is not None:  # in mind time: something before it may have been written after it
                last += await self._latest(owner, _MOST_WRITTEN, _Span(newest - _LATE))
                last = [max(last, key=lambda each: _written_at(each[0]))]
        return last[0][1].mark if last else ""

    async def owners(self, after: str = "", limit: int | None = None) -> list[str]:
        return await self.names(partitions.OWNER, after, limit)

    async def reports(self, after: str = "", limit: int | None = None) -> list[SubmindReport]:
        values = (self._mind, after, _most(limit))
        rows = await self._session.execute(await self._session.prepare(_REPORTS), values, idempotent=True)
        return [decode_report(row.body) for row in rows]

    async def state(self, name: str) -> bytes | None:
        pieces = await read_pieces(self._session, _STATE, (self._mind, name), f"the state of {name}")
        return b"".join(piece.body for piece in pieces) if pieces else None

    async def forget(self, before: Instant, limit: int = 10_000) -> int:
        gone = 0
        for owner in await self._owners():
            place = self._session, self._mind, partitions.history_scope(owner)
            work = partial(self._forget, owner, before)
            gone += await work_off(*place, before, limit - gone, self._clock, work)
        return gone

    async def _forget(
        self, owner: str, before: Instant, hour: int, part: int, most: int, now: int
    ) -> tuple[int, int | None]:
        """Delete the oldest of a partition, as one range: how many, and by which write time nothing is left.

        What is deleted is what was read: the tombstone has the write time of the youngest of it, or is of ``now``
        where nothing was left to read.
        """
        place, limit, stamp = (owner, hour, part), min(most, _LARGEST), now
        statement = await self._session.prepare(_OLDEST)
        rows = await self._session.execute(statement, (self._mind, *place, before, limit), idempotent=True)
        if rows:
            stamp, last = max(row.stamp for row in rows) + 1, rows[-1]
            values = (stamp, self._mind, *place, last.at, last.stamp, last.place)
            await self._session.execute(await self._session.prepare(_NO_CHANGES), values, idempotent=True)
        return len(rows), stamp if len(rows) < limit else None

    async def _latest(self, owner: str, limit: int, span: _Span) -> list[tuple[_Place, ConnectionChange]]:
        """A submind's latest changes within a span, at least ``limit`` of them where there are so many."""
        statement = await self._session.prepare(_HISTORY)
        found: list[tuple[_Place, ConnectionChange]] = []
        scope, most = partitions.history_scope(owner), min(limit, _LARGEST - 1)
        if most <= 0:
            return []
        hours = (max(EVER[0], partitions.hour(span.since)), min(EVER[1], partitions.hour(span.before[0])))
        async for hour, parts in buckets_of(self._session, self._mind, scope, *hours, newest_first=True):
            for part in parts:  # one more: the last may be the one that was read before
                values = (self._mind, owner, hour, part, *span.before[:3], span.since, most + 1)
                rows = await self._session.execute(statement, values, idempotent=True)
                read = [((row.at, row.stamp, row.place, owner), _change(owner, row)) for row in rows]
                found += [each for each in read if each[0] < span.before]
            if len(found) >= most:
                break
        return found

    async def names(self, kind: str, after: str = "", limit: int | None = None) -> list[str]:
        """The names of a kind, in order: those behind ``after``, at most ``limit``."""
        statement, values = await self._session.prepare(_NAMES), (self._mind, kind, after, _most(limit))
        return [row.name for row in await self._session.execute(statement, values, idempotent=True)]

    async def _owners(self) -> list[str]:
        return await self.names(partitions.OWNER)

    async def parts_written(self) -> AsyncIterator[tuple[tuple[str, int, int], list[ConnectionChange]]]:
        """Every change of connections, a partition at a time, in the order of owners and times, with its place."""
        statement = await self._session.prepare(_PART)
        for owner in await self._owners():
            scope = partitions.history_scope(owner)
            async for hour, parts in buckets_of(self._session, self._mind, scope, *EVER, newest_first=False):
                for part in parts:
                    rows = await self._session.execute(statement, (self._mind, owner, hour, part), idempotent=True)
                    rows.sort(key=lambda row: (row.stamp, row.place))
                    yield (owner, hour, part), [_change(owner, row) for row in rows]


def _most(limit: int | None) -> int:
    return _LARGEST if limit is None else min(max(limit, 1), _LARGEST)


def _change(owner: str, row: Row) -> ConnectionChange:
    mark = json.dumps([row.at, row.stamp, row.place, owner], separators=(",", ":"))
    kind = ChangeKind(row.kind)
    return ConnectionChange(owner, row.topic, row.peer, row.at, kind, row.weight, row.reason, row.label or "", mark)


def _written_at(place: _Place) -> tuple[int, int, str]:
    """Where it stands in the order in which changes were written."""
    return place[1], place[2], place[3]


def _place(mark: str) -> _Place:
    """Where a change stands. Raises ``ValueError`` for what is no mark."""
    try:
        at, stamp, place, owner = json.loads(mark)
        found = float(at), int(stamp), int(place), str(owner)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ValueError(f"{mark[:64]!r} is not a mark of this history") from None
    if not (math.isfinite(found[0]) and abs(found[1]) < _LONG and abs(found[2]) < _INT):
        raise ValueError(f"{mark[:64]!r} is not a mark of this history")
    return found
