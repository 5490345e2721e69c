"""Commits gathered into fewer transactions: for replays, in which nothing has to survive the process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from inspect import isasyncgenfunction
from typing import Any, cast

from environment.collections import Collections
from environment.ports import RegistryStore, Stores, StreamLog, TraceStore, Write
from environment.stores.forwarding import ForwardingStores

_MOST = 2048


class BufferedStores(ForwardingStores):
    """Stores that commit in bulk. Every read flushes first, so nobody ever sees less than was written.

    Guarantee: writes reach the stores in the order in which they were committed.
    """

    def __init__(self, stores: Stores) -> None:
        super().__init__(stores)
        self._writes: list[Write] = []
        self.traces = cast(TraceStore, _Flushing(stores.traces, self.flush))
        self.stream = cast(StreamLog, _Flushing(stores.stream, self.flush))
        self.registry = cast(RegistryStore, _Flushing(stores.registry, self.flush))
        self.collections = cast(Collections, _Flushing(stores.collections, self.flush))

    async def commit(self, writes: Sequence[Write], fence: int = 0) -> None:  # noqa: ARG002  # a replay has no rivals
        self._writes += writes
        if len(self._writes) >= _MOST:
            await self.flush()

    async def flush(self) -> None:
        """Write what has been gathered."""
        if self._writes:
            writes, self._writes = self._writes, []
            await self._stores.commit(writes)

    async def statistics(self) -> Mapping[str, float]:
        await self.flush()
        return await super().statistics()

    async def close(self) -> None:
        await self.flush()
        await super().close()


class _Flushing:
    """One of the stores, every method of which flushes first."""

    def __init__(self, of: Any, flush: Callable[[], Awaitable[None]]) -> None:
        self._of = of
        self._flush = flush

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._of, name)

        async def ask(*given: Any, **named: Any) -> Any:
            await self._flush()
            return await method(*given, **named)

        async def pages(*given: Any, **named: Any) -> AsyncIterator[Any]:
            await self._flush()
            async for page in method(*given, **named):
                yield page

        return pages if isasyncgenfunction(method) else ask
