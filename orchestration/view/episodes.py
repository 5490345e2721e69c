"""A reader's own index of what was perceived, kept current by following the perception log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from actors.answering.question import asks
from actors.perception.percept import addressed
from environment.episodes.index import EpisodeIndex
from environment.messages import Perception
from environment.ports import PerceptionLog

_BATCH = 1000


class EpisodeFollower:
    """The latest perceptions of one mind, by words.

    Guarantees: nothing is read before the first question; when it is answered the index holds what the log held when it
    was put, up to ``most``, and nothing that the log has forgotten. What those who speak to the mind have asked is no
    answer to anything, and left out.
    """

    def __init__(self, log: PerceptionLog, most: int, interlocutors: Sequence[str]) -> None:
        self._log = log
        self._most = most
        self._interlocutors = tuple(interlocutors)
        self._index = EpisodeIndex(most)
        self._cursor = 0
        self._lock = asyncio.Lock()

    async def current(self) -> EpisodeIndex:
        """The index, caught up with the log. Raises ``StoreUnavailable``; may then be called again."""
        async with self._lock:
            head = await self._log.head()
            self._cursor = max(self._cursor, head - self._most)
            while self._cursor < head:
                found = await self._log.read(self._cursor, _BATCH)
                if not found:
                    break
                self._cursor = found[-1].seq
                await asyncio.to_thread(self._index.add, [one for one in found if not self._asked(one)])
            oldest = await self._log.read(0, 1)
            self._index.forget(oldest[0].seq if oldest else head + 1)
            return self._index

    def _asked(self, perception: Perception) -> bool:
        return addressed(perception.source, self._interlocutors) and asks(perception.text or "")
