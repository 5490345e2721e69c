"""The status of traces that a writer remembers, so that it need not read before it writes.

It is the only writer as a rule. Where the log says that another wrote, it forgets what the other touched, which the
change log tells, and reads that again when it needs it.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from environment.errors import ChangesGone
from environment.latest import Latest
from environment.messages import Trace
from environment.stores.cassandra.commits.record import Counters
from environment.stores.cassandra.driver.session import Session
from environment.stores.cassandra.traces.ids import KnownIds
from environment.stores.cassandra.traces.traces import TraceReader

_READ = "SELECT newest, live FROM traces WHERE mind = ? AND id = ? AND chunk = 0 LIMIT 1"
_FAR = 20_000


class TraceStatus(NamedTuple):
    """A trace's newest version, and whether it is live."""

    newest: int
    live: bool


class TraceStatusCache:
    """How the traces of one mind stand, as far as somebody asked, and which ids are surely new.

    Memory: the live traces that were written or asked for, and at most ``retired`` others, some 150 bytes each.
    """

    def __init__(self, session: Session, mind: str, reader: TraceReader, known: KnownIds, retired: int) -> None:
        self._session = session
        self._mind = mind
        self._reader = reader
        self._known = known
        self._live: dict[str, TraceStatus] = {}
        self._retired = Latest[str, TraceStatus](retired)
        self.change: int | None = None
        """The change up to which all is taken in; None before the first commit."""
        self._forgotten = 0
        self.reads = 0
        """Traces that had to be read, ever."""

    async def follow(self, state: Counters) -> None:
        """Take in that the log stands at ``state``: what others changed since is forgotten here."""
        if self.change is None or not await self._caught_up(self.change, state.change):
            self._live.clear()
            self._retired.clear()
            self._known.start(state.change)
        if state.forgotten != self._forgotten:
            self._retired.clear()
        self.change, self._forgotten = state.change, state.forgotten

    async def _caught_up(self, since: int, change: int) -> bool:
        """Forget what changed between; false where that is too much, or no longer known."""
        if change - since > _FAR:
            return False
        try:
            async for rows in self._reader.changes(since, change):
                for row in rows:
                    self._live.pop(row.id, None)
                    self._retired.pop(row.id, None)
                    self._known.add(row.id)
        except ChangesGone:
            return False
        return True

    async def of(self, ids: Iterable[str]) -> dict[str, TraceStatus]:
        """Those of ``ids`` that are there."""
        found: dict[str, TraceStatus] = {}
        unknown: list[str] = []
        for name in dict.fromkeys(ids):
            status = self._live.get(name) or self._retired.get(name)
            if status is not None:
                found[name] = status
            elif self._known.may_hold(name):
                unknown.append(name)
        if unknown:
            self.reads += len(unknown)
            statement = await self._session.prepare(_READ)
            requests = [(statement, (self._mind, name)) for name in unknown]
            for name, rows in zip(unknown, await self._session.execute_all(requests, idempotent=True), strict=True):
                if rows and rows[0].newest is not None:
                    found[name] = TraceStatus(rows[0].newest, rows[0].live)
                    self._keep(name, found[name])
        return found

    async def version(self, trace_id: str, version: int) -> Trace | None:
        """A version of a trace, for who writes it again."""
        found = await self._reader.written(trace_id, version)
        return found.trace if found else None

    def wrote(self, state: Counters, statuses: Mapping[str, TraceStatus], forgotten: Iterable[str]) -> None:
        """Take in what this writer has written, after which the log stands at ``state``."""
        for name, status in statuses.items():
            self._keep(name, status)
            self._known.add(name)
        for name in forgotten:
            self._live.pop(name, None)
            self._retired.pop(name, None)
        self.change, self._forgotten = state.change, state.forgotten

    def _keep(self, name: str, status: TraceStatus) -> None:
        if status.live:
            self._retired.pop(name, None)
            self._live[name] = status
            return
        self._live.pop(name, None)
        self._retired[name] = status
