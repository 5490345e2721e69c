"""Copying out of SQLite, and into it."""

import json
import sqlite3
from collections.abc import AsyncGenerator, Sequence

from environment.messages import ConnectionChange
from environment.ports import Stores
from environment.stores import paging
from environment.stores.movable import MovedTrace
from environment.stores.sqlite.claims import EPOCH
from environment.stores.sqlite.connection_executor import ConnectionExecutor
from environment.stores.sqlite.perceptions import SqlitePerceptions
from environment.stores.sqlite.schema import counter
from environment.stores.sqlite.traces import changed_after, changes_of, moved


class SqliteMoving(paging.StoredPages):
    """``Moving`` for both files. Marks are ids of traces and numbers of changes."""

    def __init__(
        self,
        stores: Stores,
        perceptions: SqlitePerceptions,
        executor: ConnectionExecutor,
        mind: str,
    ) -> None:
        super().__init__(stores)
        self._log = perceptions
        self._executor = executor
        self._mind = mind

    async def skip(self, to: int) -> None:
        await self._log.skip(to)

    async def traces(self, after: str) -> AsyncGenerator[tuple[str, list[MovedTrace]], None]:
        def work(connection: sqlite3.Connection) -> list[MovedTrace]:
            statement = "SELECT id FROM traces WHERE mind = ? AND id > ? ORDER BY id LIMIT ?"
            rows = connection.execute(statement, (self._mind, after, paging.PAGE)).fetchall()
            return [moved(connection, self._mind, name) for (name,) in rows]

        while page := await self._executor.read(work):
            after = page[-1].standing.id
            yield after, page

    async def changes(self, after: str) -> AsyncGenerator[tuple[str, list[ConnectionChange]], None]:
        while page := await self._stores.registry.written(after, paging.PAGE):
            after = page[-1].mark
            yield after, page

    async def states(self) -> list[str]:
        statement = "SELECT name FROM states WHERE mind = ? ORDER BY name"
        return await self._executor.rows(lambda row: str(row[0]), statement, (self._mind,))

    async def epoch(self) -> int:
        of_log = await self._log.epoch()
        return max(of_log, await self._executor.read(lambda connection: counter(connection, self._mind, EPOCH)))

    async def changed(self, after: int) -> tuple[int, list[str]]:
        return await self._executor.read(lambda connection: changed_after(connection, self._mind, after))

    async def named(self, ids: Sequence[str]) -> list[tuple[MovedTrace, int]]:
        def work(connection: sqlite3.Connection) -> list[tuple[MovedTrace, int]]:
            there = changes_of(connection, self._mind, json.dumps(list(ids)))
            return [(moved(connection, self._mind, name), change) for name, change in there]

        return await self._executor.read(work)
