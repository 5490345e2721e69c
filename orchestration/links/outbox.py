"""What waits for one peer."""

import heapq
from collections import OrderedDict

from actors.events import Event
from orchestration.links.frames import Envelope


class Outbox:
    """Events in the order in which they were sent, at most ``capacity`` of them.

    When it is full the least important goes, be it the newcomer; of several alike the newest. Both ``put`` and
    ``take`` cost little however many wait.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._envelopes: OrderedDict[int, Envelope] = OrderedDict()
        self._ranks: list[tuple[float, int]] = []
        """Priority and negative number of all that wait and some that do not any more; empty until it was full."""
        self._number = 0

    def __len__(self) -> int:
        return len(self._envelopes)

    def put(self, event: Event, priority: float, *, room: bool = True) -> bool:
        """Take in an event; False when an event, this or a lesser one, had to go. Without ``room`` one always does."""
        self._number += 1
        self._envelopes[self._number] = event, priority
        room = room and len(self._envelopes) <= self._capacity
        if self._ranks:
            heapq.heappush(self._ranks, (priority, -self._number))
        if (not room and not self._ranks) or len(self._ranks) > 2 * len(self._envelopes) + 64:  # the taken linger there
            self._ranks = [(figure, -number) for number, (_, figure) in self._envelopes.items()]
            heapq.heapify(self._ranks)
        if room:
            return True
        while self._envelopes.pop(-heapq.heappop(self._ranks)[1], None) is None:
            pass
        return False

    def take(self, limit: int) -> list[Envelope]:
        """Up to ``limit`` events, first come, first served."""
        envelopes = self._envelopes
        taken = [envelopes.popitem(last=False)[1] for _ in range(min(limit, len(envelopes)))]
        if 2 * len(envelopes) <= self._capacity:
            self._ranks.clear()  # until it is full again
        return taken
