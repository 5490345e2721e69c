"""A bounded mailbox in which weight decides the order and waiting raises priority, so that nothing starves."""

import heapq
from collections import deque
from dataclasses import dataclass

from actors.events import Event, Message
from environment.messages import Instant


@dataclass(slots=True)
class _Slot:
    event: Event
    waiting: bool = True


class Mailbox:
    """Thoughts by ageing priority; everything else (answers, ticks, posts) before them and in order of arrival.

    Ageing is exact and costs nothing: priority grows by ``1 / patience`` a second for all alike, so the order of
    ``priority - arrival / patience`` never changes while waiting. A thought is overtaken only by those that arrive
    within ``patience`` seconds after it.

    Guarantee: at most ``capacity`` thoughts and ``capacity`` other events; when full the least goes, be it the
    newcomer, and ``dropped`` counts it. Of several events taken at once a quarter are thoughts, if so many wait, so
    that neither kind starves.
    """

    def __init__(self, capacity: int, patience: float) -> None:
        self._capacity = capacity
        self._patience = patience
        self._first: deque[Event] = deque()
        self._best: list[tuple[float, int, _Slot]] = []
        self._least: list[tuple[float, int, _Slot]] = []
        self._waiting = 0
        self._number = 0
        self.dropped = 0

    def __len__(self) -> int:
        return self._waiting + len(self._first)

    @property
    def use(self) -> float:
        """Share of the room for thoughts that is taken, 0..1."""
        return self._waiting / self._capacity

    @property
    def load(self) -> float:
        """How full it is, 0..1: beyond that events are dropped."""
        return max(self._waiting, len(self._first)) / self._capacity

    def offer(self, event: Event, priority: float, now: Instant) -> bool:
        """Take in an event; False when an event, this or a lesser one, had to go."""
        if not isinstance(event, Message):
            if len(self._first) >= self._capacity:
                self.dropped += 1
                return False
            self._first.append(event)
            return True
        self._number += 1
        merit = priority - now / self._patience
        slot = _Slot(event)
        heapq.heappush(self._best, (-merit, self._number, slot))
        heapq.heappush(self._least, (merit, -self._number, slot))
        self._waiting += 1
        if self._waiting <= self._capacity:
            return True
        self._remove(self._least)
        self.dropped += 1
        return False

    def take(self, limit: int) -> list[Event]:
        """Up to ``limit`` events, most urgent first."""
        taken: list[Event] = []
        kept = min(self._waiting, max(limit // 4, min(1, limit - 1)))
        while self._first and len(taken) < limit - kept:
            taken.append(self._first.popleft())
        while self._waiting and len(taken) < limit:
            taken.append(self._remove(self._best))
        return taken

    def _remove(self, heap: list[tuple[float, int, _Slot]]) -> Event:
        while True:
            slot = heapq.heappop(heap)[2]
            if slot.waiting:
                break
        slot.waiting = False
        self._waiting -= 1
        for other in (self._best, self._least):
            if len(other) > 2 * self._waiting + 64:  # the dead of one heap linger in the other: compact now and then
                other[:] = [item for item in other if item[2].waiting]
                heapq.heapify(other)
        return slot.event
