"""Connections, reports and states in SQLite."""

import sqlite3
from collections.abc import Sequence

from environment.messages import (
    ChangeKind,
    Connection,
    ConnectionChange,
    Instant,
    SubmindReport,
)
from environment.ports import WriteConnections, WriteReport, WriteState
from environment.stores.codec import decode_connection, decode_report, encode, encode_history
from environment.stores.sqlite.connection_executor import SqliteTable, fit

CHANGE = "owner, topic, peer, at, kind, weight, reason, label, number"
_LAST = 2**63 - 1
_DIGITS = len(str(_LAST))

_TABLES = ("connections", "states", "reports")
"""Those that have as many rows as there are actors, or so: what grows with the age of a mind is not counted."""


def write_connections(connection: sqlite3.Connection, mind: str, write: WriteConnections) -> None:
    """One submind's registry as it now is, inside a transaction."""
    connection.executemany(
        "DELETE FROM connections WHERE mind = ? AND owner = ? AND topic = ? AND peer = ?",
        [(mind, write.owner, topic, peer) for topic, peer in write.gone],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO connections "
        "(mind, owner, topic, peer, label, weight, ltp, uses, credited, last_use, history) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(mind, write.owner, c.topic, c.peer, c.label, c.weight),
                *(c.ltp, c.uses, c.credited, c.last_use, encode_history(c)),
            )
            for c in write.kept
        ],
    )
    connection.executemany(
        "INSERT INTO connection_changes (mind, owner, topic, peer, at, kind, weight, reason, label) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(mind, c.owner, c.topic, c.peer, c.at, c.kind.value, c.weight, c.reason, c.label) for c in write.changes],
    )


def write_state(connection: sqlite3.Connection, mind: str, write: WriteState) -> None:
    """An actor's state, inside a transaction."""
    connection.execute(
        "INSERT INTO states (mind, name, state) VALUES (?, ?, ?) "
        "ON CONFLICT (mind, name) DO UPDATE SET state = excluded.state",
        (mind, write.name, write.state),
    )


def write_report(connection: sqlite3.Connection, mind: str, write: WriteReport) -> None:
    """An actor's report, inside a transaction."""
    connection.execute(
        "INSERT OR REPLACE INTO reports (mind, name, body) VALUES (?, ?, ?)",
        (mind, write.report.name, encode(write.report)),
    )


def remove_actors(connection: sqlite3.Connection, mind: str, names: Sequence[str], states: Sequence[str]) -> None:
    """What actors that are no more left, inside a transaction."""
    connection.executemany("DELETE FROM reports WHERE mind = ? AND name = ?", [(mind, name) for name in names])
    gone = [(mind, name) for name in (*names, *states)]
    connection.executemany("DELETE FROM states WHERE mind = ? AND name = ?", gone)


def change_of(row: tuple[str, str, str, float, str, float, str, str, int]) -> ConnectionChange:
    """A change from the columns of ``CHANGE``."""
    owner, topic, peer, at, kind, weight, reason, label, number = row
    return ConnectionChange(owner, topic, peer, at, ChangeKind(kind), weight, reason, label, str(number))


class SqliteRegistry(SqliteTable):
    """``RegistryStore`` in ``mind.db``."""

    async def connections(self, owner: str | None = None) -> list[Connection]:
        whose = () if owner is None else (owner,)
        statement = (
            "SELECT owner, topic, label, peer, weight, ltp, uses, credited, last_use, history FROM connections "  # noqa: S608 - the words are ours
            f"WHERE mind = ?{' AND owner = ?' if whose else ''} ORDER BY weight DESC, owner, topic, peer"
        )
        return await self._executor.rows(decode_connection, statement, (self._mind, *whose))

    async def history(
        self, owner: str | None = None, limit: int = 1000, *, since: Instant | None = None, before: str = ""
    ) -> list[ConnectionChange]:
        _check(before)
        where: list[str] = ["mind = ?"]
        values: list[str | float] = [self._mind]
        if owner is not None:
            where, values = [*where, "owner = ?"], [*values, owner]
        if since is not None:
            where, values = [*where, "at >= ?"], [*values, since]
        if before:  # where that one is forgotten, so is all that stands behind it
            where.append("(at, number) < (SELECT at, number FROM connection_changes WHERE number = ? AND mind = ?)")
            values += [int(before), self._mind]
        statement = (
            f"SELECT {CHANGE} FROM connection_changes WHERE {' AND '.join(where)} "  # noqa: S608 - the words are ours
            "ORDER BY at DESC, number DESC LIMIT ?"
        )
        return await self._executor.rows(change_of, statement, (*values, fit(limit)))

    async def written(self, after: str, limit: int) -> list[ConnectionChange]:
        _check(after)
        return await self._executor.rows(
            change_of,
            f"SELECT {CHANGE} FROM connection_changes WHERE mind = ? AND number > ? ORDER BY number LIMIT ?",  # noqa: S608 - the words are ours
            (self._mind, int(after or 0), fit(limit)),
        )

    async def last_written(self) -> str:
        statement = "SELECT coalesce(max(number), '') FROM connection_changes WHERE mind = ?"
        return await self._executor.row(_text, statement, (self._mind,)) or ""

    async def owners(self, after: str = "", limit: int | None = None) -> list[str]:
        statement = "SELECT DISTINCT owner FROM connections WHERE mind = ? AND owner > ? ORDER BY owner LIMIT ?"
        return await self._executor.rows(_text, statement, (self._mind, after, -1 if limit is None else fit(limit)))

    async def reports(self, after: str = "", limit: int | None = None) -> list[SubmindReport]:
        statement = "SELECT body FROM reports WHERE mind = ? AND name > ? ORDER BY name LIMIT ?"
        values = self._mind, after, -1 if limit is None else fit(limit)
        return await self._executor.rows(lambda row: decode_report(row[0]), statement, values)

    async def state(self, name: str) -> bytes | None:
        statement = "SELECT state FROM states WHERE mind = ? AND name = ?"
        return await self._executor.row(lambda row: bytes(row[0]), statement, (self._mind, name))

    async def forget(self, before: Instant, limit: int = 10_000) -> int:
        def work(connection: sqlite3.Connection) -> int:
            return connection.execute(
                "DELETE FROM connection_changes WHERE number IN (SELECT number FROM connection_changes "
                "WHERE mind = ? AND at < ? ORDER BY at LIMIT ?)",
                (self._mind, before, fit(limit)),
            ).rowcount

        return await self._executor.change(work)

    async def rows(self) -> dict[str, int]:
        """Rows by table, of those that do not grow with the age of a mind."""
        counts = (f"SELECT '{table}', count(*) FROM {table} WHERE mind = ?1" for table in _TABLES)  # noqa: S608 - the names are ours
        return dict(await self._executor.rows(tuple, " UNION ALL ".join(counts), (self._mind,)))


def _text(row: tuple[object]) -> str:
    return str(row[0])


def _check(mark: str) -> None:
    if mark and not (mark.isascii() and mark.isdecimal() and len(mark) <= _DIGITS and int(mark) <= _LAST):
        raise ValueError(f"{mark[:64]!r} is not a mark of this history")
