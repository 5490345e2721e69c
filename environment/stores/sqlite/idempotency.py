"""Which idempotency keys are known, and where the perceptions stand that came with them.

A key has its *place*, a 64-bit hash of mind, source and key; the place says the position of the perception, which says
whether it really is that key (else the next place is looked at). The places are spread at random, so filing each
at once would rewrite a page of the table for nearly every key. They are therefore kept in memory first, and filed later
in the order of their places, a part with every commit: many of them share a page then. A segment names its own
places, so what was not filed is found again after a crash.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from environment.stores.bloom import Bloom
from environment.stores.sqlite.connection_executor import insert

NOWHERE = 0
"""The place of a perception without a key."""
_LARGEST = (1 << 63) - 1
_YOUNG = 4096
_FIND = "SELECT place, position FROM json_each(?) CROSS JOIN places ON place = value"
_FILE = """INSERT INTO places VALUES {}
    ON CONFLICT DO UPDATE SET position = excluded.position WHERE excluded.position > position"""
Numbers = NDArray[np.int64]
_LEAST = -(1 << 63)
_AT_ONCE = 8192
_MOST = 32
"""Arrays of the filter, 64 MiB in all; where more are filed, every key is looked for."""
_NEXT = "SELECT place FROM places WHERE place > ? ORDER BY place LIMIT ?"


def places_of(mind: str, sources: Sequence[str], keys: Sequence[str | None]) -> list[int]:
    """The place of each (source, key) of a mind; ``NOWHERE`` without a key."""
    begun = blake2b(digest_size=8, person=blake2b(mind.encode(), digest_size=blake2b.PERSON_SIZE).digest())
    digests: list[bytes] = []
    for source, key in zip(sources, keys, strict=True):
        if key is None:
            digests.append(bytes(8))
            continue
        digest = begun.copy()  # half the price of beginning anew
        name = f"{source}\0{key}"
        digest.update(name.encode() if name.isascii() else name.encode("utf-8", "surrogatepass"))
        digests.append(digest.digest())
    places: list[int] = np.frombuffer(b"".join(digests), np.int64).tolist()
    return places


def next_place(place: int) -> int:
    """Where to look when another key has the place."""
    return 1 if place in {-1, _LARGEST} else place + 1


def _none() -> Numbers:
    return np.zeros(0, np.int64)


@dataclass(slots=True)
class _Sorted:
    """IdempotencyIndex and the positions they say, in the order of the places: 16 bytes each."""

    places: Numbers = field(default_factory=_none)
    positions: Numbers = field(default_factory=_none)

    def __len__(self) -> int:
        return len(self.places)

    @classmethod
    def of(cls, places: Numbers, positions: Numbers) -> _Sorted:
        """Sorts; of two that are the same place, the later has the last word."""
        order = np.argsort(places, kind="stable")
        places, positions = places[order], positions[order]
        last = np.append(places[1:] != places[:-1], True)
        return cls(places[last], positions[last])

    def with_newer(self, newer: _Sorted) -> _Sorted:
        """These and ``newer``, which have the last word."""
        return _Sorted.of(
            np.concatenate((self.places, newer.places)), np.concatenate((self.positions, newer.positions))
        )

    def without(self, gone: Mapping[int, int]) -> _Sorted:
        """These but for those of ``gone`` that say the same position."""
        stays = ~np.isin(self.positions, np.fromiter(gone.values(), np.int64, len(gone)))
        return _Sorted(self.places[stays], self.positions[stays])

    def find(self, wanted: Numbers) -> dict[int, int]:
        """Those of ``wanted``, in order, that are here, and what they say."""
        if not len(self):
            return {}
        at = np.searchsorted(self.places, wanted)
        here = self.places.take(at, mode="clip") == wanted
        return dict(zip(wanted[here].tolist(), self.positions[at[here]].tolist(), strict=True)) if here.any() else {}

    def head(self, most: int) -> _Sorted:
        """The first of them."""
        return _Sorted(self.places[:most], self.positions[:most])

    def tail(self, most: int) -> _Sorted:
        """All but ``head``."""
        return _Sorted(self.places[most:], self.positions[most:])


class IdempotencyIndex:
    """The known keys of one mind, as one process sees them.

    Every method that takes a connection runs within a transaction of the caller's and changes nothing in memory that a
    rollback would have to undo. A place whose perception is gone is passed over when searching, and may be taken again.
    """

    def __init__(self, first: int, last: int, memory: int) -> None:
        """``first`` and ``last``: the positions the mind may have. ``memory``: most keys that wait to be filed."""
        self._first, self._last, self._memory = first, last, memory
        self._seen: int | None = None
        """The last position that was learnt of."""
        self._young: dict[int, int] = {}
        """The newest places, with their positions."""
        self._waiting: list[_Sorted] = []
        """Those before them, the oldest first, each run at least twice as long as the next."""
        self._sweep = _Sorted()
        """Those before these, which are being filed, in order: of everything up to ``_swept``."""
        self._swept = 0
        self._filed = PlaceFilter()

    def catch_up(self, connection: sqlite3.Connection, filed: int, last: int) -> None:
        """Learn what stands after ``filed``, up to ``last``, written by other processes or before this one began."""
        if self._seen == last:
            self._filed.read_on(connection)
            return
        self._filed = PlaceFilter()  # who wrote may have filed as well
        rows = connection.execute(
            "SELECT position, places FROM segments WHERE position > ? AND position <= ? ORDER BY position",
            (filed if self._seen is None else max(filed, self._seen), self._last),
        )
        for position, places in rows:
            self._learn(position, np.frombuffer(places, np.int64).tolist())
        self._seen = last

    def written(self, position: int, places: Sequence[int], last: int) -> None:
        """Learn that perceptions with ``places`` (or none) were committed from ``position`` on, up to ``last``."""
        self._learn(position, places)
        self._seen = last

    def _learn(self, position: int, places: Sequence[int]) -> None:
        self._young.update(zip(places, range(position, position + len(places)), strict=True))
        self._young.pop(NOWHERE, None)
        if len(self._young) >= _YOUNG:
            self._age()

    def _age(self) -> None:
        """Sort the newest in among the others: each is moved a few times in all."""
        young, runs = self._young, self._waiting
        if not young:
            return
        count = len(young)
        run = _Sorted.of(np.fromiter(young.keys(), np.int64, count), np.fromiter(young.values(), np.int64, count))
        while runs and len(runs[-1]) < 2 * len(run):
            run = runs.pop().with_newer(run)
        runs.append(run)
        self._young = {}

    def _unfiled(self) -> int:
        return len(self._young) + sum(map(len, self._waiting))

    def find(self, connection: sqlite3.Connection, places: Sequence[int]) -> dict[int, int]:
        """Those of ``places`` that are taken, and by which position."""
        wanted = np.sort(np.array(places, np.int64))
        found: dict[int, int] = {}
        asked = self._filed.among(wanted)
        if len(asked):
            found.update(connection.execute(_FIND, (str(asked.tolist()),)))
        newer = [run.find(wanted) for run in (self._sweep, *self._waiting)]
        if not self._young.keys().isdisjoint(places):
            newer.append({place: self._young[place] for place in places if place in self._young})
        for each in newer:
            found.update((place, position) for place, position in each.items() if position > found.get(place, 0))
        return found

    def file(self, connection: sqlite3.Connection, most: int) -> int | None:
        """Write at most ``most`` places, once enough wait; the position up to which all are filed, when that grew."""
        if not len(self._sweep):
            if self._unfiled() < self._memory or self._seen is None:
                return None
            self._age()
            for run in self._waiting:
                self._sweep = self._sweep.with_newer(run)
            self._waiting, self._swept = [], self._seen
        part = self._sweep.head(most)
        self._write(connection, np.column_stack((part.places, part.positions)))
        return self._swept if len(part) == len(self._sweep) else None

    def filed(self, most: int) -> None:
        """What the last ``file`` wrote was committed."""
        self._filed.add(self._sweep.head(most).places)
        self._sweep = self._sweep.tail(most)

    def _write(self, connection: sqlite3.Connection, rows: Numbers) -> None:
        insert(connection, _FILE, rows.tolist())

    def forget(self, connection: sqlite3.Connection, taken: Mapping[int, int]) -> None:
        """The perceptions at these places are gone. A place stays taken where the next is: it may lead on to that."""
        following = {next_place(place): place for place in taken}
        leading = [following[place] for place in self.find(connection, list(following))]
        connection.executemany("DELETE FROM places WHERE place = ? AND position = ?", taken.items())
        rows = np.array([(place, taken[place]) for place in leading], np.int64).reshape(-1, 2)
        self._write(connection, rows)
        self._filed.add(rows[:, 0])

    def forgotten(self, taken: Mapping[int, int]) -> None:
        """What the last ``forget`` did was committed."""
        for place, position in taken.items():
            if self._young.get(place) == position:
                del self._young[place]
        self._waiting, self._sweep = [run.without(taken) for run in self._waiting], self._sweep.without(taken)


class PlaceFilter:
    """The places in one file, as far as this process has read or written them.

    The file is read in parts, one with each ``read_on``, so that nobody waits for all of it; until it was read to its
    end every place may be there.
    """

    def __init__(self) -> None:
        self._filter = Bloom()
        self._read: int | None = _LEAST
        """The place up to which the file was read; None once that is all of it."""

    def read_on(self, connection: sqlite3.Connection) -> None:
        """Read the next part of the file, within a transaction."""
        if self._read is None or len(self._filter) > _MOST:
            return
        rows = connection.execute(_NEXT, (self._read, _AT_ONCE)).fetchall()
        if rows:
            self.add(np.array(rows, np.int64)[:, 0])
        self._read = rows[-1][0] if len(rows) == _AT_ONCE else None

    def add(self, places: Numbers) -> None:
        """These may be in the file from now on."""
        if len(places) and len(self._filter) <= _MOST:
            self._filter.add(places)

    def among(self, places: Numbers) -> Numbers:
        """Those that may be in the file."""
        if self._read is not None or len(self._filter) > _MOST:
            return places
        return places[self._filter.maybe(places)] if len(self._filter) else places[:0]
