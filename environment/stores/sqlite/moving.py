"""Copying out of SQLite, and into it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from environment.messages import ConnectionChange
from environment.stores.movable import MovedTrace
from environment.stores.sqlite.claims import EPOCH
from environment.stores.sqlite.connection_executor import ConnectionExecutor, fit
from environment.stores.sqlite.out_of_process import OutOfProcessPerceptions
from environment.stores.sqlite.perceptions import SqlitePerceptions
from environment.stores.sqlite.registry import SqliteRegistry
from environment.stores.sqlite.schema import counter
from environment.stores.sqlite.traces import changed_after, changes_of, moved


class SqliteMoving:
    """``Moving`` for both files. Marks are ids of traces and numbers of changes."""

    def __init__(
        self,
        perceptions: SqlitePerceptions | OutOfProcessPerceptions,
        registry: SqliteRegistry,
        executor: ConnectionExecutor,
        mind: str,
    ) -> None:
        self._perceptions = perceptions
        self._registry = registry
        self._executor = executor
        self._mind = mind

    async def skip(self, to: int) -> None:
        await self._perceptions.skip(to)

    async def traces(self, after: str, limit: int) -> tuple[str, list[MovedTrace]]:
        def work(connection: sqlite3.Connection) -> tuple[str, list[MovedTrace]]:
            rows = connection.execute(
                "SELECT id FROM traces WHERE mind = ? AND id > ? ORDER BY id LIMIT ?", (self._mind, after, fit(limit))
            )
            names = [name for (name,) in rows]
            found = [moved(connection, self._mind, name) for name in names]
            return (names[-1] if len(names) == limit else ""), found

        return await self._executor.read(work)

    async def changes(self, after: str, limit: int) -> tuple[str, list[ConnectionChange]]:
        changes = await self._registry.written(after, limit)
        return (changes[-1].mark if len(changes) == limit else ""), changes

    async def states(self) -> list[str]:
        statement = "SELECT name FROM states WHERE mind = ? ORDER BY name"
        return await self._executor.rows(lambda row: str(row[0]), statement, (self._mind,))

    async def epoch(self) -> int:
        of_log = await self._perceptions.epoch()
        return max(of_log, await self._executor.read(lambda connection: counter(connection, self._mind, EPOCH)))

    async def changed(self, after: int) -> tuple[int, list[str]]:
        return await self._executor.read(lambda connection: changed_after(connection, self._mind, after))

    async def named(self, ids: Sequence[str]) -> list[tuple[MovedTrace, int]]:
        def work(connection: sqlite3.Connection) -> list[tuple[MovedTrace, int]]:
            there = changes_of(connection, self._mind, json.dumps(list(ids)))
            return [(moved(connection, self._mind, name), change) for name, change in there]

        return await self._executor.read(work)
