"""A mind in SQLite as it was at one moment, read while it goes on: one open read transaction for each file.

In WAL mode a reader neither waits for writers nor keeps them waiting; it sees what was committed when it began, however
long it reads. What it costs is that the log beside each file cannot be emptied meanwhile and grows by what is written.

``mind.db`` is pinned first, then ``perceptions.db``: so every perception that a trace, an entry or a cursor speaks of
is in the later of the two, which may hold perceptions that nobody had read yet, as after any crash.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from environment.errors import StoreBroken, WrongSchema
from environment.stores.sqlite import schema
from environment.stores.sqlite.answer_cache import ANSWERS
from environment.stores.sqlite.connection_executor import ConnectionExecutor
from environment.stores.sqlite.stores import SqliteStores

T = TypeVar("T")


class _Pinned(ConnectionExecutor):
    """One file as it is when it is first read."""

    def __init__(self, path: Path, busy_timeout: float) -> None:
        super().__init__(path, inline=False, synchronous="FULL", busy_timeout=busy_timeout)

    async def pin(self, migrations: schema.Migrations) -> None:
        """Begin the transaction. Raises ``StoreBroken`` or ``WrongSchema``."""
        if not self.path.exists():  # opening it would make it
            raise StoreBroken(str(self.path), "there is no such file: give the directory of a mind")

        def work(connection: sqlite3.Connection) -> int:
            connection.execute("BEGIN")
            return schema.version(connection)  # a transaction begins with its first statement

        found, known = await self.read(work), len(migrations)
        if found > known:
            raise WrongSchema(found, known, "back it up with the version that runs it")
        if found < known:
            raise WrongSchema(found, known, "start it once with this version, or back it up with the one that runs it")

    @contextmanager
    def _moment(self, connection: sqlite3.Connection) -> Iterator[None]:
        """The one it was pinned to."""
        _ = connection
        yield

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        raise TypeError(f"{self.path.name} is only read: {work}")


async def open_snapshot(directory: Path, mind: str, *, busy_timeout: float = 5.0) -> SqliteStores:
    """The stores of ``mind`` in ``directory`` as they are now; they are not made, not migrated and not written to.

    Raises ``StoreBroken``, ``WrongSchema`` or ``StoreUnavailable``.
    """
    of_mind, of_log = (_Pinned(directory / name, busy_timeout) for name in ("mind.db", "perceptions.db"))
    stores = SqliteStores(of_log, of_mind, mind)
    try:
        await of_mind.pin(schema.MIND)
        await of_log.pin(schema.PERCEPTIONS)
    except BaseException:
        await stores.close()
        raise
    return stores


_ANSWERS = "SELECT key, answer FROM answers WHERE mind = ? ORDER BY used, key"


async def read_answers(directory: Path, mind: str, take: Callable[[str, str, bytes], None]) -> None:
    """What is in ``answers.db``, as ("answers", name, value), the least recently used first; nothing without it."""
    if not (directory / "answers.db").exists():
        return
    executor = _Pinned(directory / "answers.db", 5.0)

    def work(connection: sqlite3.Connection) -> None:
        for name, value in connection.execute(_ANSWERS, (mind,)):
            take("answers", name, bytes(value))

    try:
        await executor.pin(ANSWERS)
        await executor.read(work)
    finally:
        await executor.close()
