"""Moving house out of Cassandra, and into it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace

from environment.messages import ConnectionChange, Trace
from environment.stores.cassandra import partitions
from environment.stores.cassandra.driver.session import Session
from environment.stores.cassandra.log.perceptions import CassandraPerceptions
from environment.stores.cassandra.registry import CassandraRegistry
from environment.stores.cassandra.traces.traces import TraceReader
from environment.stores.cassandra.traces.walking import parse_place, walk
from environment.stores.moving import MovedTrace

_AT_ONCE = 16


class CassandraMoving:
    """``Moving`` in a keyspace. Marks are places in the index of times, and numbers of changes of connections.

    Changes of connections are all in memory while they are read.
    """

    def __init__(
        self,
        session: Session,
        mind: str,
        perceptions: CassandraPerceptions,
        reader: TraceReader,
        registry: CassandraRegistry,
    ) -> None:
        self._session = session
        self._mind = mind
        self._perceptions = perceptions
        self._reader = reader
        self._registry = registry
        self._changes: list[ConnectionChange] = []

    async def skip(self, to: int) -> None:
        await self._perceptions.skip(to)

    async def traces(self, after: str, limit: int) -> tuple[str, list[MovedTrace]]:
        names: list[str] = []
        reached = parse_place(after)
        async with aclosing(walk(self._session, self._mind, reached)) as places:
            async for name, place in places:
                names.append(name)
                reached = place
                if len(names) >= limit:
                    break
        found = [trace for trace, _ in await self._reader.newest(names)]
        moved: list[MovedTrace] = []
        for start in range(0, len(found), _AT_ONCE):
            moved += await asyncio.gather(*map(self._moved, found[start : start + _AT_ONCE]))
        return (str(reached) if len(names) >= limit else ""), moved

    async def _moved(self, standing: Trace) -> MovedTrace:
        written = await self._reader.versions(standing.id, standing.version)
        live, conscious = standing.live, standing.conscious
        return MovedTrace(tuple(replace(each.trace, live=live, conscious=conscious) for each in written), standing)

    async def changes(self, after: str, limit: int) -> tuple[str, list[ConnectionChange]]:
        start = int(after or 0)
        if not start or not self._changes:
            self._changes = await self._registry.all_written()
        page = self._changes[start : start + limit]
        if start + limit < len(self._changes):
            return str(start + limit), page
        self._changes = []
        return "", page

    async def states(self) -> list[str]:
        return await self._registry.names(partitions.STATE)
