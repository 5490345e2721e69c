"""A reader's own index of the live traces, kept current by following the store's changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from environment.messages import Trace, Vector
from environment.ports import TraceStore
from orchestration.view.settings import ViewSettings

T = TypeVar("T")


class VectorShard(Protocol):
    """What the follower needs of an index."""

    def add(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Index ``(n, dim)`` vectors; an id already there is replaced."""
        ...

    def remove(self, ids: Sequence[str]) -> int:
        """Forget ids; unknown ones are ignored."""
        ...

    def search(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """The nearest ``k`` with their cosine, nearest first."""
        ...

    def __len__(self) -> int: ...


class TraceFollower:
    """The live traces of one mind, in memory, with an index by meaning.

    Guarantees: nothing is read before the first ``current``; after it the set is what the store held at some moment
    during the call; memory is bounded by the live set. A store error leaves the set as it was, to be caught up later.
    Index work on many traces is done in a worker thread.
    """

    def __init__(self, traces: TraceStore, shard: Callable[[], VectorShard], settings: ViewSettings) -> None:
        self._traces = traces
        self._make_shard = shard
        self._settings = settings
        self._live: dict[str, Trace] = {}
        self._shard: VectorShard | None = None
        self._change = 0
        self._lock = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._live)

    async def current(self) -> dict[str, Trace]:
        """The live traces by id, caught up with the store. Read it at once: the next call changes it."""
        async with self._lock:
            await self._catch_up()
            return self._live

    async def nearest(self, vector: Vector, k: int, wanted: Callable[[Trace], bool]) -> list[tuple[Trace, float]]:
        """The ``k`` wanted live traces nearest to ``vector``, with their cosine, nearest first."""
        async with self._lock:
            shard = await self._catch_up()
            if not self._live or not np.any(vector):
                return []
            return await self._heavy(len(self._live), lambda: self._search(shard, vector, k, wanted))

    def _search(
        self, shard: VectorShard, vector: Vector, k: int, wanted: Callable[[Trace], bool]
    ) -> list[tuple[Trace, float]]:
        """Widen the search until enough of what it finds is wanted."""
        reach = 2 * k
        while True:
            near = shard.search(vector, min(reach, len(shard)))
            found = [(trace, score) for name, score in near if (trace := self._live.get(name)) and wanted(trace)]
            if len(found) >= k or reach >= len(shard):
                return found[:k]
            reach *= 4

    async def _catch_up(self) -> VectorShard:
        if self._shard is None:
            return await self._build()
        while True:
            change, changed = await self._traces.changes(self._change, self._settings.follow_batch)
            if changed:
                await self._apply(self._shard, changed)
            self._change = change
            if len(changed) < self._settings.follow_batch:
                return self._shard

    async def _build(self) -> VectorShard:
        change = await self._traces.head()  # before reading: what changes meanwhile is read again
        shard = self._make_shard()
        self._live.clear()
        batches: AsyncIterator[list[Trace]] = self._traces.live(self._settings.follow_batch)
        async for batch in batches:
            await self._apply(shard, batch)
        self._change, self._shard = change, shard
        return await self._catch_up()

    async def _apply(self, shard: VectorShard, changed: Sequence[Trace]) -> None:
        """Bring set and index up to date. Where only the level changed the index is left alone."""
        gone = [trace.id for trace in changed if not trace.live and trace.id in self._live]
        moved: list[Trace] = []
        for trace in changed:
            if trace.live:
                known = self._live.get(trace.id)
                if known is None or known.version != trace.version:
                    moved.append(trace)
        if gone or moved:
            await self._heavy(len(gone) + len(moved), lambda: _reindex(shard, gone, moved))
        for name in gone:
            del self._live[name]
        self._live.update((trace.id, trace) for trace in changed if trace.live)

    async def _heavy(self, size: int, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work) if size > self._settings.offload_above else work()


def _reindex(shard: VectorShard, gone: Sequence[str], moved: Sequence[Trace]) -> None:
    if gone:
        shard.remove(gone)
    if moved:
        shard.add([trace.id for trace in moved], np.stack([trace.thought.vector for trace in moved]))
