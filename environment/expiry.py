"""The live traces in the order in which they sink: who is least salient, and who crosses the floor next, unscanned."""

import math
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

from environment.messages import Instant, Level


@dataclass(slots=True)
class _Place:
    half_life: float
    key: float
    """What it is worth now; at least what its entry in the heap says."""
    ticket: int
    """Which entry in the heap is its own."""


class Expiry:
    """Traces by salience, for any moment.

    Traces of one half-life never overtake each other by evaporating, because ``log2(value) + at / half_life`` does
    not change with time. So each half-life has a heap by that key, and whoever is least of all is the least of
    the heaps' tops. A raise is only noted, and put right when it comes to the top. Every call costs O(log n), times
    the number of half-lives where it looks at the tops.
    """

    def __init__(self) -> None:
        self._heaps: dict[float, list[tuple[float, int, str]]] = {}
        self._places: dict[str, _Place] = {}
        self._tickets = 0

    def __len__(self) -> int:
        return len(self._places)

    def set(self, name: str, level: Level) -> None:
        """Hold a trace at its level, instead of the one it had."""
        key = _log(level.value) + level.at / level.half_life
        place = self._places.get(name)
        if place is not None and place.half_life == level.half_life and key >= place.key:
            place.key = key
            return
        self._tickets += 1
        self._places[name] = _Place(level.half_life, key, self._tickets)
        heap = self._heaps.setdefault(level.half_life, [])
        heappush(heap, (key, self._tickets, name))
        if len(heap) > 64 + 2 * len(self._places):
            self._compact(level.half_life)

    def remove(self, name: str) -> None:
        """Let a trace go; fine if it is not held."""
        self._places.pop(name, None)

    def pop_below(self, floor: float, now: Instant) -> list[str]:
        """Those whose salience at ``now`` is below ``floor``, least first within a half-life; they are let go."""
        sunk = []
        for half_life in list(self._heaps):
            limit = _log(floor) + now / half_life
            while (top := self._top(half_life)) is not None and top[0] < limit:
                sunk.append(top[2])
                del self._places[top[2]]
        return sunk

    def least(self, now: Instant) -> str | None:
        """Whoever is least salient at ``now``, the longest held among equals."""
        tops = [
            (top[0] - now / half_life, top[1], top[2])
            for half_life in list(self._heaps)
            if (top := self._top(half_life)) is not None
        ]
        return min(tops)[2] if tops else None

    def next(self, floor: float) -> Instant | None:
        """When the next one will sink below ``floor``; none while nothing is held."""
        return min(
            (
                (top[0] - _log(floor)) * half_life
                for half_life in list(self._heaps)
                if (top := self._top(half_life)) is not None
            ),
            default=None,
        )

    def _top(self, half_life: float) -> tuple[float, int, str] | None:
        heap = self._heaps[half_life]
        while heap:
            key, ticket, name = heap[0]
            place = self._places.get(name)
            if place is None or place.ticket != ticket:
                heappop(heap)
            elif place.key > key:
                heapreplace(heap, (place.key, ticket, name))
            else:
                return heap[0]
        del self._heaps[half_life]
        return None

    def _compact(self, half_life: float) -> None:
        heap = [(p.key, p.ticket, name) for name, p in self._places.items() if p.half_life == half_life]
        heapify(heap)
        self._heaps[half_life] = heap


def _log(value: float) -> float:
    return math.log2(value) if value > 0 else -math.inf
