"""Running statistics in bounded memory, with which every stream calibrates itself."""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable

import msgspec

from environment.messages import Instant


class RunningRank:
    """Percentile rank of a value among the last ``window`` values, itself included; ties share the middle."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._sorted: list[float] = []
        self._order: deque[float] = deque()

    def __len__(self) -> int:
        return len(self._order)

    def rank(self, value: float) -> float:
        """Where a value stands, 0..1, learning nothing; .5 while nothing is known."""
        if not self._sorted:
            return 0.5
        low = bisect_left(self._sorted, value)
        return (low + bisect_right(self._sorted, value, low)) / (2 * len(self._sorted))

    def update(self, value: float) -> float:
        """Take the value in and rank it."""
        values = self._sorted
        if len(self._order) == self._window:
            values.pop(bisect_left(values, self._order.popleft()))
        high = bisect_right(values, value)
        low = bisect_left(values, value, 0, high)
        values.insert(high, value)
        self._order.append(value)
        return (low + high + 1) / (2 * len(values))

    def surely(self, value: float, doubt: int) -> float:
        """As ``update``, but near .5 until clearly more than ``doubt`` values have been seen."""
        rank = self.update(value)
        n = len(self._order)
        return (rank * n + 0.5 * doubt) / (n + doubt)

    def dump(self) -> list[float]:
        """For a snapshot."""
        return list(self._order)

    def load(self, values: Iterable[float]) -> None:
        """From a snapshot."""
        self._order = deque(values, self._window)
        self._sorted = sorted(self._order)


_ROOM = 64
"""Bytes of a string, on average: two words have about 14."""


class FadingCounts:
    """Counts of strings in bounded memory: when full all are halved and those below one are forgotten.

    Full is with ``capacity`` strings, or with 64 bytes for each, whoever makes the words up.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._counts: dict[str, int] = {}
        self._bytes = 0
        self.total = 0

    def get(self, key: str) -> int:
        """How often the string was met lately."""
        return self._counts.get(key, 0)

    def get_all(self, keys: Iterable[str]) -> list[int]:
        """``get`` of each."""
        get = self._counts.get
        return [get(key, 0) for key in keys]

    def add(self, keys: Iterable[str]) -> None:
        """Count some strings."""
        counts = self._counts
        get = counts.get
        for key in keys:
            known = get(key, 0)
            if not known:
                self._bytes += _size(key)
            counts[key] = known + 1
            self.total += 1
        if len(counts) > self._capacity or self._bytes > self._capacity * _ROOM:
            self._set({key: half for key, n in counts.items() if (half := n // 2)})

    def dump(self) -> dict[str, int]:
        """For a snapshot."""
        return self._counts

    def load(self, counts: object) -> None:
        """From a snapshot."""
        self._set(msgspec.convert(counts, dict[str, int]))
        self.add(())  # it may have been saved with more room

    def _set(self, counts: dict[str, int]) -> None:
        self._counts = counts
        self._bytes = sum(map(_size, counts))
        self.total = sum(counts.values())


def _size(key: str) -> int:
    return len(key) if key.isascii() else len(key.encode())


class Habit(msgspec.Struct):
    """What keeps happening is told less and less often: the first time, then at every doubling."""

    count: int = 0
    last: Instant = 0.0

    def worth(self, now: Instant, memory: float) -> bool:
        """Count it; whether to tell it. After ``memory`` seconds without it, it is news again."""
        self.count = 1 if now - self.last > memory else self.count + 1
        self.last = max(self.last, now)
        return self.count & (self.count - 1) == 0
