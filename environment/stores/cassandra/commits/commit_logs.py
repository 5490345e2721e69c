"""Commit logs: the order in which a mind's commits happen, decided one record at a time, and written out after that.

A commit is decided as a whole when its record stands in its logs (``fenced_log``). The rows are written afterwards,
plainly; the heads last, which say that they all are there. A writer that dies in between leaves its record behind:
whoever comes next to the log finds the head lagging and writes the rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from environment.errors import FencedOut, StoreUnavailable
from environment.latest import Latest
from environment.messages import Instant
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.fenced_log import TRIES, FencedLogs, LogRow
from environment.stores.cassandra.commits.record import (
    CommitRecord,
    Counters,
    Part,
    Row,
    WriterLife,
    decode_counters,
    decode_record,
    decode_rows,
    encode,
    family_of,
)
from environment.stores.cassandra.commits.rows import Request, heads_of, requests_of
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.driver.session import Session

Clock: TypeAlias = Callable[[], Instant]

_NAME = "INSERT INTO fenced_log_names (mind, family, log) VALUES (?, ?, ?)"
_NO_NAME = "DELETE FROM fenced_log_names WHERE mind = ? AND family = ? AND log = ?"
_NAMES = "SELECT family, log FROM fenced_log_names WHERE mind = ?"
_HEAD = "SELECT n, counters FROM heads WHERE mind = ? AND family = ? AND log = ?"
_PIECE = "INSERT INTO large_records (mind, commit_id, part, body) VALUES (?, ?, ?, ?)"
_PIECES = "SELECT body FROM large_records WHERE mind = ? AND commit_id = ?"
_NO_PIECES = "DELETE FROM large_records WHERE mind = ? AND commit_id = ?"

NO_CLAIMS: Mapping[str, WriterLife] = MappingProxyType({})
_STEP = 8
"""Microseconds between the write times of two records: room for what one deletes and puts."""
_LISTED = 8192
"""Buckets and names that are known to be in their directories."""
_RECENT = 8
"""Ids that a record keeps of those before it: by them the writer of one whose answer was lost finds it again."""


async def head_of(session: Session, mind: str, log: str, family: str) -> Counters:
    """What a log had counted when the last record was applied of which all rows are there: what readers go by."""
    rows = await session.execute(await session.prepare(_HEAD), (mind, family, log), idempotent=True)
    return decode_counters(rows[0].counters) if rows else Counters()


@dataclass(frozen=True, slots=True)
class LogView:
    """A log with its last record, all rows of which are there."""

    row: LogRow
    record: CommitRecord | None

    @property
    def place(self) -> tuple[str, str]:
        """Family and name."""
        return self.row.family, self.row.log

    @property
    def counters(self) -> Counters:
        """What the log has counted."""
        part = self.record.part(*self.place) if self.record else None
        return part.counters if part else Counters()

    @property
    def claims(self) -> dict[str, WriterLife]:
        """Who claimed the log under its epoch. Of an older one nobody writes any more, so it does not count."""
        part = self.record.part(*self.place) if self.record else None
        return {name: each for name, each in part.claims.items() if each.epoch >= self.row.epoch} if part else {}


@dataclass(frozen=True, slots=True)
class Decided:
    """A record that was decided on, and is to be applied."""

    views: tuple[LogView, ...]
    """Its logs with it."""
    record: CommitRecord
    rows: Sequence[Row]
    removed: Sequence[str] = ()
    """Writers whose logs go."""


@dataclass(slots=True)
class CommitLogs:
    """All commit logs of one mind, as one opening sees them. One call at a time for each family: the caller locks.

    ``clock`` only suggests write times, so that rows of different logs are ordered as they happened; within a log
    they grow whatever it says. Every method may raise ``StoreUnavailable``.
    """

    session: Session
    mind: str
    fenced: FencedLogs
    clock: Clock
    inline: int
    """Rows of more bytes are written apart from their record."""
    changes_kept: int
    """Seconds after which the changes of traces expire."""
    _listed: Latest[tuple[object, ...], None] = field(default_factory=lambda: Latest(_LISTED))

    async def look(self, family: str, names: Sequence[str]) -> list[LogView]:
        """Logs of a family as they are now, made where they are not there; what was left unwritten is written."""
        for _ in range(TRIES):
            rows = await self.fenced.read(family)
            missing = [name for name in names if name not in rows]
            if not missing:
                views = [_view(rows[name]) for name in names]
                for view in views:
                    await self._help(view)
                return views
            for name in missing:
                await self._make(family, name)
        raise StoreUnavailable(f"commit log {names[0]} could not be made")

    def stamp(self, views: Sequence[LogView]) -> int:
        """The write time of a record that follows what was seen."""
        return max(int(self.clock() * 1e6), *(view.counters.stamp + _STEP for view in views))

    def is_listed(self, name: str, *values: object) -> bool:
        """Whether a bucket or a name is known to be in its directory already."""
        return (name, *values) in self._listed

    async def decide(
        self,
        views: Sequence[LogView],
        counters: Sequence[Counters],
        rows: Sequence[Row],
        fence: int,
        commit: tuple[bytes, int],
        claims: Mapping[str, WriterLife] = NO_CLAIMS,
    ) -> Decided | None:
        """Put a record in the place of the last, in all of ``views`` or none; None where one of them has moved on.

        ``commit`` is its id and its stamp; ``claims`` are made with it. Raises ``OutcomeUnknown`` where even asking
        again did not say what happened: it is settled once another record is decided in one of its logs.
        """
        made, stamp = commit
        body = encode(rows)
        large = len(body) > self.inline // len(views)  # each of them holds it
        pieces = await self._write_apart(made, body) if large else 0
        parts = [
            Part(
                *(*view.place, view.row.n + 1, msgspec.structs.replace(counted, stamp=stamp)),
                {name: each for name, each in {**view.claims, **claims}.items() if each.epoch >= fence},
            )
            for view, counted in zip(views, counters, strict=True)
        ]
        recent = [each for view in views if view.record for each in (view.record.id, *view.record.recent)]
        record = CommitRecord(stamp, made, parts, b"" if large else body, pieces, recent[:_RECENT])
        changes = [(view.row, view.row.n + 1, max(view.row.epoch, fence)) for view in views]
        if not await self._put(changes, record):
            if large:
                await self._drop(made)
            return None
        for view in views:
            if view.record and view.record.pieces:
                await self._drop(view.record.id)
        then = tuple(LogView(LogRow(row.family, row.log, n, epoch), record) for row, n, epoch in changes)
        return Decided(then, record, rows, _removed(rows))

    async def apply(self, decided: Decided) -> None:
        """Write the rows of what was decided, then the heads. May be repeated."""
        record = decided.record
        await self._write(requests_of(self.mind, record.stamp, decided.rows, self.changes_kept))
        for name in decided.removed:
            await self._remove(family_of(name), name)
        await self._write(heads_of(self.mind, record))
        self._listed.update(((name, *values), None) for name, values in decided.rows if name in ("bucket", "name"))

    async def _help(self, view: LogView) -> None:
        """Write the rows of a log's last record, unless its head says that they are there."""
        if view.record is None:
            return
        statement = await self.session.prepare(_HEAD)
        head = await self.session.execute(statement, (self.mind, *view.place), idempotent=True)
        if head and head[0].n >= view.row.n:
            return
        body = view.record.rows
        if view.record.pieces:
            statement = await self.session.prepare(_PIECES)
            pieces = await self.session.execute(statement, (self.mind, view.record.id), idempotent=True)
            if len(pieces) < view.record.pieces:  # deleted: somebody has written the rows and gone on
                return
            body = b"".join(piece.body for piece in pieces)
        rows = decode_rows(body)
        await self.apply(Decided((view,), view.record, rows, _removed(rows)))

    async def epoch(self) -> int:
        """The mind's epoch, 0 before anybody led."""
        return (await self.fenced.one("mind", "epoch")).epoch

    async def lead(self, token: int | None) -> int:
        """Begin an epoch, then close every log to older ones and write what was left in it.

        Raises ``FencedOut`` where ``token`` is not larger than the current epoch, or a newer leader came meanwhile.
        """
        epoch = (await self.fenced.lead("mind", "epoch", token)).epoch
        for family, log in await self.names():
            await self._close_to_older(family, log, epoch)
        return epoch

    async def names(self) -> list[tuple[str, str]]:
        """Family and name of every log."""
        rows = await self.session.execute(await self.session.prepare(_NAMES), (self.mind,), idempotent=True)
        return [(row.family, row.log) for row in rows]

    async def _close_to_older(self, family: str, log: str, epoch: int) -> None:
        for _ in range(TRIES):
            (view,) = await self.look(family, [log])
            if view.row.epoch == epoch:
                return
            if view.row.epoch > epoch:
                raise FencedOut(epoch, view.row.epoch)
            try:
                await self.fenced.raise_epoch(view.row, epoch)
            except OutcomeUnknown:
                continue
        raise StoreUnavailable(f"commit log {log} could not be closed to older leaders", retry_after=0.2)

    async def _make(self, family: str, log: str) -> None:
        """Named first, so that who leads from now on finds it; then made under the epoch that is there by now."""
        name = await self.session.prepare(_NAME)
        await self.session.execute(name, (self.mind, family, log), idempotent=True)
        try:
            await self.fenced.make(family, log, await self.epoch())
        except OutcomeUnknown:
            return  # look again

    async def _remove(self, family: str, log: str) -> None:
        """Take a log away, for good: nobody of its name comes again. Who leads hears of it no more first."""
        gone = await self.session.prepare(_NO_NAME)
        await self.session.execute(gone, (self.mind, family, log), idempotent=True)
        await self.fenced.remove(family, log)

    async def _put(self, changes: Sequence[tuple[LogRow, int, int]], record: CommitRecord) -> bool:
        """The conditional write. After a lost answer the very same record is put again: one of the two may stay."""
        body, attempts = encode(record), self.session.settings.attempts
        for attempt in range(attempts):
            try:
                if await self.fenced.decide(changes, body):
                    return True
            except OutcomeUnknown:
                if attempt + 1 == attempts:
                    raise
                continue
            if attempt == 0:
                return False
            row = changes[0][0]  # refused: by its own twin, perhaps
            there = _view(await self.fenced.one(row.family, row.log)).record
            return there is not None and there.tells_of(record.id)
        raise AssertionError

    async def _write(self, requests: Iterable[Request]) -> None:
        rows = list(requests)
        statements = {cql: await self.session.prepare(cql) for cql in {cql for cql, _ in rows}}
        await self.session.write_all([(statements[cql], values) for cql, values in rows])

    async def _write_apart(self, commit: bytes, body: bytes) -> int:
        statement = await self.session.prepare(_PIECE)
        pieces = [(statement, (self.mind, commit, n, piece)) for n, piece in enumerate(partitions.pieces(body))]
        await self.session.execute_all(pieces, idempotent=True, concurrency=8)
        return len(pieces)

    async def _drop(self, commit: bytes) -> None:
        await self.session.execute(await self.session.prepare(_NO_PIECES), (self.mind, commit), idempotent=True)


def _view(row: LogRow) -> LogView:
    return LogView(row, decode_record(row.record) if row.n else None)


def _removed(rows: Sequence[Row]) -> list[str]:
    """The writers whose heads the rows take away: their logs go as well."""
    return [values[1] for name, values in rows if name == "no head"]
