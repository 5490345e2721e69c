"""Reading all there is of a mind in pages of bearable size."""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, TypeAlias

from environment.collections import LOCAL, Collections, Document
from environment.messages import ConnectionChange, Perception, StreamEntry
from environment.ports import PerceptionLog, Stores, StreamLog
from environment.stores.movable import MovedTrace, SavedState

PAGE = 256
READ_BYTES = 4 << 20
PROBE = "readiness"
"""The state by which a host tries whether it can write: no part of a mind."""
_MOST_PERCEPTIONS = 4096
_EVERYTHING = 1 << 62

Pages: TypeAlias = AsyncGenerator[tuple[str, list[Any]], None]
"""Pages, each with its mark: who begins behind that gets the pages that follow it."""


class StoredPages(ABC):
    """``Leaving`` of a store: read through its ports, and what those do not give by its backend."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    @abstractmethod
    def traces(self, after: str) -> AsyncGenerator[tuple[str, list[MovedTrace]], None]:
        """Every trace, live or not, in an order of the backend's own."""

    @abstractmethod
    def changes(self, after: str) -> AsyncGenerator[tuple[str, list[ConnectionChange]], None]:
        """Every recorded change of connections: those of each submind in the order of its history."""

    @abstractmethod
    async def states(self) -> list[str]:
        """The names under which states are saved."""

    async def head(self) -> int:
        return await self._stores.perceptions.head()

    async def pages(self, kind: str, after: str = "") -> Pages:
        async with aclosing(getattr(self, f"_{kind}")(after)) as pages:
            async for page in pages:
                yield page

    async def _perceptions(self, after: str) -> Pages:
        async for page in perceptions_after(self._stores.perceptions, int(after or 0)):
            yield str(page[-1].seq), page

    async def _entries(self, after: str) -> Pages:
        async for page in entries_after(self._stores.stream, int(after or 0)):
            yield str(page[-1].seq), page

    def _traces(self, after: str) -> Pages:
        return self.traces(after)

    async def _changes(self, after: str) -> Pages:
        async for mark, page in self.changes(after):
            yield mark, [replace(each, mark="") for each in page]

    async def _connections(self, after: str) -> Pages:
        found = await self._stores.registry.connections()
        found.sort(key=lambda each: (each.owner, each.topic, each.peer))
        for at in range(int(after or 0), len(found), PAGE):
            yield str(at + PAGE), found[at : at + PAGE]

    async def _states(self, after: str) -> Pages:
        for name in sorted(await self.states()):
            state = await self._stores.registry.state(name) if name > after and name != PROBE else None
            if state is not None:
                yield name, [SavedState(name, state)]

    async def _reports(self, after: str) -> Pages:
        while page := await self._stores.registry.reports(after, PAGE):
            after = page[-1].name
            yield after, page

    async def _documents(self, after: str) -> Pages:
        async for mark, page in documents_after(self._stores.collections, after):
            yield mark, page


async def perceptions_after(
    log: PerceptionLog, after: int, up_to: int = _EVERYTHING
) -> AsyncGenerator[list[Perception], None]:
    """All after a number, in pages of a bearable size in bytes as well: a picture weighs as much as many lines."""
    limit = 64
    while after < up_to and (page := await log.read(after, limit)):
        kept = page if page[-1].seq <= up_to else [each for each in page if each.seq <= up_to]
        if kept:
            yield kept
        after = page[-1].seq
        size = sum(len(each.image.data) if each.image else len(each.text or "") for each in page)
        if size > READ_BYTES:
            limit = max(1, limit // 4)
        elif size < READ_BYTES // 4:
            limit = min(limit * 2, _MOST_PERCEPTIONS)


async def entries_after(
    stream: StreamLog, after: int, up_to: int = _EVERYTHING
) -> AsyncGenerator[list[StreamEntry], None]:
    """All entries after a number."""
    while after < up_to and (found := await stream.read(after + 1, min(PAGE, up_to - after))):
        yield found
        after = found[-1].seq


async def documents_after(
    collections: Collections, after: str = ""
) -> AsyncGenerator[tuple[str, list[Document]], None]:
    """All documents of the mind behind a mark: the mark of each page, and the page."""
    begin, key = json.loads(after) if after else ("", "")
    for name in await collections.names():
        if name.startswith(LOCAL) or name.encode() < begin.encode():
            continue
        key = key if name == begin else ""
        while found := await collections.scan(name, after=key, limit=PAGE):
            key = found[-1].key
            yield json.dumps([name, key]), found


def runs(page: Sequence[Perception]) -> Iterator[list[Perception]]:
    """Cut where a number is missing: it was forgotten."""
    start = 0
    for at in range(1, len(page) + 1):
        if at == len(page) or page[at].seq != page[at - 1].seq + 1:
            yield list(page[start:at])
            start = at
