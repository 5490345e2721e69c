"""Answers that were paid for: ``answers.db``, shared by the processes of a mind on one machine."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from environment.stores.sqlite.connection_executor import ConnectionExecutor, SqliteTable
from environment.stores.sqlite.schema import Migrations, migrate

ANSWERS: Migrations = (
    (
        """CREATE TABLE answers (
            mind TEXT NOT NULL, key TEXT NOT NULL, used INTEGER NOT NULL, answer BLOB NOT NULL,
            PRIMARY KEY (mind, key)) WITHOUT ROWID""",
        "CREATE INDEX answers_by_use ON answers (mind, used)",
    ),
)


@dataclass(eq=False, repr=False)
class SqliteAnswers(SqliteTable):
    """A cache of answers bounded by rows. Values are bytes that this class never reads.

    Guarantees: what ``put`` was given is durable when it returns; the least recently used answers go first; minds that
    share a file do not see each other. Use ``open_answers``. Every method may raise ``StoreUnavailable`` (nothing was
    written; it may be called again).
    """

    _rows: int

    def __post_init__(self) -> None:
        self._met: dict[str, None] = {}

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Those of ``keys`` that are there. That they were used is written with the next ``put``."""
        sql = "SELECT key, answer FROM answers WHERE mind = ? AND key IN (SELECT value FROM json_each(?))"
        found = dict(await self._executor.rows(tuple, sql, (self._mind, json.dumps(list(keys)))))
        self._met.update(dict.fromkeys(found))
        return found

    async def put(self, answers: Mapping[str, bytes]) -> None:
        """Keep answers, replacing those under the same keys; beyond the bound the least recently used go."""
        met, self._met = self._met, {}

        def write(connection: sqlite3.Connection) -> None:
            (last,) = connection.execute(
                "SELECT coalesce(max(used), 0) FROM answers WHERE mind = ?", (self._mind,)
            ).fetchone()
            connection.executemany(
                "UPDATE answers SET used = ? WHERE mind = ? AND key = ?", [(last + 1, self._mind, k) for k in met]
            )
            connection.executemany(
                "INSERT OR REPLACE INTO answers (mind, key, used, answer) VALUES (?, ?, ?, ?)",
                [(self._mind, key, last + 2 + at, answer) for at, (key, answer) in enumerate(answers.items())],
            )
            self._bound(connection)

        await self._executor.change(write)

    async def clear(self) -> int:
        """Forget all answers of this mind, and wipe them from the file; how many there were."""
        statement = "DELETE FROM answers WHERE mind = ?"
        gone = await self._executor.change(lambda connection: connection.execute(statement, (self._mind,)).rowcount)
        await self._executor.scrub()
        return gone

    def _bound(self, connection: sqlite3.Connection) -> None:
        (rows,) = connection.execute("SELECT count(*) FROM answers WHERE mind = ?", (self._mind,)).fetchone()
        if rows > self._rows:
            connection.execute(
                """DELETE FROM answers WHERE mind = ? AND key IN
                    (SELECT key FROM answers WHERE mind = ? ORDER BY used, key LIMIT ?)""",
                (self._mind, self._mind, rows - self._rows),
            )

    async def close(self) -> None:
        """Release the file; may be called twice."""
        await self._executor.close()


async def open_answers(directory: Path, mind: str, *, rows: int = 100_000) -> SqliteAnswers:
    """Open ``directory/answers.db``, creating it where it is not there. Raises ``StoreBroken`` or ``WrongSchema``."""
    executor = ConnectionExecutor(directory / "answers.db", inline=False, synchronous="FULL", busy_timeout=5.0)
    try:
        await executor.write(lambda connection: migrate(connection, ANSWERS))
    except BaseException:
        await executor.close()
        raise
    return SqliteAnswers(executor, mind, rows)
