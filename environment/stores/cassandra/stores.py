"""All the stores of one mind in one keyspace, and the one way to write to them."""

import asyncio
import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from random import Random

from environment.errors import StoreUnavailable, SubliminalError
from environment.ports import Write
from environment.stores.cassandra.collections import CassandraCollections
from environment.stores.cassandra.commits.commit_logs import Clock, CommitLogs, head_of
from environment.stores.cassandra.commits.drafts import Known
from environment.stores.cassandra.commits.fenced_log import FencedLogs
from environment.stores.cassandra.commits.record import CORE, STREAM
from environment.stores.cassandra.commits.writer import CommitWriter
from environment.stores.cassandra.documents import DocumentReader
from environment.stores.cassandra.driver.address import parse_address
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.session import Session
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.log.perceptions import CassandraPerceptions
from environment.stores.cassandra.moving import CassandraMoving
from environment.stores.cassandra.registry import CassandraRegistry
from environment.stores.cassandra.schema.migrations import require_schema
from environment.stores.cassandra.stream import CassandraStream, EntryNumbers
from environment.stores.cassandra.traces.ids import KnownIds
from environment.stores.cassandra.traces.live import LiveGeneration, LiveSet
from environment.stores.cassandra.traces.retiring import Retiring
from environment.stores.cassandra.traces.status import TraceStatusCache
from environment.stores.cassandra.traces.trace_store import CassandraTraces
from environment.stores.cassandra.traces.traces import TraceReader

_NOTED_WITHIN = 1 / 8
"""Of the time after which changes expire."""


class CassandraStores:
    """``Stores`` in a keyspace. Use ``open_stores``.

    Guarantees: what ``append`` and ``commit`` answer is on a quorum of replicas; a commit is decided as a whole, and
    an older leader is refused where it is decided; minds that share a keyspace do not see each other. A reader may
    see some rows of a commit before the others, but neither the stream nor the changes of traces ever show a gap.
    """

    def __init__(
        self, session: Session, mind: str, writer: str, settings: CassandraSettings, clock: Clock, rng: Random
    ) -> None:
        self._session = session
        self._mind = mind
        self._settings = settings
        self._clock = clock
        reader = TraceReader(session, mind)
        self._ids = KnownIds(session, mind, reader, settings.known_ids_bytes)
        self._statuses = TraceStatusCache(session, mind, reader, self._ids, settings.retired)
        self._live = LiveSet(session, mind, reader)
        self.registry = CassandraRegistry(session, mind, clock)
        fenced, documents = FencedLogs(session, mind), DocumentReader(session, mind)
        logs = CommitLogs(session, mind, fenced, clock, settings.record_bytes, int(settings.changes_kept))
        known = Known(self._statuses, EntryNumbers(session, mind), documents, logs.is_listed)
        self._writer = CommitWriter(logs, known, self.registry.is_listed, writer, rng)
        self.perceptions = CassandraPerceptions(
            session, mind, recent=settings.recent_keys, filter_bytes=settings.key_filter_bytes
        )
        self.traces = CassandraTraces(session, mind, reader, self._live, Retiring(session, mind, reader, self._writer))
        self.stream = CassandraStream(session, mind)
        self.collections = CassandraCollections(documents, self._writer)
        self.moving = CassandraMoving(self, session, mind, self.perceptions, reader, self.registry, logs)
        self._noting: asyncio.Task[bool] | None = None
        self._noted: LiveGeneration | None = None
        self._later: asyncio.TimerHandle | None = None
        self._closed = False

    async def commit(self, writes: Sequence[Write], fence: int = 0) -> None:
        self._check()
        if writes:
            await self._writer.commit(writes, fence)
            self._note()

    async def lead(self, token: int | None = None) -> int:
        self._check()
        return await self._writer.lead(token)

    async def claim(self, fence: int, life: int, *, numbers: bool = False) -> None:
        self._check()
        await self._writer.claim(fence, life, numbers=numbers)

    async def scrub(self) -> None:
        self._check()
        await self._writer.supersede()

    async def statistics(self) -> Mapping[str, float]:
        traces, live = await self.traces.rows()
        return {
            "perceptions_rows": await self.perceptions.rows(),
            "traces_rows": traces,
            "traces_live_rows": live,
            "entries_rows": (await head_of(self._session, self._mind, STREAM, CORE)).entries,
        }

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._later is not None:
            self._later.cancel()
        if self._noting is not None:
            self._noting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._noting
        await self._ids.stop()
        await self.perceptions.close()
        await self._session.close()

    def _check(self) -> None:
        if self._closed:
            raise StoreUnavailable("the store has been closed")

    def _note(self) -> None:
        """Write down what is live and which ids there are, in the background, by who writes.

        Every so many changes, and for those of a quiet mind long before they expire.
        """
        change = self._statuses.change
        if self._closed or change is None or (self._noting is not None and not self._noting.done()):
            return
        due = 0.0 if self._noted is None else self._due_in(change, self._noted)
        if due <= 0.0:
            self._noting = asyncio.create_task(self._write_down(change), name=f"live-{self._mind}")
            self._noting.add_done_callback(self._wrote_down)
        elif self._later is None and due < math.inf:
            self._later = asyncio.get_running_loop().call_later(due, self._note_later)

    def _note_later(self) -> None:
        self._later = None
        self._note()

    def _wrote_down(self, noting: asyncio.Task[bool]) -> None:
        if not noting.cancelled() and noting.result():
            self._note()  # what came meanwhile has its time as well

    def _due_in(self, change: int, noted: LiveGeneration) -> float:
        """Seconds until ``change`` is to be written down."""
        if change <= noted.change:
            return math.inf
        if noted.at is None or change - noted.change >= self._settings.generation:
            return 0.0
        return noted.at + self._settings.changes_kept * _NOTED_WITHIN - self._clock()

    async def _write_down(self, change: int) -> bool:
        """Whether what is live is written down as it should be; else the next commit tries again, and tells why."""
        with contextlib.suppress(SubliminalError):
            if self._noted is None:
                self._noted = await self._live.generation()
            if self._due_in(change, self._noted) <= 0.0:
                self._noted = await self._live.write_down(change, self._clock())
                await self._ids.write_down(change)
            return True
        return False


async def open_stores(
    place: str,
    mind: str,
    *,
    writer: str = "main",
    settings: CassandraSettings | None = None,
    clock: Clock = time.time,  # noqa: TID251 - suggests write times, which grow within a writer whatever it says
    rng: Random | None = None,
) -> CassandraStores:
    """Open the stores of ``mind`` at ``place``, an address ``cassandra://host/keyspace?dc=NAME``.

    ``writer`` names the writer: an actor, or ``host``. Raises ``StoreUnavailable`` where no server answers,
    ``StoreBroken`` where the address must be put right, and ``WrongSchema`` unless the keyspace was migrated to
    exactly what this version knows.
    """
    settings, rng = settings or CassandraSettings(), rng or Random()  # noqa: S311 - pauses and words, no secrets
    session = await open_session(parse_address(place), settings, rng=rng)
    try:
        await require_schema(session)
    except BaseException:
        await session.close()
        raise
    return CassandraStores(session, mind, writer, settings, clock, rng)
