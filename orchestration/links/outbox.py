"""What waits for one peer."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

from actors.events import Event
from orchestration.links.frames import Letter


@dataclass(slots=True)
class _Slot:
    event: Event
    priority: float
    waiting: bool = True


class Outbox:
    """Events in the order in which they were sent, at most ``capacity`` of them.

    When it is full the least important goes, be it the newcomer; of several alike the newest. Both ``put`` and
    ``take`` cost little however many wait.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._slots: deque[_Slot] = deque()
        self._least: list[tuple[float, int, _Slot]] | None = None
        self._number = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, event: Event, priority: float, *, room: bool = True) -> bool:
        """Take in an event; False when an event, this or a lesser one, had to go. Without ``room`` one always does."""
        slot = _Slot(event, priority)
        self._slots.append(slot)
        self._count += 1
        room = room and self._count <= self._capacity
        if room and self._least is None:
            return True
        self._rank(slot)
        if room:
            return True
        self._drop()
        return False

    def take(self, limit: int) -> list[Letter]:
        """Up to ``limit`` events, first come, first served."""
        taken: list[Letter] = []
        slots, ranked = self._slots, self._least is not None
        while slots and len(taken) < limit:
            slot = slots.popleft()
            if slot.waiting:
                slot.waiting = not ranked  # else nobody looks at it again
                taken.append((slot.event, slot.priority))
        self._count -= len(taken)
        if 2 * self._count <= self._capacity:
            self._least = None  # until it is full again
        return taken

    def _rank(self, newcomer: _Slot) -> None:
        if self._least is None:
            self._slots = deque(slot for slot in self._slots if slot.waiting)
            self._least = [(slot.priority, -number, slot) for number, slot in enumerate(self._slots)]
            self._number = len(self._slots)
            heapq.heapify(self._least)
        else:
            heapq.heappush(self._least, (newcomer.priority, -self._number, newcomer))
            self._number += 1

    def _drop(self) -> None:
        if self._least is None:
            raise RuntimeError("nothing is ranked")
        while True:
            slot = heapq.heappop(self._least)[2]
            if slot.waiting:
                break
        slot.waiting = False
        self._count -= 1
        # who was dropped lingers in the queue, who was taken in the ranks: compact now and then
        if len(self._slots) > 2 * self._count + 64:
            self._slots = deque(slot for slot in self._slots if slot.waiting)
        if len(self._least) > 2 * self._count + 64:
            self._least = [item for item in self._least if item[2].waiting]
            heapq.heapify(self._least)
