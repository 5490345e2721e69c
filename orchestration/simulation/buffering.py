"""Commits gathered into fewer transactions: for replays, in which nothing has to survive the process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from environment.messages import (
    Connection,
    ConnectionChange,
    Instant,
    StreamEntry,
    SubmindReport,
    Trace,
)
from environment.population import GrowthEvent, Member
from environment.ports import Configuration, PerceptionLog, Progress, Stores, Write

_MOST = 2048


class BufferedStores:
    """Stores that commit in bulk. Every read flushes first, so nobody ever sees less than was written.

    Guarantee: writes reach the stores in the order in which they were committed.
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._writes: list[Write] = []
        self.traces = _Traces(self)
        self.stream = _Stream(self)
        self.registry = _Registry(self)

    @property
    def perceptions(self) -> PerceptionLog:
        return self._stores.perceptions

    @property
    def inner(self) -> Stores:
        """The stores behind."""
        return self._stores

    async def commit(self, writes: Sequence[Write], fence: int = 0) -> None:  # noqa: ARG002  # a replay has no rivals
        self._writes += writes
        if len(self._writes) >= _MOST:
            await self.flush()

    async def flush(self) -> None:
        """Write what has been gathered."""
        if self._writes:
            writes, self._writes = self._writes, []
            await self._stores.commit(writes)

    async def lead(self, token: int | None = None) -> int:
        return await self._stores.lead(token)

    async def statistics(self) -> Mapping[str, float]:
        await self.flush()
        return await self._stores.statistics()

    async def close(self) -> None:
        await self.flush()
        await self._stores.close()


class _Traces:
    def __init__(self, stores: BufferedStores) -> None:
        self._stores = stores

    async def get(self, ids: Sequence[str]) -> dict[str, Trace]:
        await self._stores.flush()
        return await self._stores.inner.traces.get(ids)

    async def revisions(self, trace_id: str) -> list[Trace]:
        await self._stores.flush()
        return await self._stores.inner.traces.revisions(trace_id)

    async def live(self, batch: int = 1000, progress: Progress | None = None) -> AsyncIterator[list[Trace]]:
        await self._stores.flush()
        async for traces in self._stores.inner.traces.live(batch, progress):
            yield traces

    async def changes(self, after: int, limit: int) -> tuple[int, list[Trace]]:
        await self._stores.flush()
        return await self._stores.inner.traces.changes(after, limit)

    async def head(self) -> int:
        await self._stores.flush()
        return await self._stores.inner.traces.head()

    async def between(
        self,
        since: Instant,
        until: Instant,
        *,
        author: str | None = None,
        topic: str | None = None,
        limit: int = 100,
    ) -> list[Trace]:
        await self._stores.flush()
        return await self._stores.inner.traces.between(since, until, author=author, topic=topic, limit=limit)

    async def forget(self, before: Instant, limit: int = 10_000) -> int:
        await self._stores.flush()
        return await self._stores.inner.traces.forget(before, limit)


class _Stream:
    def __init__(self, stores: BufferedStores) -> None:
        self._stores = stores

    async def head(self) -> int:
        await self._stores.flush()
        return await self._stores.inner.stream.head()

    async def read(self, from_seq: int, limit: int) -> list[StreamEntry]:
        await self._stores.flush()
        return await self._stores.inner.stream.read(from_seq, limit)

    async def find(self, entry_id: str) -> StreamEntry | None:
        await self._stores.flush()
        return await self._stores.inner.stream.find(entry_id)


class _Registry:
    def __init__(self, stores: BufferedStores) -> None:
        self._stores = stores

    async def connections(self, owner: str | None = None) -> list[Connection]:
        await self._stores.flush()
        return await self._stores.inner.registry.connections(owner)

    async def history(
        self, owner: str | None = None, limit: int = 1000, *, since: Instant | None = None, before: str = ""
    ) -> list[ConnectionChange]:
        await self._stores.flush()
        return await self._stores.inner.registry.history(owner, limit, since=since, before=before)

    async def written(self, after: str, limit: int) -> list[ConnectionChange]:
        await self._stores.flush()
        return await self._stores.inner.registry.written(after, limit)

    async def last_written(self) -> str:
        await self._stores.flush()
        return await self._stores.inner.registry.last_written()

    async def owners(self, after: str = "", limit: int | None = None) -> list[str]:
        await self._stores.flush()
        return await self._stores.inner.registry.owners(after, limit)

    async def reports(self, after: str = "", limit: int | None = None) -> list[SubmindReport]:
        await self._stores.flush()
        return await self._stores.inner.registry.reports(after, limit)

    async def state(self, name: str) -> bytes | None:
        await self._stores.flush()
        return await self._stores.inner.registry.state(name)

    async def configurations(self, limit: int = 100) -> list[Configuration]:
        await self._stores.flush()
        return await self._stores.inner.registry.configurations(limit)

    async def members(self) -> list[Member]:
        await self._stores.flush()
        return await self._stores.inner.registry.members()

    async def growth(self, after: int, limit: int) -> list[GrowthEvent]:
        await self._stores.flush()
        return await self._stores.inner.registry.growth(after, limit)

    async def growth_head(self) -> int:
        await self._stores.flush()
        return await self._stores.inner.registry.growth_head()

    async def forget(self, before: Instant, limit: int = 10_000) -> int:
        await self._stores.flush()
        return await self._stores.inner.registry.forget(before, limit)
