"""A process's own index of what was perceived, kept current by following the perception log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from actors.answering.answer import Reply, answer
from actors.answering.question import Question, asked_by
from actors.substrate.errors import SubstrateError
from actors.substrate.ports import Embedder
from environment.episodes.index import EpisodeIndex
from environment.episodes.recall import Cue, RecallFilters, Recollection, recall
from environment.errors import StoreUnavailable
from environment.messages import Instant
from environment.ports import PerceptionLog

_BATCH = 1000
_EMBEDDED = 64
"""Lines that are embedded at a time."""
_PATIENCE = 2.0
"""Seconds that who asks waits for lines to be embedded; those that are not are found by their words."""


class EpisodeFollower:
    """The latest perceptions of one mind, by words, and by meaning from the first time that somebody asks for it.

    Guarantees: a question is answered from what the log held when it was put, up to ``most``, and from nothing that the
    log has forgotten. What those who speak to the mind have asked is no answer to anything, and left out. One question
    is answered at a time.
    """

    def __init__(
        self, log: PerceptionLog, most: int, interlocutors: Sequence[str], embedder: Embedder | None = None
    ) -> None:
        """Without an ``embedder`` everything goes by words."""
        self._log = log
        self._most = most
        self._interlocutors = tuple(interlocutors)
        self._embedder = embedder
        self._meant = False
        """Whether somebody has asked by meaning, so that vectors are kept."""
        self._index = EpisodeIndex(most)
        self._cursor = 0
        self._lock = asyncio.Lock()

    async def answer(self, question: str, earlier: Sequence[str], now: Instant, before: int | None = None) -> Reply:
        """What is known of a question, after those before it in the same conversation. Raises ``StoreUnavailable``.

        ``before``: only from perceptions with a lower sequence number.
        """
        pointed: Question | None = None
        for one in earlier:
            pointed = Question.of(one, pointed)
        async with self._lock:
            await self._catch_up(before)
            return await asyncio.to_thread(answer, Question.of(question, pointed), self._index, now, before)

    async def recall(self, text: str, k: int, now: Instant, filters: RecallFilters | None = None) -> list[Recollection]:
        """What was perceived that fits a question or a few words, best first. Raises ``StoreUnavailable``."""
        async with self._lock:
            await self._catch_up()
            cue = await asyncio.to_thread(Cue.of, text, self._index, now)
            vector = None
            if self._embedder is not None:
                self._meant = True
                with suppress(SubstrateError):
                    await self._embed(_PATIENCE)
                    (vector,) = await self._embedder.embed([cue.gist])
            return await asyncio.to_thread(recall, self._index, cue, vector, k, filters)

    async def keep(self, every: float) -> None:
        """Have the index caught up with the log before somebody asks, each so many seconds, until cancelled."""
        while True:
            with suppress(StoreUnavailable, SubstrateError):
                async with self._lock:
                    await self._catch_up()
                while self._meant and self._index.lacking(1):
                    async with self._lock:  # let go of in between: somebody may ask
                        await self._embed(_PATIENCE)
            await asyncio.sleep(every)

    async def _catch_up(self, before: int | None = None) -> None:
        """Read the log up to its end; what it has from ``before`` on may be left for later."""
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

    async def _embed(self, patience: float) -> None:
        """Give lines their vectors, for about so many seconds."""
        if self._embedder is None:
            return
        now = asyncio.get_running_loop().time
        begun = now()
        while (lacking := self._index.lacking(_EMBEDDED)) and now() - begun < patience:
            self._index.give(await self._embedder.embed(lacking))
