"""Copying out of Cassandra, and into it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from environment.messages import ConnectionChange, Level, Trace
from environment.ports import Stores
from environment.stores import paging
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.commit_logs import CommitLogs, head_of
from environment.stores.cassandra.commits.record import CORE, TRACES
from environment.stores.cassandra.driver.session import Session
from environment.stores.cassandra.log.perceptions import CassandraPerceptions
from environment.stores.cassandra.registry import CassandraRegistry
from environment.stores.cassandra.traces.scan import parse_position, scan_traces
from environment.stores.cassandra.traces.traces import TraceReader
from environment.stores.movable import MovedTrace

_AT_ONCE = 16


class CassandraMoving(paging.StoredPages):
    """``Moving`` in a keyspace. Marks are places in the index of times, and partitions of changes of connections."""

    def __init__(
        self,
        stores: Stores,
        session: Session,
        mind: str,
        perceptions: CassandraPerceptions,
        reader: TraceReader,
        registry: CassandraRegistry,
        logs: CommitLogs,
    ) -> None:
        super().__init__(stores)
        self._logs = logs
        self._session = session
        self._mind = mind
        self._log = perceptions
        self._reader = reader
        self._registry = registry

    async def skip(self, to: int) -> None:
        await self._log.skip(to)

    async def traces(self, after: str) -> AsyncGenerator[tuple[str, list[MovedTrace]], None]:
        # What is written meanwhile would never let it end.
        last = partitions.part((await head_of(self._session, self._mind, TRACES, CORE)).change)
        names: list[str] = []
        reached = parse_position(after)
        async with aclosing(scan_traces(self._session, self._mind, reached, last)) as places:
            async for name, reached in places:
                names.append(name)
                if len(names) >= paging.PAGE:
                    yield str(reached), [trace for trace, _ in await self.named(names)]
                    names = []
        if names:
            yield str(reached), [trace for trace, _ in await self.named(names)]

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
        return max(await self._logs.epoch(), await self._log.epoch())

    async def changes(self, after: str) -> AsyncGenerator[tuple[str, list[ConnectionChange]], None]:
        behind = tuple(json.loads(after)) if after else ("",)
        async for place, page in self._registry.parts_written():
            if place > behind:
                yield json.dumps(place), page

    async def states(self) -> list[str]:
        return await self._registry.names(partitions.STATE)
