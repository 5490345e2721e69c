"""A process's own index of what was perceived, kept current by following the perception log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from actors.answering.answer import Reply, answer, with_facts
from actors.answering.facts import known_facts
from actors.answering.usual import asks_usual, gists, usual
from actors.substrate.errors import SubstrateError
from actors.substrate.ports import Embedder
from environment.episodes.index import Episode, EpisodeIndex
from environment.episodes.kept import IndexStamp, load, save
from environment.episodes.question import Question, asked_by
from environment.episodes.recall import Cue, RecallFilters, Recollection, recall
from environment.erasure import FORGOTTEN, ForgetState
from environment.errors import StoreUnavailable
from environment.following import CollectionFollower
from environment.goals import GOALS
from environment.identity import perception_seq
from environment.messages import Instant, PerceptionRef
from environment.packs import ALWAYS, INNATE, PACKS, PackSection
from environment.ports import Stores

T = TypeVar("T")
_BATCH = 1000
GIST_LEFT = "Only that is left of it: the lines themselves are not kept any more."
_EMBEDDED = 64
"""Lines that are embedded at a time."""
_LOOKS = 60
"""Looks at the log after which the index is written anew."""
_BACK = 4
"""How many times as many lines as are kept are read at first: of many alike few are kept."""
_PATIENCE = 4.0
"""Seconds that who asks waits for vectors; lines that have none by then are found by their words."""


@dataclass(eq=False, repr=False)
class EpisodeFollower:
    """The latest perceptions of one mind and its packs, by words, and by meaning from when somebody first asks for it.

    Guarantees: a question is answered from what the log held when it was put, up to ``most``, and from nothing that the
    log has forgotten. What those who speak to the mind have asked is no answer to anything, and left out. One question
    is answered at a time.

    Without an ``embedder`` everything goes by words; ``query_prefix`` stands before what is looked for there. ``kept``:
    a file from which the index goes on; who has an embedder, and is told to ``keep``, writes it.
    """

    _stores: Stores
    _most: int
    interlocutors: InitVar[Sequence[str]]
    _embedder: Embedder | None = None
    _query_prefix: str = ""
    kept: Path | None = None

    def __post_init__(self, interlocutors: Sequence[str]) -> None:
        self._packs = CollectionFollower(PACKS, self._stores.collections, _BATCH)
        self._goals = CollectionFollower(GOALS, self._stores.collections, _BATCH)
        self._requests = CollectionFollower(FORGOTTEN, self._stores.collections, _BATCH)
        self._interlocutors = tuple(interlocutors)
        self._meant = False
        """Whether somebody has asked by meaning, so that vectors are kept."""
        self._index = EpisodeIndex(self._most)
        self._cursor = 0
        self._forgot = 0
        """How often something was forgotten on request."""
        self._forgetting = False
        """Whether more was asked for."""
        self._unread = self.kept
        self._written, self._looks = (0, 0), _LOOKS
        """How many lines are in the file, the last perception there, and looks at the log since it was written."""
        self._innate: dict[str, Episode] = {}
        self._pinned = 0
        """Changes of packs that these are as of."""
        self._lock, self._embedding = asyncio.Lock(), asyncio.Lock()

    async def answer(self, question: str, earlier: Sequence[str], now: Instant, before: int | None = None) -> Reply:
        """What is known of a question, after those before it in the same conversation. Raises ``StoreUnavailable``.

        ``before``: only from perceptions with a lower sequence number.
        """
        pointed: Question | None = None
        for one in earlier:
            pointed = Question.of(one, pointed)
        async with self._lock:
            await self._catch_up(before)
            read = Question.of(question, pointed)
            if asks_usual(read):
                reply = await _done(usual, read, self._index, await gists(self._stores.collections), now)
                if reply is not None:
                    left = await self._left([part.perception for part in reply.parts])
                    return replace(reply, text=reply.text + left)
            reply = await _done(answer, read, self._index, now, before)
        facts = await known_facts(question, self._stores.collections, now, before)
        if facts is None:
            return reply
        refs = [fact.evidence[-1] for fact in facts.facts]
        told = replace(facts, text=facts.text + await self._left(refs))
        return with_facts(reply, told, list((await cited(self._stores, refs)).values()), now)

    async def _left(self, refs: Sequence[PerceptionRef]) -> str:
        """What is said where none of the lines that something rests on is kept any more."""
        said = [ref for ref in refs if perception_seq(ref.id)]
        return f"\n{GIST_LEFT}" if said and not await cited(self._stores, said) else ""

    async def recall(self, text: str, k: int, now: Instant, filters: RecallFilters | None = None) -> list[Recollection]:
        """What was perceived that fits a question or a few words, best first. Raises ``StoreUnavailable``."""
        async with self._lock:
            await self._catch_up()
            cue = await _done(Cue.of, text, self._index, now)
        vector = await self._meaning(cue.gist)
        pursued = {one.text: one.weight for one in (await self._goals.current(now)).values() if one.held}
        async with self._lock:
            return await _done(recall, self._index, cue, vector, k, filters, pursued)

    async def _meaning(self, gist: str) -> NDArray[np.float32] | None:
        """The vector of what is looked for, while lines are given theirs; None where none comes in time."""
        if self._embedder is None:
            return None
        self._meant = True
        vector = None
        with suppress(SubstrateError, TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                (vector,) = await self._embedder.embed([self._query_prefix + gist])
                async with self._lock:
                    self._index.fit(vector.size)
                while await self._embed(self._embedder):
                    pass
        return vector

    async def keep(self, every: float) -> None:
        """Have the index caught up with the log before somebody asks, each so many seconds, until cancelled."""
        while True:
            with suppress(StoreUnavailable, SubstrateError):
                async with self._lock:
                    await self._catch_up()
                while self._meant and self._embedder and await self._embed(self._embedder):
                    pass
                if self.kept and self._embedder:
                    async with self._lock:
                        await self._write(self.kept, self._embedder.dim)
            await asyncio.sleep(every)

    async def _write(self, file: Path, dim: int) -> None:
        """Keep the index in the file as it is by now, where that was not done of late and nobody is to be forgotten."""
        self._looks += 1
        await self._follow()
        now = len(self._index), self._cursor
        stamp = await self._stamp(self._cursor, dim) if self._looks >= _LOOKS and now != self._written else None
        if stamp is not None and not self._forgetting:
            self._written, self._looks = now, 0
            with suppress(OSError):  # it is made of the log again
                await _done(save, self._index, stamp, file)

    async def _stamp(self, seq: int, dim: int) -> IndexStamp | None:
        """What an index is of that read the log up to there; None where that perception is gone."""
        found = await self._stores.perceptions.read(seq - 1, 1)
        if not found or found[0].seq != seq:
            return None
        return IndexStamp(self._most, self._interlocutors, self._forgot, seq, found[0].received, dim)

    async def _begin(self, file: Path) -> None:
        """Go on from what was kept, where that is of this log."""
        found = await _done(load, file, self._most, self._embedder.dim if self._embedder else 0)
        if found is not None and found[0] == await self._stamp(found[0].seq, found[0].dim):
            stamp, self._index = found
            self._cursor, self._written, self._looks = stamp.seq, (len(self._index), stamp.seq), 0

    async def _catch_up(self, before: int | None = None) -> None:
        """Read the log up to its end; what it has from ``before`` on may be left for later."""
        await self._follow()
        if self._unread:
            await self._begin(self._unread)
            self._unread = None
        log = self._stores.perceptions
        head = await log.head()
        head = head if before is None else min(head, before - 1)
        self._cursor = max(self._cursor, head - _BACK * self._most)
        while self._cursor < head:
            found = await log.read(self._cursor, _BATCH)
            if not found:
                break
            told = [one for one in found if not asked_by(one, self._interlocutors)]
            await _done(self._index.add, told)
            self._cursor = found[-1].seq
        oldest = await log.read(0, 1)
        await _done(self._index.forget, oldest[0].seq if oldest else head + 1)
        await _done(self._index.pin, self._innate)

    async def _follow(self) -> None:
        """Begin anew where something was forgotten on request, and take over packs that changed."""
        records = (await self._requests.current(ALWAYS)).values()
        forgot = sum(record.state is ForgetState.DONE for record in records)
        self._forgetting = not all(record.state in {ForgetState.DONE, ForgetState.REFUSED} for record in records)
        if forgot != self._forgot:
            self._index, self._cursor, self._forgot = EpisodeIndex(self._most), 0, forgot
        sections = await self._packs.current(ALWAYS)
        if self._packs.changes != self._pinned:
            self._innate = {key: _section(key, one) for key, one in sections.items()}
            self._pinned = self._packs.changes

    async def _embed(self, embedder: Embedder) -> bool:
        """Give some lines their vectors; whether any had none. Who asks meanwhile is not kept waiting."""
        async with self._embedding:
            async with self._lock:
                place, lacking = self._index.lacking(_EMBEDDED)
            if lacking:
                vectors = await embedder.embed(lacking)
                async with self._lock:
                    self._index.give(place, vectors)
                await asyncio.sleep(0)  # some embedders never suspend
            return bool(lacking)


async def cited(stores: Stores, refs: Iterable[PerceptionRef]) -> dict[str, Episode]:
    """What these say, by id and in their order: perceptions and sections of packs that are kept."""
    ids = list(dict.fromkeys(ref.id for ref in refs))
    kept = await stores.perceptions.get(ids)
    found = {one.id: Episode(one.seq, one.time, one.source, one.text or "", one.trust) for one in kept.values()}
    if innate := [one for one in ids if one.startswith(INNATE)]:
        packs = await stores.collections.get(PACKS.name, innate)
        found |= {key: _section(key, PACKS.value(one)) for key, one in packs.items()}
    return {one: found[one] for one in ids if one in found}


def _section(key: str, one: PackSection) -> Episode:
    return Episode(0, ALWAYS, one.source, one.text, one.trust, id=key)


async def _done(work: Callable[..., T], *given: object) -> T:
    """What comes of work on a thread. Who is cancelled waits for its end: nobody else may use the index before."""
    running = asyncio.ensure_future(asyncio.to_thread(work, *given))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
