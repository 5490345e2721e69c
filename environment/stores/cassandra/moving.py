"""Moving house out of Cassandra, and into it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from environment.messages import ConnectionChange, Trace
from environment.stores.cassandra import partitions
from environment.stores.cassandra.log.perceptions import CassandraPerceptions
from environment.stores.cassandra.registry import CassandraRegistry
from environment.stores.cassandra.traces.trace_store import CassandraTraces
from environment.stores.cassandra.traces.traces import TraceReader
from environment.stores.moving import MovedTrace

_AT_ONCE = 16


class CassandraMoving:
    """``Moving`` in a keyspace. Marks are numbers: of the last change of a trace, and of a change of connections.

    A trace comes under its last change, so each comes once; changes of connections are all in memory while they are
    read.
    """

    def __init__(
        self,
        perceptions: CassandraPerceptions,
        traces: CassandraTraces,
        reader: TraceReader,
        registry: CassandraRegistry,
    ) -> None:
        self._perceptions = perceptions
        self._traces = traces
        self._reader = reader
        self._registry = registry
        self._changes: list[ConnectionChange] = []

    async def skip(self, to: int) -> None:
        await self._perceptions.skip(to)

    async def traces(self, after: str, limit: int) -> tuple[str, list[MovedTrace]]:
        reached, found = await self._traces.changes(int(after or 0), limit)
        moved: list[MovedTrace] = []
        for start in range(0, len(found), _AT_ONCE):
            moved += await asyncio.gather(*map(self._moved, found[start : start + _AT_ONCE]))
        return (str(reached) if found and reached < await self._traces.head() else ""), moved

    async def _moved(self, standing: Trace) -> MovedTrace:
        written = await self._reader.versions(standing.id, standing.version)
        live, conscious = standing.live, standing.conscious
        return MovedTrace(tuple(replace(each.trace, live=live, conscious=conscious) for each in written), standing)

    async def changes(self, after: str, limit: int) -> tuple[str, list[ConnectionChange]]:
        start = int(after or 0)
        if not start or not self._changes:
            self._changes = await self._registry.written()
        page = self._changes[start : start + limit]
        if start + limit < len(self._changes):
            return str(start + limit), page
        self._changes = []
        return "", page

    async def states(self) -> list[str]:
        return await self._registry.names(partitions.STATE)
