"""A process's own index of what was perceived, kept current by following the perception log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from actors.answering.answer import Reply, answer
from actors.answering.question import Question, asked_by
from environment.episodes.index import EpisodeIndex
from environment.errors import StoreUnavailable
from environment.messages import Instant
from environment.ports import PerceptionLog

_BATCH = 1000


class EpisodeFollower:
    """The latest perceptions of one mind, by words.

    Guarantees: a question is answered from what the log held when it was put, up to ``most``, and from nothing that the
    log has forgotten. What those who speak to the mind have asked is no answer to anything, and left out.
    """

    def __init__(self, log: PerceptionLog, most: int, interlocutors: Sequence[str]) -> None:
        self._log = log
        self._most = most
        self._interlocutors = tuple(interlocutors)
        self._index = EpisodeIndex(most)
        self._cursor = 0
        self._lock = asyncio.Lock()

    async def answer(self, question: str, earlier: Sequence[str], now: Instant, before: int | None = None) -> Reply:
        """What is known of a question, after those before it in the same conversation. Raises as ``current``.

        ``before``: only from perceptions with a lower sequence number.
        """
        index = await self.current(before)
        pointed: Question | None = None
        for one in earlier:
            pointed = Question.of(one, pointed)
        return await asyncio.to_thread(answer, Question.of(question, pointed), index, now, before)

    async def keep(self, every: float) -> None:
        """Have the index caught up with the log before somebody asks, each so many seconds, until cancelled."""
        while True:
            with suppress(StoreUnavailable):
                await self.current()
            await asyncio.sleep(every)

    async def current(self, before: int | None = None) -> EpisodeIndex:
        """The index, caught up with the log. Raises ``StoreUnavailable``; may then be called again.

        ``before``: what the log has from that sequence number on may be left for later.
        """
        async with self._lock:
            head = await self._log.head()
            head = head if before is None else min(head, before - 1)
            self._cursor = max(self._cursor, head - self._most)
            while self._cursor < head:
                found = await self._log.read(self._cursor, _BATCH)
                if not found:
                    break
                self._cursor = found[-1].seq
                told = [one for one in found if not asked_by(one, self._interlocutors)]
                await asyncio.to_thread(self._index.add, told)
            oldest = await self._log.read(0, 1)
            self._index.forget(oldest[0].seq if oldest else head + 1)
            return self._index
