"""Copying out of Cassandra, and into it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from environment.messages import ConnectionChange, Level, Trace
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.commit_logs import CommitLogs, head_of
from environment.stores.cassandra.commits.record import CORE, TRACES
from environment.stores.cassandra.driver.session import Session
from environment.stores.cassandra.log.perceptions import CassandraPerceptions
from environment.stores.cassandra.registry import CassandraRegistry
from environment.stores.cassandra.traces.scan import parse_position, scan_traces
from environment.stores.cassandra.traces.traces import TraceReader
from environment.stores.movable import MovedTrace

if TYPE_CHECKING:
    from environment.stores.sqlite.sorting import WrittenChanges

_AT_ONCE = 16


class CassandraMoving:
    """``Moving`` in a keyspace. Marks are places in the index of times, and write times of changes of connections.

    Changes of connections are sorted on the disk while they are read (``sqlite/sorting.py``), a partition at a time.
    """

    def __init__(
        self,
        session: Session,
        mind: str,
        perceptions: CassandraPerceptions,
        reader: TraceReader,
        registry: CassandraRegistry,
        logs: CommitLogs,
    ) -> None:
        self._logs = logs
        self._session = session
        self._mind = mind
        self._perceptions = perceptions
        self._reader = reader
        self._registry = registry
        self._written: WrittenChanges | None = None
        self._last_part: float = math.inf
        """Of the index, when a scan began: what is written meanwhile would never let one end."""

    async def skip(self, to: int) -> None:
        await self._perceptions.skip(to)

    async def traces(self, after: str, limit: int) -> tuple[str, list[MovedTrace]]:
        names: list[str] = []
        reached = parse_position(after)
        if not after:
            self._last_part = partitions.part((await head_of(self._session, self._mind, TRACES, CORE)).change)
        async with aclosing(scan_traces(self._session, self._mind, reached, self._last_part)) as places:
            async for name, place in places:
                names.append(name)
                reached = place
                if len(names) >= limit:
                    break
        moved = [trace for trace, _ in await self.named(names)]
        return (str(reached) if len(names) >= limit else ""), moved

    async def named(self, ids: Sequence[str]) -> list[tuple[MovedTrace, int]]:
        found = await self._reader.newest(ids)
        moved: list[tuple[MovedTrace, int]] = []
        for start in range(0, len(found), _AT_ONCE):
            some = found[start : start + _AT_ONCE]
            whole = await asyncio.gather(*(self._moved(each.trace, each.written) for each in some))
            moved += [(each, of.change) for each, of in zip(whole, some, strict=True) if each is not None]
        return moved

    async def _moved(self, standing: Trace, written: Level) -> MovedTrace | None:
        """None where it was forgotten meanwhile. Versions that came meanwhile are of a later moment."""
        if standing.version == 1:
            return MovedTrace((standing.with_level(written),), standing)
        found = await self._reader.versions(standing.id, standing.version)
        traces = [each.trace for each in found if each.trace.version <= standing.version]
        if len(traces) < standing.version:
            return None
        live, conscious = standing.live, standing.conscious
        return MovedTrace(tuple(replace(trace, live=live, conscious=conscious) for trace in traces), standing)

    async def changed(self, after: int) -> tuple[int, list[str]]:
        head = (await head_of(self._session, self._mind, TRACES, CORE)).change
        ids: dict[str, None] = {}
        async with aclosing(self._reader.changes(after, head)) as pages:
            async for rows in pages:
                ids.update((row.id, None) for row in rows)
        return head, list(ids)

    async def epoch(self) -> int:
        return max(await self._logs.epoch(), await self._perceptions.epoch())

    async def changes(self, after: str, limit: int) -> tuple[str, list[ConnectionChange]]:
        if not after or self._written is None:
            from environment.stores.sqlite.sorting import WrittenChanges  # noqa: PLC0415 - only where a mind moves

            self._let_go()
            written = WrittenChanges()
            await written.gather(self._registry.parts_written())
            self._written = written
        following, page = await self._written.page(after, limit)
        if not following:
            self._let_go()
        return following, page

    def _let_go(self) -> None:
        if self._written is not None:
            self._written.close()
            self._written = None

    async def states(self) -> list[str]:
        return await self._registry.names(partitions.STATE)
