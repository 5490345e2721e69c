"""Which idempotency keys are known, and where the perceptions stand that came with them.

A key has its *place*, a 64-bit hash of mind, source and key; the place says the position of the perception, which says
whether it really is that key (else the next place is looked at). The places are spread at random, so filing each
at once would rewrite a page of the table for nearly every key. They are therefore kept in memory first, and filed later
in the order of their places, a part with every commit: many of them share a page then. A stretch names its own
places, so what was not filed is found again after a crash.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b

NOWHERE = 0
"""The place of a perception without a key."""
_LARGEST = (1 << 63) - 1
_AT_ONCE = 500
_FILE = """INSERT INTO places VALUES {}
    ON CONFLICT DO UPDATE SET position = excluded.position WHERE excluded.position > position"""
_FILE_ONE, _FILE_MANY = _FILE.format("(?, ?)"), _FILE.format(",".join(["(?, ?)"] * _AT_ONCE))


def places_of(mind: str, sources: Iterable[str], keys: Iterable[str | None]) -> list[int]:
    """The place of each (source, key) of a mind; ``NOWHERE`` without a key."""
    person = blake2b(mind.encode(), digest_size=blake2b.PERSON_SIZE).digest()
    nowhere = bytes(8)
    parts = [
        nowhere
        if key is None
        else blake2b(f"{source}\0{key}".encode("utf-8", "surrogatepass"), digest_size=8, person=person).digest()
        for source, key in zip(sources, keys, strict=True)
    ]
    return array("q", b"".join(parts)).tolist()


def next_place(place: int) -> int:
    """Where to look when another key has the place."""
    return 1 if place in {-1, _LARGEST} else place + 1


class Places:
    """The known keys of one mind, as one process sees them.

    Every method that takes a connection runs within a transaction of the caller's and changes nothing in memory that a
    rollback would have to undo. A place whose perception is gone is passed over when searching, and may be taken again.
    """

    def __init__(self, first: int, last: int, memory: int) -> None:
        """``first`` and ``last``: the positions the mind may have. ``memory``: most keys that wait to be filed."""
        self._first, self._last, self._memory = first, last, memory
        self._seen: int | None = None
        """The last position that was learnt of."""
        self._fresh: dict[int, int] = {}
        """Places to positions: all that may not be filed yet."""
        self._sweep: list[int] = []
        """The places that are being filed, the last ones first: of everything up to ``_swept``."""
        self._swept = 0

    def catch_up(self, connection: sqlite3.Connection, filed: int, last: int) -> None:
        """Learn what stands after ``filed``, up to ``last``, written by other processes or before this one began."""
        if self._seen == last:
            return
        rows = connection.execute(
            "SELECT position, places FROM stretches WHERE position > ? AND position <= ? ORDER BY position",
            (filed if self._seen is None else max(filed, self._seen), self._last),
        )
        for position, places in rows:
            self._learn(position, array("q", places))
        self._seen = last

    def written(self, position: int, places: Sequence[int], last: int) -> None:
        """Learn that perceptions with ``places`` (or none) were committed from ``position`` on, up to ``last``."""
        self._learn(position, places)
        self._seen = last

    def _learn(self, position: int, places: Sequence[int]) -> None:
        self._fresh.update(zip(places, range(position, position + len(places)), strict=True))
        self._fresh.pop(NOWHERE, None)

    def find(self, connection: sqlite3.Connection, places: Sequence[int]) -> dict[int, int]:
        """Those of ``places`` that are taken, and by which position. One statement, during which others may run."""
        found: dict[int, int] = dict(
            connection.execute(
                "SELECT place, position FROM json_each(?) CROSS JOIN places ON place = value", (str(places),)
            )
        )
        fresh = self._fresh
        for place in places:
            if place in fresh and fresh[place] > found.get(place, 0):
                found[place] = fresh[place]
        return found

    def file(self, connection: sqlite3.Connection, most: int) -> int | None:
        """Write at most ``most`` places, once enough wait; the position up to which all are filed, when that grew."""
        if not self._sweep:
            if len(self._fresh) < self._memory or self._seen is None:
                return None
            self._sweep, self._swept = sorted(self._fresh, reverse=True), self._seen
        part = self._sweep[: -most - 1 : -1]
        self._write(connection, [(place, self._fresh[place]) for place in part if place in self._fresh])
        return self._swept if len(part) == len(self._sweep) else None

    def filed(self, most: int) -> None:
        """What the last ``file`` wrote was committed."""
        part = self._sweep[-most:]
        del self._sweep[-most:]
        for place in part:
            if self._fresh.get(place, _LARGEST) <= self._swept:
                del self._fresh[place]

    def _write(self, connection: sqlite3.Connection, rows: Sequence[tuple[int, int]]) -> None:
        whole = len(rows) - len(rows) % _AT_ONCE
        for start in range(0, whole, _AT_ONCE):  # few statements: each hands the interpreter over and takes it back
            connection.execute(_FILE_MANY, [value for row in rows[start : start + _AT_ONCE] for value in row])
        connection.executemany(_FILE_ONE, rows[whole:])

    def forget(self, connection: sqlite3.Connection, taken: dict[int, int]) -> None:
        """The perceptions at these places are gone. A place stays taken where the next is: it may lead on to that."""
        following = {next_place(place): place for place in taken}
        leading = {following[place] for place in self.find(connection, list(following))}
        connection.executemany("DELETE FROM places WHERE place = ? AND position = ?", taken.items())
        self._write(connection, [(place, taken[place]) for place in leading])

    def forgotten(self, taken: dict[int, int]) -> None:
        """What the last ``forget`` did was committed."""
        for place, position in taken.items():
            if self._fresh.get(place) == position:
                del self._fresh[place]
