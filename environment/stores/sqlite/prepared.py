"""Batches on their way into the perception log, also from one process into another."""

import sqlite3
from array import array
from collections.abc import Sequence
from operator import itemgetter

from environment.messages import Instant, PerceptionBatch
from environment.stores.codec import decode_perceptions, encode_perceptions
from environment.stores.segments import ALONE, choose, cut, mask, parts
from environment.stores.sqlite.connection_executor import insert


class Prepared:
    """A batch with the places of its keys and, where it makes a segment of its own, what the row of that says.

    It travels as bytes, of which the other process makes a batch again only where it has to look into it.
    """

    __slots__ = ("_batch", "_encoded", "_whole", "count", "latest", "modalities", "places")

    def __init__(self, batch: PerceptionBatch, places: list[int]) -> None:
        """``places``: one for each perception, or none at all where no perception has a key."""
        self.places = places
        self.count = len(batch)
        self._batch: PerceptionBatch | None = batch
        self._whole = self.count >= ALONE and next(cut(batch)) == (0, self.count)
        self._encoded = encode_perceptions(batch) if self._whole else None
        self.latest: Instant = max(batch.received, default=0.0)
        """When the last of them was received."""
        self.modalities = mask(batch) if self.count else 0
        """The modalities in it, a bit each."""

    def __len__(self) -> int:
        return self.count

    @property
    def perceptions(self) -> PerceptionBatch:
        """The batch."""
        if self._batch is None:
            self._batch = decode_perceptions(self._encoded or b"")
        return self._batch

    @property
    def body(self) -> bytes | None:
        """The body of a segment of its own; None where it is joined with its neighbours, or cut."""
        return self._encoded if self._whole else None

    def __getstate__(self) -> tuple[object, ...]:
        encoded = self._encoded or encode_perceptions(self.perceptions)
        return self.places, self.count, self._whole, encoded, self.latest, self.modalities

    def __setstate__(self, state: tuple[list[int], int, bool, bytes, Instant, int]) -> None:
        self.places, self.count, self._whole, self._encoded, self.latest, self.modalities = state
        self._batch = None


def insert_segments(
    connection: sqlite3.Connection, first: int, batches: Sequence[Prepared], places: Sequence[int]
) -> None:
    """Write batches as segments from the position ``first`` on."""
    rows: list[tuple[object, ...]] = []
    begin = 0
    for each in parts(batches):
        if isinstance(each, Prepared) and each.body is not None:
            said = each.latest, each.modalities, packed_places(places[begin : begin + each.count]), each.body
            rows.append((first + begin, each.count, *said))
            begin += each.count
            continue
        batch = each.perceptions
        for start, stop in cut(batch):
            part = batch if stop - start == len(batch) else choose(batch, itemgetter(slice(start, stop)))
            own = packed_places(places[begin + start : begin + stop])
            said = max(part.received), mask(part), own, encode_perceptions(part)
            rows.append((first + begin + start, len(part), *said))
        begin += len(batch)
    insert(connection, "INSERT INTO segments VALUES {}", rows)


def packed_places(places: Sequence[int]) -> bytes:
    """As a segment holds its places; empty where there is none."""
    return array("q", places).tobytes() if any(places) else b""
