"""A reader's own index of the live traces, kept current by following the store's changes."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from environment.errors import ChangesGone, StoreUnavailable
from environment.index.ports import VectorIndex
from environment.messages import Instant, Trace, Vector
from environment.ports import TraceStore
from environment.salience import at
from environment.search import Hit, SearchFilters, search
from environment.severity import salience_of
from orchestration.view.settings import ViewSettings

T = TypeVar("T")
_TRIES = 3


async def _as_they_are(traces: Sequence[Trace]) -> Sequence[Trace]:
    return traces


@dataclass(eq=False, repr=False)
class TraceFollower:
    """The live traces of one mind, in memory, with an index by meaning.

    Guarantees: nothing is read before the first question; when it is answered the set is what the store held at some
    moment during the call; memory is bounded by the live set. A store error leaves the set as it was, to be caught up
    later; where the store no longer knows the changes since, the set is read anew. Index work on many traces is done in
    a worker thread.

    ``placed``: the same traces, with vectors that the index can hold; as they are without it.
    """

    _traces: TraceStore
    _make_shard: Callable[[], VectorIndex]
    _settings: ViewSettings
    _placed: Callable[[Sequence[Trace]], Awaitable[Sequence[Trace]]] = _as_they_are

    def __post_init__(self) -> None:
        self._live: dict[str, Trace] = {}
        self._shard: VectorIndex | None = None
        self._change = 0
        self._lock = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._live)

    async def most_salient(self, limit: int, now: Instant) -> list[tuple[Trace, float]]:
        """The ``limit`` live traces that are most salient at mind time ``now``, with their salience, highest first."""
        async with self._lock:
            await self._catch_up()
            return await self._heavy(len(self._live), lambda: self._rank(limit, now))

    async def search(self, vector: Vector, k: int, filters: SearchFilters, now: Instant) -> list[Hit]:
        """The ``k`` live traces nearest to ``vector`` that pass the filters at mind time ``now``, nearest first."""
        async with self._lock:
            shard = await self._catch_up()
            return await self._heavy(len(self._live), lambda: search(shard, self._live, vector, k, filters, now))

    def _rank(self, limit: int, now: Instant) -> list[tuple[Trace, float]]:
        ranked = heapq.nlargest(limit, ((at(trace.level, now), trace.id) for trace in self._live.values()))
        return [(self._live[name], salience_of(level)) for level, name in ranked]

    async def _catch_up(self) -> VectorIndex:
        for _ in range(_TRIES):
            try:
                return await (self._build() if self._shard is None else self._follow(self._shard))
            except ChangesGone:  # nobody asked for very long
                self._shard = None
        raise StoreUnavailable("what is live changes faster than it can be read")

    async def _follow(self, shard: VectorIndex) -> VectorIndex:
        while True:
            change, changed = await self._traces.changes(self._change, self._settings.follow_batch)
            if changed:
                await self._apply(shard, await self._placed(changed))
            self._change = change
            if len(changed) < self._settings.follow_batch:
                return shard

    async def _build(self) -> VectorIndex:
        change = await self._traces.head()  # before reading: what changes meanwhile is read again
        live: dict[str, Trace] = {}
        async for batch in self._traces.live(self._settings.follow_batch):
            live.update((trace.id, trace) for trace in await self._placed(batch))
        shard = await asyncio.to_thread(self._make_shard)  # FAISS takes its time to load
        if live:
            await self._heavy(len(live), lambda: shard.rebuild(list(live), _vectors(live.values())))
        self._live, self._change, self._shard = live, change, shard
        return await self._follow(shard)

    async def _apply(self, shard: VectorIndex, changed: Sequence[Trace]) -> None:
        """Bring set and index up to date. Where only the level changed the index is left alone."""
        gone = [trace.id for trace in changed if not trace.live and trace.id in self._live]
        moved: list[Trace] = []
        for trace in changed:
            if trace.live:
                known = self._live.get(trace.id)
                if known is None or not np.array_equal(known.thought.vector, trace.thought.vector):
                    moved.append(trace)
        if gone or moved:
            await self._heavy(len(gone) + len(moved), lambda: _reindex(shard, gone, moved))
        for name in gone:
            del self._live[name]
        self._live.update((trace.id, trace) for trace in changed if trace.live)

    async def _heavy(self, size: int, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work) if size > self._settings.offload_above else work()


def _reindex(shard: VectorIndex, gone: Sequence[str], moved: Sequence[Trace]) -> None:
    for name in gone:
        shard.remove(name)
    for trace in moved:
        shard.add(trace.id, trace.thought.vector)


def _vectors(traces: Iterable[Trace]) -> NDArray[np.float32]:
    return np.stack([trace.thought.vector for trace in traces]).astype(np.float32, copy=False)
