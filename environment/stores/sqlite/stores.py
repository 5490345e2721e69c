"""All the stores of one mind in two SQLite files, and the one way to write to them."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import groupby
from pathlib import Path

from environment import ports
from environment.collections import RemoveDocument, WriteDocument
from environment.errors import FencedOut, StoreBroken
from environment.stores.sqlite import registry, schema
from environment.stores.sqlite.claims import EPOCH, Claim, remove_claims
from environment.stores.sqlite.connection_executor import ConnectionExecutor, Synchronous, transaction
from environment.stores.sqlite.documents import SqliteCollections, write_document
from environment.stores.sqlite.moving import SqliteMoving
from environment.stores.sqlite.out_of_process import OutOfProcessPerceptions
from environment.stores.sqlite.perceptions import SqlitePerceptions
from environment.stores.sqlite.stream import SqliteStream, append_entries, redact_entries
from environment.stores.sqlite.traces import SqliteTraces, TraceWriter, encode_traces


@dataclass(eq=False, repr=False)
class SqliteStores:
    """``Stores`` in ``perceptions.db`` and ``mind.db`` of one directory.

    Guarantees: what ``append`` and ``commit`` answer is on the disk (WAL, synchronous FULL); an error leaves
    nothing behind; several processes may hold the same files; minds that share them do not see each other.
    """

    _perception_executor: ConnectionExecutor
    _executor: ConnectionExecutor
    _mind: str
    _: KW_ONLY
    writer: str = "main"
    apart: bool = False

    def __post_init__(self) -> None:
        self._claim = Claim(self._mind, self.writer)
        self.perceptions = (
            OutOfProcessPerceptions(self._perception_executor, self._mind)
            if self.apart
            else SqlitePerceptions(self._perception_executor, self._mind)
        )
        self.traces = SqliteTraces(self._executor, self._mind)
        self.stream = SqliteStream(self._executor, self._mind)
        self.registry = registry.SqliteRegistry(self._executor, self._mind)
        self.collections = SqliteCollections(self._executor, self._mind)
        self.moving = SqliteMoving(self, self.perceptions, self._executor, self._mind)

    async def open(self) -> None:
        """Create or migrate both files."""
        await self._perception_executor.write(lambda connection: schema.migrate(connection, schema.PERCEPTIONS))
        await self._executor.write(lambda connection: schema.migrate(connection, schema.MIND))

    async def commit(self, writes: Sequence[ports.Write], fence: int = 0) -> None:
        if writes:
            await self._executor.write(lambda connection: self._commit(connection, writes, fence))

    def _commit(self, connection: sqlite3.Connection, writes: Sequence[ports.Write], fence: int) -> None:
        # Runs of one kind go to the database together; their order, and so the last word, stays the caller's.
        runs = [(kind, list(run)) for kind, run in groupby(writes, type)]
        bodies = {
            index: encode_traces([write for write in run if isinstance(write, ports.WriteTrace)])
            for index, (kind, run) in enumerate(runs)
            if kind is ports.WriteTrace
        }
        with transaction(connection):
            if fence:
                self._claim.check(connection, fence)
            writer: TraceWriter | None = None
            for index, (kind, run) in enumerate(runs):
                if kind in {ports.WriteTrace, ports.WriteLevel}:
                    writer = writer or TraceWriter(connection, self._mind)
                    if kind is ports.WriteTrace:
                        writer.traces(bodies[index])
                    else:
                        writer.levels([write for write in run if isinstance(write, ports.WriteLevel)])
                    continue
                for write in run:
                    self._other(connection, write)
            if writer is not None:
                writer.finish()

    def _other(self, connection: sqlite3.Connection, write: ports.Write) -> None:
        match write:
            case ports.WriteEntries(entries, redacted):
                (redact_entries if redacted else append_entries)(connection, self._mind, entries)
            case ports.WriteConnections():
                registry.write_connections(connection, self._mind, write)
            case ports.WriteState():
                registry.write_state(connection, self._mind, write)
            case ports.WriteReport():
                registry.write_report(connection, self._mind, write)
            case ports.WriteRemoved(names, states):
                registry.remove_actors(connection, self._mind, names, states)
                remove_claims(connection, self._mind, names)
            case WriteDocument() | RemoveDocument():
                write_document(connection, self._mind, write)
            case _:
                raise TypeError(f"{type(write).__name__} is not something a store can write")

    async def lead(self, token: int | None = None) -> int:
        def work(connection: sqlite3.Connection) -> int:
            current = schema.counter(connection, self._mind, EPOCH)
            epoch = current + 1 if token is None else token
            if epoch <= current:
                raise FencedOut(epoch, current)
            schema.set_counter(connection, self._mind, EPOCH, epoch)
            return epoch

        return await self._executor.change(work)

    async def claim(self, fence: int, life: int, *, numbers: bool = False) -> None:  # noqa: ARG002 - all is in one file
        await self._executor.write(lambda connection: self._claim.make(connection, fence, life))

    async def scrub(self) -> None:
        for executor in (self._perception_executor, self._executor):
            await executor.scrub()

    async def statistics(self) -> Mapping[str, float]:
        traces, live = await self.traces.rows()
        figures: dict[str, float] = {
            "perceptions_rows": await self.perceptions.rows(),
            "traces_rows": traces,
            "traces_live_rows": live,
            "entries_rows": await self.stream.head(),
        }
        for table, rows in (await self.registry.rows()).items():
            figures[f"{table}_rows"] = rows
        for executor in (self._perception_executor, self._executor):
            figures[f"{executor.path.stem}_bytes"] = _size(executor.path)
        return figures

    async def close(self) -> None:
        if isinstance(self.perceptions, OutOfProcessPerceptions):
            await self.perceptions.close()
        await self._perception_executor.close()
        await self._executor.close()


def _size(path: Path) -> int:
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreBroken(str(directory), f"the folder cannot be made: {error.strerror}") from error


async def open_stores(
    directory: Path,
    mind: str,
    *,
    writer: str = "main",
    inline: bool = False,
    apart: bool = False,
    synchronous: Synchronous = "FULL",
    busy_timeout: float = 5.0,
) -> SqliteStores:
    """Open, create or migrate the stores of ``mind`` in ``directory`` (created where missing).

    ``writer`` names the writer, whose lives ``claim`` counts.
    ``inline`` runs every statement in the caller: no thread, and no coroutine ever suspends (for the simulator).
    ``apart`` writes perceptions in a process of its own, for who takes in many.
    ``synchronous="OFF"`` gives up durability against a power cut; for replays only. ``busy_timeout`` is how many
    seconds a write waits for another process before ``StoreUnavailable``.
    Raises ``WrongSchema`` for files of a newer version and ``StoreBroken``, naming the file, where one is damaged
    or cannot be opened.
    """
    _make(directory)
    perceptions, mind_executor = (
        ConnectionExecutor(directory / name, inline=inline, synchronous=synchronous, busy_timeout=busy_timeout)
        for name in ("perceptions.db", "mind.db")
    )
    stores = SqliteStores(perceptions, mind_executor, mind, writer=writer, apart=apart)
    try:
        await stores.open()
    except BaseException:
        await stores.close()
        raise
    return stores
