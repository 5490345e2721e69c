"""The perception log in SQLite: segments of perceptions that were written together, one row each."""

import math
import sqlite3
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import TypeAlias

from environment.errors import FencedOut
from environment.identity import perception_seq
from environment.messages import Instant, Modality, NewPerception, Perception, PerceptionBatch, Receipt, Receipts
from environment.ports import PreparedBatch
from environment.stores.codec import decode_perceptions, encode_perceptions
from environment.stores.segments import (
    BIT,
    choose,
    erased,
    join,
    mask,
    perceptions,
    receipts,
)
from environment.stores.sqlite.connection_executor import ConnectionExecutor, fit, transaction
from environment.stores.sqlite.idempotency import NOWHERE, IdempotencyIndex, next_place, places_of
from environment.stores.sqlite.prepared import Prepared, insert_segments, packed_places

_SEQ_BITS = 48
_LAST_SEQ = (1 << _SEQ_BITS) - 1
_FILED_AT_LEAST = 1000
_OLD = """SELECT position, count FROM segments WHERE received < ? AND position > ? AND position + count <= ?
    ORDER BY received, position"""
_MISTIMED = f"""SELECT position, count FROM segments WHERE received > ? AND received >= ? AND +position > ?
    AND +position < (SELECT max(position) FROM ({_OLD})) ORDER BY received, position"""  # noqa: S608 - both are ours
"""Received after a time that cannot be, with something behind it that is old; the ``+`` keeps to the index by age."""
PlacesOf: TypeAlias = Callable[[str, Sequence[str], Sequence[str | None]], list[int]]


@dataclass(frozen=True, slots=True)
class _Mind:
    """What a mind's row says."""

    number: int
    head: int
    filed: int
    epoch: int

    @property
    def base(self) -> int:
        """The position before its first."""
        return self.number << _SEQ_BITS


class SqlitePerceptions:
    """``PerceptionLog`` in ``perceptions.db``.

    Numbers and ids follow from the order of writing: the same in every run of a replay. A key is known for as long as
    its perception is kept. At least ``memory`` keys wait in memory before they are filed (16 bytes each).
    """

    ahead = 1

    def __init__(
        self, executor: ConnectionExecutor, mind: str, *, memory: int = 1_048_576, hashing: PlacesOf = places_of
    ) -> None:
        self._executor = executor
        self._mind = mind
        self._memory = memory
        self._hashing = hashing
        self._places: IdempotencyIndex | None = None
        self._last: tuple[int, PerceptionBatch] | None = None
        """The segment that was read last; one that is there never changes, and no position is used twice."""
        self._epoch = 0
        """The epoch that this opening writes under; 0 before it writes."""
        self._led = False
        """Whether ``lead`` said so: then it is never taken back by itself."""

    async def append(self, batch: Sequence[NewPerception]) -> list[Receipt]:
        (receipts,) = await self.append_batches([self.prepare(PerceptionBatch.of(batch))])
        return list(receipts)

    def prepare(self, batch: PerceptionBatch) -> Prepared:
        keyed = batch.key.count(None) < len(batch.key)
        return Prepared(batch, self._hashing(self._mind, batch.source, batch.key) if keyed else [])

    async def append_batches(self, batches: Sequence[PreparedBatch]) -> list[Receipts]:
        ready = [each if isinstance(each, Prepared) else self.prepare(each.perceptions) for each in batches]
        if not any(map(len, ready)):
            return [Receipts(0, 0) for _ in ready]
        return await self._executor.write(lambda connection: self._append(connection, ready))

    def _append(self, connection: sqlite3.Connection, batches: Sequence[Prepared]) -> list[Receipts]:
        some, known = [each for each in batches if len(each)], dict[int, int]()
        count = sum(map(len, some))
        places: list[int] = []
        if any(each.places for each in some):
            places = list(chain.from_iterable(each.places or [NOWHERE] * len(each) for each in some))
        most = max(_FILED_AT_LEAST, count + count // 4)  # so that a sweep ends before the next is due
        with transaction(connection):
            mind = self._row(connection) or self._enter(connection)
            epoch = self._reign(mind)
            index, end = self._index(mind), mind.base + mind.head
            index.catch_up(connection, mind.base + mind.filed, end)
            if places:
                known = self._settle(connection, mind, some, places)
            if known:
                chosen = [at not in known for at in range(count)]
                new = choose(join([each.perceptions for each in some]), lambda column: list(compress(column, chosen)))
                places = list(compress(places, chosen))
                some = [Prepared(new, places)] if len(new) else []
            insert_segments(connection, end + 1, some, places)
            filed = index.file(connection, most)
            connection.execute(
                "UPDATE minds SET head = head + ?1, kept = kept + ?1, filed = max(filed, ?2), epoch = ?3"
                " WHERE number = ?4",
                (count - len(known), filed - mind.base if filed else 0, epoch, mind.number),
            )
        self._epoch = epoch
        index.filed(most)
        index.written(end + 1, places, end + count - len(known))
        return receipts(batches, mind.head + 1, known)

    async def lead(self, token: int | None = None) -> int:
        def work(connection: sqlite3.Connection) -> int:
            with transaction(connection):
                mind = self._row(connection) or self._enter(connection)
                epoch = mind.epoch + 1 if token is None else token
                if epoch <= mind.epoch:
                    raise FencedOut(epoch, mind.epoch)
                connection.execute("UPDATE minds SET epoch = ? WHERE number = ?", (epoch, mind.number))
            self._epoch, self._led = epoch, True
            return epoch

        return await self._executor.write(work)

    def resume(self, epoch: int) -> None:
        """Go on under an epoch that ``lead`` began, through another opening of this mind's log that is gone."""
        self._epoch, self._led = epoch, True

    async def skip(self, to: int) -> None:
        """As ``Moving.skip``."""

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                mind = self._row(connection) or self._enter(connection)
                epoch = self._reign(mind)
                connection.execute(
                    "UPDATE minds SET head = max(head, ?), epoch = ? WHERE number = ?",
                    (min(fit(to), _LAST_SEQ), epoch, mind.number),
                )
            self._epoch = epoch

        await self._executor.write(work)

    def _reign(self, mind: _Mind) -> int:
        """The epoch to write under now. Raises ``FencedOut`` where another leads since this opening did."""
        if self._epoch and mind.epoch == self._epoch:
            return mind.epoch
        if self._led:
            raise FencedOut(self._epoch, mind.epoch)
        return mind.epoch + 1

    def _settle(
        self, connection: sqlite3.Connection, mind: _Mind, batches: Sequence[Prepared], places: list[int]
    ) -> dict[int, int]:
        """Which of the batches' perceptions are known, by number; ``places`` become where the others' keys are free."""
        index = self._index(mind)
        taken, distinct = index.find(connection, places), len(set(places))
        if not taken and distinct in {len(places), len(places) - places.count(NOWHERE) + 1}:
            return {}
        whole = join([each.perceptions for each in batches])
        known: dict[int, int] = {}
        ours: dict[int, tuple[int, str, str | None]] = {}
        following = mind.head
        for at, home in enumerate(places):
            name = whole.source[at], whole.key[at]
            place, free = home, NOWHERE
            while place != NOWHERE:
                if place in ours:
                    holder: tuple[int, str, str | None] | None = ours[place]
                elif place in taken or place != home:
                    position = taken.get(place) or index.find(connection, [place]).get(place)
                    if position is None:
                        break
                    holder = self._holder(connection, mind, position)
                else:
                    break
                if holder is None:
                    free = free or place
                elif holder[1:] == name:
                    known[at] = holder[0]
                    break
                place = next_place(place)
            if at not in known:
                following += 1
                if place != NOWHERE:
                    places[at] = free or place
                    ours[places[at]] = (following, *name)
        return known

    def _holder(self, connection: sqlite3.Connection, mind: _Mind, position: int) -> tuple[int, str, str | None] | None:
        """Number, source and key of what stands at a position; None where it is gone."""
        seq = position - mind.base
        if not 0 < seq <= _LAST_SEQ:
            return position, "", None  # another mind's: no key of ours, and not ours to take
        found = self._segment(connection, mind, seq)
        return (seq, found[1].source[seq - found[0]], found[1].key[seq - found[0]]) if found else None

    def _row(self, connection: sqlite3.Connection) -> _Mind | None:
        row = connection.execute(
            "SELECT number, head, filed, epoch FROM minds WHERE mind = ?", (self._mind,)
        ).fetchone()
        return _Mind(*row) if row else None

    def _enter(self, connection: sqlite3.Connection) -> _Mind:
        cursor = connection.execute("INSERT INTO minds (mind, head, kept, filed) VALUES (?, 0, 0, 0)", (self._mind,))
        return _Mind(cursor.lastrowid or 1, 0, 0, 0)

    def _index(self, mind: _Mind) -> IdempotencyIndex:
        if self._places is None:
            self._places = IdempotencyIndex(mind.base + 1, mind.base + _LAST_SEQ, self._memory)
        return self._places

    def _segment(self, connection: sqlite3.Connection, mind: _Mind, seq: int) -> tuple[int, PerceptionBatch] | None:
        """The segment that holds a number, and the number of its first."""
        row = connection.execute(
            "SELECT position, count FROM segments WHERE position BETWEEN ? AND ? ORDER BY position DESC LIMIT 1",
            (mind.base + 1, mind.base + seq),
        ).fetchone()
        if row is None or row[0] + row[1] <= mind.base + seq:
            return None
        return row[0] - mind.base, self._body(connection, row[0])

    def _body(self, connection: sqlite3.Connection, position: int) -> PerceptionBatch:
        last = self._last
        if last is not None and last[0] == position:
            return last[1]
        (body,) = connection.execute("SELECT body FROM segments WHERE position = ?", (position,)).fetchone()
        batch = decode_perceptions(body)
        self._last = position, batch
        return batch

    async def read(self, after: int, limit: int, modality: Modality | None = None) -> list[Perception]:
        after, limit = min(fit(after), _LAST_SEQ), fit(limit)

        def work(connection: sqlite3.Connection) -> list[Perception]:
            mind = self._row(connection)
            found: list[Perception] = []
            if mind is None or after >= mind.head or not limit:
                return found
            bit = "" if modality is None else f"AND modalities & {BIT[modality]:d}"  # as the index says it
            rows = connection.execute(
                f"SELECT position FROM segments WHERE position >= coalesce((SELECT max(position) FROM segments"  # noqa: S608 - a number
                f" WHERE position BETWEEN ?1 AND ?2), ?1) AND position <= ?3 {bit} ORDER BY position",
                (mind.base + 1, mind.base + after + 1, mind.base + _LAST_SEQ),
            )
            for (position,) in rows:
                first, batch = position - mind.base, self._body(connection, position)
                rest = range(max(0, after + 1 - first), len(batch))
                if modality is not None and mask(batch) != BIT[modality]:
                    all_of = batch.modalities
                    places: Sequence[int] = [at for at in rest if all_of[at] is modality]
                else:
                    places = rest
                found += perceptions(batch, first, places, limit - len(found))
                if len(found) >= limit:
                    break
            return found

        return await self._executor.read(work)

    async def get(self, ids: Sequence[str]) -> dict[str, Perception]:
        wanted = sorted({seq for seq in map(perception_seq, ids) if seq is not None and 0 < seq <= _LAST_SEQ})

        def work(connection: sqlite3.Connection) -> dict[str, Perception]:
            found: dict[str, Perception] = {}
            mind = self._row(connection) if wanted else None
            for seq in wanted if mind else ():
                segment = self._segment(connection, mind, seq) if mind else None
                if segment is not None:
                    first, batch = segment
                    found.update((one.id, one) for one in perceptions(batch, first, [seq - first]))
            return found

        return await self._executor.read(work)

    async def head(self) -> int:
        return await self._count("head")

    async def epoch(self) -> int:
        """The last epoch of writing that was begun; 0 before the first."""
        return await self._count("epoch")

    async def forget(
        self, received_before: Instant, up_to: int, limit: int = 10_000, believed: Instant = math.inf
    ) -> int:
        return await self._executor.write(
            lambda connection: self._forget(connection, received_before, up_to, limit, believed)
        )

    def _forget(
        self, connection: sqlite3.Connection, received_before: Instant, up_to: int, limit: int, believed: Instant
    ) -> int:
        going: list[int] = []
        taken: dict[int, int] = {}
        gone = 0
        with transaction(connection):
            found = self._indexed(connection)
            if found is None:
                return 0
            mind, index = found
            old = received_before, mind.base, mind.base + min(fit(up_to), _LAST_SEQ) + 1
            for rows in (
                connection.execute(_MISTIMED, (believed, received_before, mind.base, *old)),
                connection.execute(_OLD, old),
            ):
                for position, count in rows:
                    if gone >= limit:
                        break
                    going.append(position)
                    gone += count
                rows.close()
            for position in going:
                query = "SELECT places FROM segments WHERE position = ?"
                ((places,),) = connection.execute(query, (position,)).fetchall()
                taken.update(zip(array("q", places), range(position, _LAST_SEQ << 15), strict=False))
            taken.pop(NOWHERE, None)
            index.forget(connection, taken)
            connection.executemany("DELETE FROM segments WHERE position = ?", [(position,) for position in going])
            connection.execute("UPDATE minds SET kept = kept - ? WHERE number = ?", (gone, mind.number))
        index.forgotten(taken)
        return gone

    def _indexed(self, connection: sqlite3.Connection) -> tuple[_Mind, IdempotencyIndex] | None:
        """The mind, and its index up to its head, for who takes out of the log; None where there is no mind yet."""
        mind = self._row(connection)
        if mind is None:
            return None
        if self._led:
            self._reign(mind)
        index = self._index(mind)
        index.catch_up(connection, mind.base + mind.filed, mind.base + mind.head)
        return mind, index

    async def erase(self, seqs: Sequence[int]) -> int:
        gone = await self._executor.write(lambda connection: self._erase(connection, sorted(set(seqs))))
        self._last = None  # it has changed after all
        return gone

    def _erase(self, connection: sqlite3.Connection, seqs: Sequence[int]) -> int:
        find = "SELECT position, count, places, body FROM segments WHERE position <= ? ORDER BY position DESC LIMIT 1"
        taken: dict[int, int] = {}
        gone = 0
        with transaction(connection):
            found = self._indexed(connection)
            if found is None:
                return 0
            mind, index = found
            going: dict[int, tuple[bytes, bytes, list[int]]] = {}
            for position in (mind.base + seq for seq in seqs if 0 < seq <= mind.head):
                row = connection.execute(find, (position,)).fetchone()
                if row is not None and mind.base < row[0] and position < row[0] + row[1]:
                    going.setdefault(row[0], (row[2], row[3], []))[2].append(position - row[0])
            for first, (places, body, offsets) in going.items():
                batch, kept = decode_perceptions(body), array("q", places)
                gone += sum(bool(batch.source[at]) for at in offsets)
                for at in offsets if kept else ():
                    taken[kept[at]] = first + at
                    kept[at] = NOWHERE
                changed = packed_places(kept), encode_perceptions(erased(batch, offsets)), first
                connection.execute("UPDATE segments SET places = ?, body = ? WHERE position = ?", changed)
            taken.pop(NOWHERE, None)
            index.forget(connection, taken)
        index.forgotten(taken)
        return gone

    async def rows(self) -> int:
        """How many perceptions are kept."""
        return await self._count("kept")

    async def _count(self, column: str) -> int:
        statement = f"SELECT {column} FROM minds WHERE mind = ?"  # noqa: S608 - the names are ours
        return await self._executor.row(lambda row: int(row[0]), statement, (self._mind,)) or 0
