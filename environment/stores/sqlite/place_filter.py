"""Which places are surely not in the file, so that a new key, as most are, is not looked for there."""

from __future__ import annotations

import sqlite3

import numpy as np
from numpy.typing import NDArray

from environment.stores.bloom import Bloom

Numbers = NDArray[np.int64]

_LEAST = -(1 << 63)
_AT_ONCE = 8192
_MOST = 32
"""Arrays of the filter, 64 MiB in all; where more are filed, every key is looked for."""
_NEXT = "SELECT place FROM places WHERE place > ? ORDER BY place LIMIT ?"


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
