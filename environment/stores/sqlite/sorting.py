"""The history of connections as it was written, an order that no partition of a cluster has: sorted on the disk.

Sorted by SQLite, which is there anyway, in a temporary database of its own: it holds a few MB in memory, spills
the rest into a file without a name, and leaves nothing behind however the process ends.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterable
from typing import TypeAlias

import msgspec

from environment.messages import ConnectionChange

_CACHE = 8192
"""KiB of memory that the sorting may take."""
_MADE = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    "PRAGMA temp_store = FILE",
    f"PRAGMA cache_size = -{_CACHE}",
    """CREATE TABLE changes (stamp INTEGER, place INTEGER, owner TEXT, body BLOB,
       PRIMARY KEY (stamp, place, owner)) WITHOUT ROWID""",
)
_PAGE = """SELECT stamp, place, owner, body FROM changes WHERE (stamp, place, owner) > (?, ?, ?)
    ORDER BY stamp, place, owner LIMIT ?"""
_FIRST = (-1, -1, "")

Written: TypeAlias = "tuple[int, int, ConnectionChange]"
"""A change, with its write time and its place within the commit."""


class WrittenChanges:
    """All changes of connections that there are, page by page. Marks stay good for another one of the same history."""

    def __init__(self) -> None:
        self._rows = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for statement in _MADE:
            self._rows.execute(statement)
        self._decode = msgspec.msgpack.Decoder(ConnectionChange).decode

    async def gather(self, parts: AsyncIterator[list[Written]]) -> None:
        """Take in every part of the history."""
        async for part in parts:
            await asyncio.to_thread(self._add, part)

    async def page(self, after: str, limit: int) -> tuple[str, list[ConnectionChange]]:
        """At most ``limit`` behind a mark, and the next mark: empty when nothing follows."""
        place = tuple(json.loads(after)) if after else _FIRST
        rows = await asyncio.to_thread(lambda: self._rows.execute(_PAGE, (*place, limit + 1)).fetchall())
        found = [self._decode(row[3]) for row in rows[:limit]]
        return (json.dumps(rows[limit - 1][:3]) if len(rows) > limit else ""), found

    def close(self) -> None:
        """Let go of it."""
        self._rows.close()

    def _add(self, part: Iterable[Written]) -> None:
        values = ((stamp, place, one.owner, msgspec.msgpack.encode(one)) for stamp, place, one in part)
        self._rows.execute("BEGIN")
        self._rows.executemany("INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?)", values)
        self._rows.execute("COMMIT")
