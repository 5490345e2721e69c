"""Forgetting traces that are retired, old, and were never conscious."""

from dataclasses import dataclass

from environment.errors import ChangesGone
from environment.messages import Instant
from environment.stores.cassandra import partitions
from environment.stores.cassandra.calendar import work_off
from environment.stores.cassandra.commits.drafts import Draft
from environment.stores.cassandra.commits.record import TRACES
from environment.stores.cassandra.commits.writer import CommitWriter
from environment.stores.cassandra.driver.session import CassandraTable, Row
from environment.stores.cassandra.traces.traces import TraceReader, Written

_OLDEST = """SELECT at, id, stamp FROM traces_retired WHERE mind = ? AND hour = ? AND part = ? AND at < ?
    ORDER BY at ASC, id ASC LIMIT ?"""
_DONE = "DELETE FROM traces_retired USING TIMESTAMP ? WHERE mind = ? AND hour = ? AND part = ? AND (at, id) <= (?, ?)"
_AT_ONCE = 500


@dataclass(eq=False, repr=False)
class Retiring(CassandraTable):
    """Works through the index of retired traces, oldest first. What it has looked at it deletes there, as one range."""

    _reader: TraceReader
    _writer: CommitWriter

    async def forget(self, before: Instant, limit: int) -> int:
        """See ``TraceStore.forget``."""
        statement = await self._session.prepare(_OLDEST)

        async def work(hour: int, part: int, limit: int, now: int) -> tuple[int, int | None]:
            gone = 0
            while gone < limit:
                most = min(limit - gone, _AT_ONCE)
                rows = await self._session.execute(statement, (self._mind, hour, part, before, most), idempotent=True)
                gone += await self._forget(rows, before)
                stamp = await self._done(hour, part, rows, now)
                if len(rows) < most:
                    return gone, stamp
            return gone, None

        place = self._session, self._mind, partitions.RETIRED
        return await work_off(*place, before, limit, self._writer.logs.clock, work)

    async def _forget(self, rows: list[Row], before: Instant) -> int:
        """Forget those of the rows' traces that may go, unless somebody changes them meanwhile."""
        if not rows:
            return 0
        seen = await self._writer.traces_counted()
        going: dict[str, tuple[int, Written]] = {}
        for trace, *_ in await self._reader.newest(dict.fromkeys(row.id for row in rows)):
            if not trace.live and trace.conscious is None and trace.level.at < before:
                first = await self._reader.written(trace.id, 1)
                if first is not None:
                    going[trace.id] = trace.version, first
        if not going:
            return 0
        asked, forgotten = seen.change, seen.forgotten

        async def fill(draft: Draft) -> None:
            nonlocal asked, forgotten
            if draft.traces.forgotten != forgotten:  # another forgets as well
                there = {trace.id for trace, *_ in await self._reader.newest(going)}
                for name in going.keys() - there:
                    del going[name]
                forgotten = draft.traces.forgotten
            try:
                async for changed in self._reader.changes(asked, draft.traces.change):
                    for row in changed:
                        going.pop(row.id, None)
            except ChangesGone:  # it was held up for very long: another time
                going.clear()
            asked = draft.traces.change
            draft.forgotten = dict(going)

        await self._writer.decide_on(TRACES, fill)
        return len(going)

    async def _done(self, hour: int, part: int, rows: list[Row], now: int) -> int:
        """Let go of the index rows that were read, by their own write time: what is retired anew comes back.

        The write time by which nothing is left; ``now`` where nothing was.
        """
        if not rows:
            return now
        stamp, last = int(max(row.stamp for row in rows)), rows[-1]
        done = await self._session.prepare(_DONE)
        await self._session.execute(done, (stamp, self._mind, hour, part, last.at, last.id), idempotent=True)
        return stamp
