"""The one place that touches SQLite connections: a file, its threads, its transactions, its errors."""

import asyncio
import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from environment.errors import StoreBroken, StoreFull, StoreUnavailable, SubliminalError

T = TypeVar("T")
Synchronous: TypeAlias = Literal["FULL", "OFF"]

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT}
_DAMAGED = "it is damaged; restore the mind from a backup, or begin anew in another place"
_BROKEN = {
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: "it is no SQLite database; restore the mind from a backup, or begin anew in another place",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that its directory exists and may be written",
    sqlite3.SQLITE_READONLY: "it may not be written; check its owner and permissions",
    sqlite3.SQLITE_PERM: "it may not be opened; check its owner and permissions",
}


_UNFIT = {sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG}
"""What was to be written is at fault, and would be however often it is tried."""
_GARBLED = (msgspec.DecodeError, UnicodeDecodeError)
"""A row whose page is in order, and which says nothing that anybody wrote."""
_ROUND = 0.008
"""SQLite waits 1, 2, 5 ms, then ever longer, so that among many writers some starve: after 5 ms it is asked anew."""
_LARGEST = (1 << 63) - 1
_ROWS = 512
"""Most rows of one statement."""


def fit(number: int) -> int:
    """A number from outside as SQLite can hold it: a position beyond every row, or a limit that is none, stays so."""
    return min(max(number, 0), _LARGEST)


def translate(error: sqlite3.Error | OSError, path: Path) -> SubliminalError:
    """What an SQLite or file error means to a caller."""
    if isinstance(error, OSError):
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return StoreFull(f"no room left on the device for {path.name}", retry_after=5.0)
        return StoreBroken(str(path), error.strerror or str(error))
    code = _code(error)
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(f"no room left on the device for {path.name}", retry_after=5.0)
    if code in _BUSY:
        return StoreUnavailable(f"{path.name} is busy: another process is writing", retry_after=0.2)
    if code in _BROKEN:
        return StoreBroken(str(path), _BROKEN[code])
    return StoreUnavailable(f"{path.name}: {error}")


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


def _is_busy(error: Exception) -> bool:
    return isinstance(error, sqlite3.Error) and _code(error) in _BUSY


def connect(
    path: Path, synchronous: Synchronous, busy_timeout: float, *, read_only: bool = False
) -> sqlite3.Connection:
    """A connection in autocommit mode: WAL, foreign statements refused when reading only."""
    if not read_only:
        _make(path)
    connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None, cached_statements=256)
    try:
        if not read_only:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        connection.execute("PRAGMA wal_autocheckpoint = 2000")
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute("PRAGMA temp_store = MEMORY")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _make(path: Path) -> None:
    """Its owner's alone, and what SQLite lays beside it with it. What is wrong with the place SQLite says better.

    One that is there is not touched: to close it would release the locks that this process holds on it.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the block or none of it. IMMEDIATE, so that what is read in it cannot change before it is written."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have rolled it back already
            connection.execute("ROLLBACK")
        raise


def insert(connection: sqlite3.Connection, statement: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows of one width, in their order; ``{}`` in the statement is where its values go.

    Few statements, of 512 rows, 256, ... 1: each step hands the interpreter over to other threads, and may get it
    back only milliseconds later.
    """
    start, size = 0, _ROWS
    while start < len(rows):
        while size > len(rows) - start:
            size >>= 1
        values = chain.from_iterable(rows[start : start + size])
        connection.execute(statement.format(_values(size, len(rows[0]))), tuple(values))
        start += size


@cache
def _values(rows: int, columns: int) -> str:
    return ",".join([f"({','.join('?' * columns)})"] * rows)


class ConnectionExecutor:
    """One file's connections: one for writing, one for reading, each on a thread of its own so no event loop waits.

    Inline there is one connection and no thread: the coroutines then run to their end without suspending, which
    the simulator relies on. Guarantee: work given to ``write`` runs in the order in which it was given.
    """

    def __init__(self, path: Path, *, inline: bool, synchronous: Synchronous, busy_timeout: float) -> None:
        self.path = path
        self._inline = inline
        self.synchronous: Synchronous = synchronous
        self.busy_timeout = busy_timeout
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._write_thread: ThreadPoolExecutor | None = None
        self._read_thread: ThreadPoolExecutor | None = None
        self._closed = False

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` on the writing connection. Raises what ``translate`` makes of its errors.

        ``ValueError`` where no row can hold what was to be written.
        """
        if self._inline:
            return self._on_writer(work)
        self._check()
        if self._write_thread is None:
            self._write_thread = ThreadPoolExecutor(1, thread_name_prefix=f"write-{self.path.stem}")
        return await asyncio.get_running_loop().run_in_executor(self._write_thread, self._on_writer, work)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` on the reading connection: it sees everything committed before, and nothing committed since."""
        if self._inline:
            return self._on_writer(work)
        self._check()
        if self._read_thread is None:
            self._read_thread = ThreadPoolExecutor(1, thread_name_prefix=f"read-{self.path.stem}")
        return await asyncio.get_running_loop().run_in_executor(self._read_thread, self._on_reader, work)

    async def rows(self, made: Callable[[Any], T], statement: str, values: Sequence[object]) -> list[T]:
        """What ``made`` makes of each row of a query, read as ``read`` does."""
        return await self.read(lambda connection: [made(row) for row in connection.execute(statement, values)])

    async def row(self, made: Callable[[Any], T], statement: str, values: Sequence[object]) -> T | None:
        """The same of its first row; None where there is none."""
        found = await self.rows(made, f"{statement} LIMIT 1", values)
        return found[0] if found else None

    async def change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """``write``, all of it or nothing."""

        def whole(connection: sqlite3.Connection) -> T:
            with transaction(connection):
                return work(connection)

        return await self.write(whole)

    async def scrub(self) -> None:
        """Leave nothing of what was deleted in the file, or in the log beside it, which is emptied.

        The file is written anew: it takes room for that, and keeps all other writers waiting. Raises
        ``StoreUnavailable`` while somebody reads an older state.
        """

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("PRAGMA temp_store = FILE")
            try:
                connection.execute("VACUUM")
            finally:
                connection.execute("PRAGMA temp_store = MEMORY")
            if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise StoreUnavailable(f"{self.path.name} is being read", retry_after=0.2)

        await self.write(work)

    async def close(self) -> None:
        """Finish what was begun and release file and threads; may be called twice."""
        if self._closed:
            return
        self._closed = True
        for thread, close in ((self._read_thread, self._close_reader), (self._write_thread, self._close_writer)):
            if thread is None:
                close()
            else:
                await asyncio.get_running_loop().run_in_executor(thread, close)
                thread.shutdown(wait=False)

    def _check(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"{self.path.name} has been closed")

    def _on_writer(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._check()
        patience = time.monotonic() + self.busy_timeout
        while True:
            try:
                if self._writer is None:
                    self._writer = connect(self.path, self.synchronous, min(self.busy_timeout, _ROUND))
                return work(self._writer)
            except _GARBLED as error:
                raise StoreBroken(str(self.path), _DAMAGED) from error
            except (sqlite3.Error, OSError) as error:
                # Busy means that nothing was done: the work may be begun again.
                if _code(error) in _UNFIT and isinstance(error, sqlite3.Error):
                    raise ValueError(f"{self.path.name} cannot hold that: {error}") from error
                if not _is_busy(error) or time.monotonic() > patience:
                    raise translate(error, self.path) from error

    def _on_reader(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._reader is None:
                self._reader = connect(self.path, self.synchronous, self.busy_timeout, read_only=True)
            with self._moment(self._reader):
                return work(self._reader)
        except _GARBLED as error:
            raise StoreBroken(str(self.path), _DAMAGED) from error
        except (sqlite3.Error, OSError) as error:
            raise translate(error, self.path) from error

    @contextmanager
    def _moment(self, connection: sqlite3.Connection) -> Iterator[None]:
        """All that is read within it is of one moment, whatever other processes write meanwhile."""
        connection.execute("BEGIN")
        try:
            yield
        finally:
            if connection.in_transaction:  # a failure may have ended it
                connection.execute("ROLLBACK")

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


@dataclass(eq=False, repr=False)
class SqliteTable:
    """What is kept of one mind in a file."""

    _executor: ConnectionExecutor
    _mind: str

    def __post_init__(self) -> None:
        """What else it begins with."""
