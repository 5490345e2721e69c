"""Reading and writing the segments of a mind's perception log: which are committed, what stands in them."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from msgspec import DecodeError

from environment.errors import StoreBroken
from environment.latest import Latest
from environment.messages import PerceptionBatch
from environment.stores.cassandra.driver.session import CassandraTable, Prepared, Values
from environment.stores.cassandra.log import layout
from environment.stores.cassandra.log.header import Header
from environment.stores.cassandra.log.keys import KEY, NO_KEY, each_key
from environment.stores.codec import decode_perceptions, encode_perceptions
from environment.stores.segments import choose, cut, erased, mask

_INDEX = """SELECT position, count, received, modalities, parts FROM perception_stretches
    WHERE mind = ? AND chunk = ? AND position >= ?"""
_KEYS = "SELECT position, keys FROM perception_stretches WHERE mind = ? AND chunk = ?"
_KEYS_OF = "SELECT keys FROM perception_stretches WHERE mind = ? AND chunk = ? AND position = ?"
_BODY = "SELECT body FROM perception_stretches WHERE mind = ? AND chunk = ? AND position = ?"
_PART = "SELECT part, body FROM perception_payloads WHERE mind = ? AND position = ? AND part < ?"
_WRITTEN = """SELECT WRITETIME(count) AS written FROM perception_stretches
    WHERE mind = ? AND chunk = ? AND position = ?"""
_GONE = """SELECT position, count, received, modalities, parts, keys, WRITETIME(count) AS written
    FROM perception_stretches WHERE mind = ? AND chunk = ?"""
_WRITE = """INSERT INTO perception_stretches (mind, chunk, position, count, received, modalities, parts, keys, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"""
_WRITE_PART = "INSERT INTO perception_payloads (mind, position, part, body) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_ERASE = """UPDATE perception_stretches USING TIMESTAMP ? SET parts = 0, keys = ?, body = ?
    WHERE mind = ? AND chunk = ? AND position = ?"""
_DELETE = "DELETE FROM perception_stretches USING TIMESTAMP ? WHERE mind = ? AND chunk = ?"
_DELETE_PARTS = "DELETE FROM perception_payloads USING TIMESTAMP ? WHERE mind = ? AND position = ?"
_PAGE = 4
"""Rows with large values in one page."""
_DECODED = 8
_SMALL = 256 * 1024
"""Bodies up to this many bytes are kept decoded, ``_DECODED`` of them."""
_KEPT = 1 << 16
"""Segments whose places are remembered: about 10 MB."""

Request = tuple[Prepared, Values]


@dataclass(slots=True)
class _Index:
    """The committed segments of a chunk, from its beginning to where they were last looked at."""

    following: int
    segments: list[layout.Segment] = field(default_factory=list)


class SegmentTable(CassandraTable):
    """The segments of one mind.

    What is committed never changes, so its places are remembered, those used last the longest.
    Every method may raise ``StoreUnavailable``, and ``StoreBroken`` where something that was committed is missing.
    """

    def __post_init__(self) -> None:
        self._indexes: OrderedDict[int, _Index] = OrderedDict()
        self._decoded = Latest[int, PerceptionBatch](_DECODED)

    async def index(self, chunk: int, head: int) -> Sequence[layout.Segment]:
        """The segments of a chunk up to ``head``, a number that was committed; short where there is a gap."""
        index = self._indexes.get(chunk)
        if index is None:
            index = _Index(layout.first_of(chunk))
        end = min(layout.last_of(chunk), head)
        if index.following <= end:
            statement = await self._session.prepare(_INDEX)
            rows = await self._session.execute(statement, (self._mind, chunk, index.following), idempotent=True)
            found = list(layout.scan(rows, index.following, end))
            if found:  # a list of its own: another reader may have been at it meanwhile
                index = _Index(found[-1].end + 1, index.segments + found)
                self._remember(chunk, index)
        else:
            self._indexes.move_to_end(chunk)
        return index.segments

    def _remember(self, chunk: int, index: _Index) -> None:
        known = self._indexes.get(chunk)
        if known is None or known.following < index.following:
            self._indexes[chunk] = index
        self._indexes.move_to_end(chunk)
        while sum(len(each.segments) for each in self._indexes.values()) > _KEPT and len(self._indexes) > 1:
            self._indexes.popitem(last=False)

    async def bodies(self, segments: Sequence[layout.Segment]) -> list[PerceptionBatch | None]:
        """What stands in them; None where that is not there."""
        return list(await asyncio.gather(*map(self._body, segments)))

    async def _body(self, segment: layout.Segment) -> PerceptionBatch | None:
        known = self._decoded.get(segment.position)
        if known is not None:
            self._decoded.move_to_end(segment.position)
            return known
        if segment.void:
            return PerceptionBatch([], [], [])
        body = await self._parts(segment) if segment.parts else None
        body = body or await self._inline(segment)  # also where something was erased since it was looked at
        if body is None:
            return None
        try:
            batch = decode_perceptions(body)
        except DecodeError as error:
            raise self.broken(f"perception {segment.position} cannot be decoded: {error}") from error
        if len(batch) != segment.count:
            raise self.broken(
                f"of {segment.count} perceptions from number {segment.position} on {len(batch)} are there"
            )
        if len(body) <= _SMALL:
            self._decoded[segment.position] = batch
        return batch

    async def _inline(self, segment: layout.Segment) -> bytes | None:
        statement = await self._session.prepare(_BODY)
        values = (self._mind, layout.chunk_of(segment.position), segment.position)
        rows = await self._session.execute(statement, values, idempotent=True)
        return bytes(rows[0].body) or None if rows else None

    async def _parts(self, segment: layout.Segment) -> bytes | None:
        statement = await self._session.prepare(_PART)
        values = (self._mind, segment.position, segment.parts)
        rows = await self._session.execute(statement, values, idempotent=True, page_rows=_PAGE)
        if [row.part for row in rows] != list(range(segment.parts)):
            return None
        return b"".join(row.body for row in rows)

    async def keys(self, chunk: int) -> bytes:
        """The hashes of all keys in a chunk, also of what was not committed."""
        statement = await self._session.prepare(_KEYS)
        rows = await self._session.execute(statement, (self._mind, chunk), idempotent=True)
        return b"".join(row.keys for row in rows)

    async def keys_between(self, first: int, last: int, head: int) -> bytes:
        """The hashes of the keys of committed numbers, all in one chunk, one for each."""
        made: list[bytes] = []
        for segment in await self.index(layout.chunk_of(first), head):
            if segment.end < first or segment.position > last:
                continue
            start, stop = max(0, first - segment.position), min(segment.count, last + 1 - segment.position)
            own = await self._keys_of(segment)
            made.append(own[start * KEY : stop * KEY] if own else bytes(KEY * (stop - start)))
        return b"".join(made)

    async def key_at(self, seq: int, head: int) -> bytes:
        """The hash of the key of a committed number; empty where it has none, or is not there."""
        for segment in await self.index(layout.chunk_of(seq), head):
            if segment.position <= seq <= segment.end:
                at = (seq - segment.position) * KEY
                return (await self._keys_of(segment))[at : at + KEY]
        return b""

    async def _keys_of(self, segment: layout.Segment) -> bytes:
        statement = await self._session.prepare(_KEYS_OF)
        values = (self._mind, layout.chunk_of(segment.position), segment.position)
        rows = await self._session.execute(statement, values, idempotent=True)
        return bytes(rows[0].keys) if rows else b""

    async def was_written(self, position: int, at: int, header: Header) -> bool:
        """Whether the committed segment at ``position`` was written ``at`` that time, or else was forgotten."""
        if position <= header.low:
            return True
        statement = await self._session.prepare(_WRITTEN)
        rows = await self._session.execute(
            statement, (self._mind, layout.chunk_of(position), position), idempotent=True
        )
        return bool(rows) and rows[0].written == at

    async def gone(self, chunk: int) -> list[tuple[layout.Segment, bytes, int]]:
        """All committed segments of a whole chunk with the hashes of their keys and when they were written."""
        statement = await self._session.prepare(_GONE)
        rows = await self._session.execute(statement, (self._mind, chunk), idempotent=True)
        by_position = {row.position: row for row in rows}
        return [
            (each, by_position[each.position].keys, by_position[each.position].written)
            for each in layout.scan(rows, layout.first_of(chunk), layout.last_of(chunk))
        ]

    async def delete(self, chunk: int, segments: Sequence[layout.Segment]) -> None:
        """Delete a chunk and what belongs to its segments; it is never written again. May be repeated."""
        parts, rows = await self._session.prepare(_DELETE_PARTS), await self._session.prepare(_DELETE)
        large = [(parts, (layout.AFTER_ALL, self._mind, each.position)) for each in segments if each.parts]
        await self._session.execute_all(large, idempotent=True)
        await self._session.execute(rows, (layout.AFTER_ALL, self._mind, chunk), idempotent=True)
        self._indexes.pop(chunk, None)
        for each in segments:
            self._decoded.pop(each.position, None)

    async def erase(self, segment: layout.Segment, places: Sequence[int], written: int) -> tuple[int, bytes]:
        """Leave nothing at some places of a committed segment; how many stood there, and the hashes of their keys.

        One row changes, so all of it is done or nothing; may be repeated. Its body stands in it from now on.
        """
        (batch,), keys = await self.bodies([segment]), each_key(await self._keys_of(segment))
        if batch is None or segment.void:
            return 0, b""
        count, gone = sum(bool(batch.source[at]) for at in places), b"".join(keys[at] for at in places if keys)
        left = b"".join(NO_KEY if at in set(places) else key for at, key in enumerate(keys))
        place = self._mind, layout.chunk_of(segment.position), segment.position
        statement = await self._session.prepare(_ERASE)
        values = (written, left, encode_perceptions(erased(batch, places)), *place)
        await self._session.execute(statement, values, idempotent=True)
        if segment.parts:
            parts = await self._session.prepare(_DELETE_PARTS)
            await self._session.execute(parts, (layout.AFTER_ALL, self._mind, segment.position), idempotent=True)
        self._indexes.pop(layout.chunk_of(segment.position), None)
        self._decoded.pop(segment.position, None)
        return count, gone

    async def requests(
        self, first: int, batches: Sequence[tuple[PerceptionBatch, bytes | None]], keys: bytes, written: int
    ) -> list[Request]:
        """What writes batches as segments from the number ``first`` on, all of it at the time ``written``."""
        row, part = await self._session.prepare(_WRITE), await self._session.prepare(_WRITE_PART)
        made: list[Request] = []
        position = first
        for batch, body in batches:
            for piece, encoded in _pieces(position, batch, body):
                own = keys[(position - first) * KEY : (position - first + len(piece)) * KEY]
                parts = list(layout.parts_of(encoded)) if len(encoded) > layout.INLINE else []
                made += [(part, (self._mind, position, number, data, written)) for number, data in parts]
                place = (self._mind, layout.chunk_of(position), position)
                columns = (len(piece), max(piece.received), mask(piece), len(parts))
                hashes = own if any(own) else b""
                made.append((row, (*place, *columns, hashes, b"" if parts else encoded, written)))
                position += len(piece)
        return made

    async def voids(self, first: int, last: int, written: int) -> list[Request]:
        """What writes segments that nothing stands in, for numbers that are never given."""
        row = await self._session.prepare(_WRITE)
        made: list[Request] = []
        for start, stop in layout.split(first, last - first + 1):
            place = (self._mind, layout.chunk_of(first + start), first + start)
            made.append((row, (*place, stop - start, 0.0, 0, 0, b"", b"", written)))
        return made

    def broken(self, reason: str) -> StoreBroken:
        """The error where something is missing that was committed."""
        return StoreBroken(str(self._session.address), f"the perception log of {self._mind!r} is damaged: {reason}")


def _pieces(position: int, batch: PerceptionBatch, body: bytes | None) -> Iterator[tuple[PerceptionBatch, bytes]]:
    """A batch as segments, encoded: cut where a chunk ends, and where one would be long or large."""
    ranges = list(layout.split(position, len(batch)))
    if body is not None and len(ranges) == 1 and len(body) <= layout.LARGEST_BODY:
        yield batch, body
        return
    for start, stop in ranges:
        part = _range(batch, start, stop)
        for begin, end in cut(part):
            yield from _bounded(_range(part, begin, end))


def _bounded(batch: PerceptionBatch) -> Iterator[tuple[PerceptionBatch, bytes]]:
    body = encode_perceptions(batch)
    if len(body) <= layout.LARGEST_BODY or len(batch) == 1:
        yield batch, body
        return
    middle = len(batch) // 2
    yield from _bounded(_range(batch, 0, middle))
    yield from _bounded(_range(batch, middle, len(batch)))


def _range(batch: PerceptionBatch, start: int, stop: int) -> PerceptionBatch:
    return batch if stop - start == len(batch) else choose(batch, itemgetter(slice(start, stop)))
