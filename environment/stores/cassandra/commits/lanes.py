"""Lanes: the order in which a mind's commits happen, decided one record at a time by lightweight transactions.

A lane holds the number, the epoch and the body of its last record. A commit is one conditional write that puts the next
record in its place, where number and epoch are what the writer saw: there it is decided, and there an older leader is
refused. The rows are written afterwards, plainly; the heads last, which say that they all are there. A writer that dies
in between leaves its record behind: whoever comes next to the lane finds the head lagging and writes the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from environment.errors import FencedOut, StoreUnavailable
from environment.messages import Instant
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.record import (
    STREAM,
    TRACES,
    Claim,
    LaneState,
    Part,
    Payload,
    Record,
    decode_payload,
    decode_record,
    encode_payload,
    encode_record,
    room_of,
)
from environment.stores.cassandra.commits.rows import heads_of, rows_of
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.driver.session import Row, Session

Clock: TypeAlias = Callable[[], Instant]

_LOOK = "SELECT lane, n, epoch, record FROM lanes WHERE mind = ? AND room = ?"
_NAME = "INSERT INTO lane_names (mind, room, lane) VALUES (?, ?, ?)"
_NO_LANE_NAME = "DELETE FROM lane_names WHERE mind = ? AND room = ? AND lane = ?"
_NO_LANE = "DELETE FROM lanes WHERE mind = ? AND room = ? AND lane = ? IF EXISTS"
_NAMES = "SELECT room, lane FROM lane_names WHERE mind = ?"
_MAKE = "INSERT INTO lanes (mind, room, lane, n, epoch, record) VALUES (?, ?, ?, 0, ?, ?) IF NOT EXISTS"
_DECIDE = """UPDATE lanes SET n = ?, epoch = ?, record = ? WHERE mind = ? AND room = ? AND lane = ?
    IF n = ? AND epoch = ?"""
_DECIDE_BOTH = f"BEGIN BATCH {_DECIDE}; {_DECIDE}; APPLY BATCH"
_RAISE = "UPDATE lanes SET epoch = ? WHERE mind = ? AND room = ? AND lane = ? IF epoch = ?"
_HEAD = "SELECT n FROM heads WHERE mind = ? AND room = ? AND lane = ?"
_MIND = "SELECT epoch, leader FROM minds WHERE mind = ?"
_FIRST_LEADER = "INSERT INTO minds (mind, epoch, leader) VALUES (?, ?, ?) IF NOT EXISTS"
_NEXT_LEADER = "UPDATE minds SET epoch = ?, leader = ? WHERE mind = ? IF epoch = ?"
_PIECE = "INSERT INTO large_records (mind, word, part, body) VALUES (?, ?, ?, ?)"
_PIECES = "SELECT body FROM large_records WHERE mind = ? AND word = ?"
_NO_PIECES = "DELETE FROM large_records WHERE mind = ? AND word = ?"

NOTHING_CLAIMED: Mapping[str, Claim] = MappingProxyType({})
_TRIES = 50
_STEP = 8
"""Microseconds between the write times of two records: room for what one deletes and puts."""
_NOTED = 8192
_RECENT = 8
"""Words that a record keeps of those before it: by them the writer of one whose answer was lost finds it again."""


@dataclass(frozen=True, slots=True)
class View:
    """What a lane was seen to hold: its last record, all rows of which are there."""

    room: str
    lane: str
    n: int
    epoch: int
    record: Record | None

    @property
    def state(self) -> LaneState:
        """What the lane has counted."""
        part = self._part()
        return part.state if part else LaneState()

    @property
    def claims(self) -> dict[str, Claim]:
        """Who claimed the lane under its epoch. Of an older one nobody writes any more, so it does not count."""
        part = self._part()
        return {name: each for name, each in part.claims.items() if each.epoch >= self.epoch} if part else {}

    def _part(self) -> Part | None:
        return self.record.part(self.room, self.lane) if self.record else None


@dataclass(slots=True)
class Decision:
    """A record that was decided on, and is to be applied."""

    record: Record
    payload: Payload
    epochs: tuple[int, ...]
    """Of its lanes."""


@dataclass(slots=True)
class Lanes:
    """All lanes of one mind, as one opening sees them. One call at a time for each room: the caller holds a lock.

    ``clock`` only suggests write times, so that rows of different lanes are ordered as they happened; within a lane
    they grow whatever it says. Every method may raise ``StoreUnavailable``.
    """

    session: Session
    mind: str
    clock: Clock
    rng: Random
    inline: int
    """Payloads of more bytes are written apart from their record."""
    changes_kept: int
    """Seconds after which the changes of traces expire."""
    _noted: dict[tuple[str, int, int], None] = field(default_factory=dict)

    async def look(self, room: str, names: Sequence[str]) -> list[View]:
        """The lanes of a room as they are now, made where they are not there; what was left unwritten is written."""
        statement = await self.session.prepare(_LOOK)
        for _ in range(_TRIES):
            rows = {row.lane: row for row in await self.session.serial(statement, (self.mind, room))}
            missing = [name for name in names if name not in rows]
            if not missing:
                views = [_view(room, rows[name]) for name in names]
                for view in views:
                    await self.help(view)
                return views
            for name in missing:
                await self._make(room, name)
        raise StoreUnavailable(f"lane {names[0]} could not be made")

    async def decide(
        self,
        views: Sequence[View],
        states: Sequence[LaneState],
        payload: Payload,
        fence: int,
        word: bytes,
        claims: Mapping[str, Claim] = NOTHING_CLAIMED,
    ) -> Decision | None:
        """Put a record in the place of the last, in all of ``views`` or none; None where one of them has moved on.

        ``word`` is the record's own, ``claims`` are made with it. Raises ``OutcomeUnknown`` where even asking again did
        not say what happened: then the lane's next records will tell of the word, or never will.
        """
        stamp = max(int(self.clock() * 1e6), *(view.state.stamp + _STEP for view in views))
        body = encode_payload(payload)
        large = len(body) > self.inline // len(views)  # each of them holds it
        pieces = await self._write_apart(word, body) if large else 0
        parts = [
            Part(
                *(view.room, view.lane, view.n + 1, msgspec.structs.replace(state, stamp=stamp)),
                {name: each for name, each in {**view.claims, **claims}.items() if each.epoch >= fence},
            )
            for view, state in zip(views, states, strict=True)
        ]
        recent = [each for view in views if view.record for each in (view.record.word, *view.record.recent)]
        record = Record(stamp, word, parts, b"" if large else body, pieces, recent[:_RECENT])
        applied = await self._put(views, record, fence)
        if not applied and large:
            await self._drop(word)
        if not applied:
            return None
        for view in views:
            if view.record and view.record.pieces:
                await self._drop(view.record.word)
        return Decision(record, payload, tuple(max(view.epoch, fence) for view in views))

    async def apply(self, decision: Decision) -> list[View]:
        """Write the rows of what was decided, then the heads; the lanes as they are with it. May be repeated."""
        record = decision.record
        fresh: dict[tuple[str, int, int], None] = {}

        def noted(scope: str, bucket: int, part: int) -> bool:
            place = (scope, bucket, part)
            if place not in self._noted:
                fresh[place] = None
            return place not in fresh

        await self._write(list(rows_of(self.mind, record, decision.payload, self.changes_kept, noted)))
        for removed in decision.payload.removed:
            for name in removed.names:
                await self._remove(room_of(name), name)
        await self._write(list(heads_of(self.mind, record)))
        self._noted.update(fresh)
        while len(self._noted) > _NOTED:
            del self._noted[next(iter(self._noted))]
        parts = zip(record.parts, decision.epochs, strict=True)
        return [View(part.room, part.lane, part.n, epoch, record) for part, epoch in parts]

    async def help(self, view: View) -> None:
        """Write the rows of a lane's last record, unless its head says that they are there."""
        if view.record is None:
            return
        statement = await self.session.prepare(_HEAD)
        head = await self.session.execute(statement, (self.mind, view.room, view.lane), idempotent=True)
        if head and head[0].n >= view.n:
            return
        body = view.record.payload
        if view.record.pieces:
            statement = await self.session.prepare(_PIECES)
            rows = await self.session.execute(statement, (self.mind, view.record.word), idempotent=True)
            if len(rows) < view.record.pieces:  # deleted: somebody has written the rows and gone on
                return
            body = b"".join(row.body for row in rows)
        epochs = tuple(0 for _ in view.record.parts)
        await self.apply(Decision(view.record, decode_payload(body), epochs))

    async def epoch(self) -> int:
        """The mind's epoch, 0 before anybody led."""
        rows = await self.session.serial(await self.session.prepare(_MIND), (self.mind,))
        return int(rows[0].epoch) if rows else 0

    async def lead(self, token: int | None) -> int:
        """Begin an epoch, then close every lane to older ones and write what was left in it.

        Raises ``FencedOut`` where ``token`` is not larger than the current epoch, or a newer leader came meanwhile.
        """
        epoch = await self._take(token)
        names = await self.session.execute(await self.session.prepare(_NAMES), (self.mind,), idempotent=True)
        for room, lane in names:
            await self._close_to_older(room, lane, epoch)
        return epoch

    async def _take(self, token: int | None) -> int:
        read = await self.session.prepare(_MIND)
        word = self.rng.randbytes(12)
        for _ in range(_TRIES):
            rows = await self.session.serial(read, (self.mind,))
            current = int(rows[0].epoch) if rows else 0
            if rows and bytes(rows[0].leader) == word:
                return current
            epoch = current + 1 if token is None else token
            if epoch <= current:
                raise FencedOut(epoch, current)
            try:
                if rows:
                    statement = await self.session.prepare(_NEXT_LEADER)
                    await self.session.conditional(statement, (epoch, word, self.mind, current))
                else:
                    statement = await self.session.prepare(_FIRST_LEADER)
                    await self.session.conditional(statement, (self.mind, epoch, word))
            except OutcomeUnknown:
                continue  # the word tells
        raise StoreUnavailable("many processes want to lead at once", retry_after=0.2)

    async def _close_to_older(self, room: str, lane: str, epoch: int) -> None:
        for _ in range(_TRIES):
            (view,) = await self.look(room, [lane])
            if view.epoch == epoch:
                return
            if view.epoch > epoch:
                raise FencedOut(epoch, view.epoch)
            statement = await self.session.prepare(_RAISE)
            try:
                await self.session.conditional(statement, (epoch, self.mind, room, lane, view.epoch))
            except OutcomeUnknown:
                continue
        raise StoreUnavailable(f"lane {lane} could not be closed to older leaders", retry_after=0.2)

    async def _make(self, room: str, lane: str) -> None:
        """Named first, so that who leads from now on finds it; then made under the epoch that is there by now."""
        name = await self.session.prepare(_NAME)
        await self.session.execute(name, (self.mind, room, lane), idempotent=True)
        epoch = await self.epoch()
        try:
            await self.session.conditional(await self.session.prepare(_MAKE), (self.mind, room, lane, epoch, b""))
        except OutcomeUnknown:
            return  # look again

    async def _remove(self, room: str, lane: str) -> None:
        """Take a lane away, for good: nobody of its name comes again. Who leads hears of it no more first."""
        gone = await self.session.prepare(_NO_LANE_NAME)
        await self.session.execute(gone, (self.mind, room, lane), idempotent=True)
        await self.session.conditional(await self.session.prepare(_NO_LANE), (self.mind, room, lane))

    async def _put(self, views: Sequence[View], record: Record, fence: int) -> bool:
        """The conditional write. After a lost answer the very same record is put again: one of the two may stay."""
        body = encode_record(record)
        values: list[object] = []
        for view in views:
            place = (self.mind, view.room, view.lane, view.n, view.epoch)
            values += (view.n + 1, max(view.epoch, fence), body, *place)
        statement = await self.session.prepare(_DECIDE if len(views) == 1 else _DECIDE_BOTH)
        for attempt in range(self.session.settings.attempts):
            try:
                if (await self.session.conditional(statement, values)).applied:
                    return True
            except OutcomeUnknown:
                if attempt + 1 == self.session.settings.attempts:
                    raise
                continue
            if attempt == 0:
                return False
            return await self._is_there(views[0], record)  # refused: by its own twin, perhaps
        raise AssertionError

    async def _is_there(self, view: View, record: Record) -> bool:
        rows = await self.session.serial(await self.session.prepare(_LOOK), (self.mind, view.room))
        there = next((_view(view.room, row) for row in rows if row.lane == view.lane), None)
        return there is not None and there.record is not None and there.record.tells_of(record.word)

    async def _write(self, rows: Sequence[tuple[str, tuple[object, ...]]]) -> None:
        statements = {cql: await self.session.prepare(cql) for cql in {cql for cql, _ in rows}}
        await self.session.write_all([(statements[cql], values) for cql, values in rows])

    async def _write_apart(self, word: bytes, body: bytes) -> int:
        statement = await self.session.prepare(_PIECE)
        pieces = [(statement, (self.mind, word, n, piece)) for n, piece in enumerate(partitions.pieces(body))]
        await self.session.execute_all(pieces, idempotent=True, concurrency=8)
        return len(pieces)

    async def _drop(self, word: bytes) -> None:
        await self.session.execute(await self.session.prepare(_NO_PIECES), (self.mind, word), idempotent=True)


def _view(room: str, row: Row) -> View:
    return View(room, row.lane, row.n, row.epoch, decode_record(row.record) if row.n else None)


CORE_LANES = (TRACES, STREAM)
