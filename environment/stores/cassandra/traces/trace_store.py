"""The port of the traces on Cassandra: live ones, changed ones, those that are named."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice

from environment.errors import ChangesGone
from environment.messages import Instant, Trace
from environment.ports import Progress
from environment.stores.cassandra.commits.commit_logs import head_of
from environment.stores.cassandra.commits.record import CORE, TRACES
from environment.stores.cassandra.driver.session import CassandraTable, Row
from environment.stores.cassandra.traces.live import LiveSet
from environment.stores.cassandra.traces.retiring import Retiring
from environment.stores.cassandra.traces.traces import TraceReader, last_changes

_WINDOW = 5000


@dataclass(eq=False, repr=False)
class CassandraTraces(CassandraTable):
    """``TraceStore``; whoever reads sees a commit when all its rows are there, as the head says."""

    _reader: TraceReader
    _live: LiveSet
    _retiring: Retiring

    async def get(self, ids: Sequence[str]) -> dict[str, Trace]:
        return {trace.id: trace for trace, *_ in await self._reader.newest(dict.fromkeys(ids))}

    async def revisions(self, trace_id: str) -> list[Trace]:
        newest = await self._reader.newest([trace_id])
        if not newest:
            return []
        ((trace, *_),) = newest
        if trace.version == 1:
            return [trace]
        older = await self._reader.versions(trace_id, trace.version)
        return [written.trace for written in older if written.trace.version < trace.version] + [trace]

    async def live(self, batch: int = 1000, progress: Progress | None = None) -> AsyncIterator[list[Trace]]:
        everything = sorted(await self._live.ids(await self.head()))
        ids, total, read = iter(everything), len(everything), 0
        names = list(islice(ids, batch))
        reading = asyncio.ensure_future(self._reader.newest(names, patient=True))
        try:
            while names:
                found = await reading
                read += len(names)
                names = list(islice(ids, batch))
                # While the caller is busy with these.
                reading = asyncio.ensure_future(self._reader.newest(names, patient=True))
                if progress is not None:
                    progress(read, total)
                traces = [trace for trace, *_ in found if trace.live]
                if traces:
                    yield traces
        finally:
            reading.cancel()

    async def changes(self, after: int, limit: int) -> tuple[int, list[Trace]]:
        head = await self.head()
        reached, found = max(after, 0), list[Trace]()
        while len(found) < limit and reached < head:  # fewer than asked for are all there are
            rows: list[Row] = []
            async with aclosing(self._reader.changes(reached, head)) as pages:
                async for page in pages:
                    rows += page
                    if len(rows) >= _WINDOW:
                        break
            last = last_changes(rows)
            names = list(islice(last, limit - len(found)))
            reached = last[names[-1]] if len(names) < len(last) else rows[-1].change
            there = await self._reader.newest(names)
            if len(there) < len(names):  # forgotten since: nobody can tell what became of it
                raise ChangesGone(after)
            # One that has changed again comes later, under that change.
            found += [trace for trace, change, _ in there if change == last[trace.id]]
        return (after if reached == max(after, 0) else reached), found

    async def head(self) -> int:
        return (await head_of(self._session, self._mind, TRACES, CORE)).change

    async def forget(self, before: Instant, limit: int = 10_000) -> int:
        return await self._retiring.forget(before, limit)

    async def rows(self) -> tuple[int, int]:
        """How many traces are kept, and how many of them are live."""
        state = await head_of(self._session, self._mind, TRACES, CORE)
        return state.traces, state.live
