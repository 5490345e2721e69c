"""Stores in front of others, which do what nobody here does differently."""

from collections.abc import Mapping, Sequence

from environment.ports import Stores, Write


class ForwardingStores:
    """``Stores`` that hand everything on to ``stores``: what one of them does otherwise it overrides."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.perceptions = stores.perceptions
        self.traces = stores.traces
        self.stream = stores.stream
        self.registry = stores.registry
        self.collections = stores.collections

    async def commit(self, writes: Sequence[Write], fence: int = 0) -> None:
        await self._stores.commit(writes, fence)

    async def lead(self, token: int | None = None) -> int:
        return await self._stores.lead(token)

    async def statistics(self) -> Mapping[str, float]:
        return await self._stores.statistics()

    async def close(self) -> None:
        await self._stores.close()
