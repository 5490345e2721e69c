"""Which life of a writer writes: what was claimed, and who comes too late."""

import sqlite3
from collections.abc import Sequence

from environment.errors import FencedOut, Outlived
from environment.stores.sqlite.connection_executor import transaction
from environment.stores.sqlite.schema import set_counter

EPOCH = "epoch"
"""The counter of epochs in ``mind.db``."""
_OF = "life of "
"""What the counters of lives are called by. They hold the epoch as well: in a later one lives count anew."""
_LIVES = 1 << 32
"""Lives in an epoch, at most."""
_LOOK = "SELECT name, value FROM counters WHERE mind = ? AND name IN (?, ?)"


class Claim:
    """What one opening claimed for the writer that it was told."""

    def __init__(self, mind: str, writer: str) -> None:
        self._mind = mind
        self._writer = writer
        self._name = _OF + writer
        self._claimed = 0

    def make(self, connection: sqlite3.Connection, fence: int, life: int) -> None:
        """Claim. Raises ``FencedOut`` or ``Outlived``."""
        self._claimed = fence * _LIVES + life
        with transaction(connection):
            self.check(connection, fence)
            set_counter(connection, self._mind, self._name, self._claimed)

    def check(self, connection: sqlite3.Connection, fence: int) -> None:
        """Whether who writes under that epoch may, inside the transaction. Raises ``FencedOut`` or ``Outlived``."""
        found = dict(connection.execute(_LOOK, (self._mind, EPOCH, self._name)).fetchall())
        current, there = found.get(EPOCH, 0), found.get(self._name, 0)
        if fence < current:
            raise FencedOut(fence, current)
        if self._claimed and there > self._claimed:
            raise Outlived(self._writer, self._claimed % _LIVES, there % _LIVES)


def remove_claims(connection: sqlite3.Connection, mind: str, writers: Sequence[str]) -> None:
    """Forget what was claimed for writers that never write again, inside a transaction."""
    connection.executemany(
        "DELETE FROM counters WHERE mind = ? AND name = ?", [(mind, _OF + writer) for writer in writers]
    )
