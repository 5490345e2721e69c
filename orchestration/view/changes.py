"""What happens to connections: read in pages, and followed by any number of readers through one poller."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import structlog

from environment.errors import StoreUnavailable
from environment.messages import ChangeKind, ConnectionChange, Instant
from environment.ports import RegistryStore
from orchestration.view.settings import ChangesSettings

T = TypeVar("T")
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """Which changes a reader wants. Every condition must hold; the defaults let everything through."""

    owner: str = ""
    """Of this submind's connections. Empty: of all."""
    topic: str = ""
    """The topic's key, or part of what people call it, whatever the case. Empty: any."""
    kinds: frozenset[ChangeKind] = frozenset()
    """Empty: all kinds."""
    since: Instant | None = None
    """Mind time at or after. None: any."""

    def matches(self, change: ConnectionChange) -> bool:
        """Whether the reader wants this change."""
        return (
            (not self.owner or change.owner == self.owner)
            and (not self.kinds or change.kind in self.kinds)
            and (self.since is None or change.at >= self.since)
            and (not self.topic or self.topic == change.topic or self.topic.casefold() in change.label.casefold())
        )


ANY_CHANGE = ChangeFilter()


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Some of the history."""

    changes: tuple[ConnectionChange, ...]
    """Newest first."""
    older: str
    """What to ask for next, as ``before``; empty when there is nothing older."""


async def read_page(
    registry: RegistryStore, wants: ChangeFilter, limit: int, before: str, settings: ChangesSettings
) -> ChangePage:
    """At most ``limit`` changes that are wanted, newest first, of those behind ``before`` (empty: of all).

    Looks at ``scan`` changes at most: a page may hold fewer than ``limit``, even none, and yet have an ``older``.
    Raises ``ValueError`` for a ``before`` that is no mark.
    """
    found: list[ConnectionChange] = []
    left = settings.scan
    while left > 0:
        asked = min(settings.batch, left)
        batch = await registry.history(wants.owner or None, asked, since=wants.since, before=before)
        left -= len(batch)
        for change in batch:
            before = change.mark
            if wants.matches(change):
                found.append(change)
                if len(found) == limit:
                    return ChangePage(tuple(found), before)
        if len(batch) < asked:
            return ChangePage(tuple(found), "")
    return ChangePage(tuple(found), before)


class ChangeTail:
    """Follows what happens to one mind's connections, for many readers.

    Guarantees: a reader gets each change once, in the order in which the store took them in, and goes on behind the
    mark of the last one it was given without a gap or a repeat, as far as the history is kept
    (``RegistryStore.written``).
    Nothing is buffered for one that is slow: it reads the store again from where it is. While nobody reads the store is
    left alone; one that is unavailable makes readers wait.
    """

    def __init__(self, registry: RegistryStore, settings: ChangesSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._recent: deque[ConnectionChange] = deque()
        self._places: dict[str, int] = {}
        """How many changes stand before what follows a mark: of those in memory, and of where it began."""
        self._count = 0
        """Changes seen since there is somebody to see for; the last of them are in ``_recent``."""
        self._position = ""
        self._lock = asyncio.Lock()
        self._moved = asyncio.Event()
        self._poller: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._readers = 0

    @property
    def following(self) -> bool:
        """Whether somebody reads, and is told of all that is written from now on."""
        return self._poller is not None and not self._poller.done()

    async def follow(self, after: str = "") -> AsyncGenerator[list[ConnectionChange], None]:
        """Changes behind the one with mark ``after`` (empty: those from now on) as they appear, oldest first.

        Raises ``ValueError`` for an ``after`` that is no mark.
        """
        self._readers += 1
        try:
            await self._begin()
            after = after or self._position
            while True:
                moved = self._moved
                fresh = await self._behind(after)
                if fresh:
                    after = fresh[-1].mark
                    yield fresh
                    continue
                if self._failure is not None:
                    raise self._failure
                if not self.following:
                    raise StoreUnavailable("nobody looks for changes any more")
                await moved.wait()
        finally:
            self._readers -= 1

    async def position(self) -> str:
        """The mark of the last change there is now, once the store can be read; empty where there is none."""
        self._readers += 1
        try:
            await self._begin()
            return self._position
        finally:
            self._readers -= 1

    async def _behind(self, after: str) -> list[ConnectionChange]:
        """What follows a mark: from memory where it reaches back so far, else from the store."""
        place = self._places.get(after)
        if place is None:
            return await self._written(after)
        return list(islice(self._recent, len(self._recent) - (self._count - place), None))

    async def _begin(self) -> None:
        """Have somebody look; from now on, if nobody did."""
        async with self._lock:
            if self.following:
                return
            self._failure = None
            self._recent.clear()
            self._position = await self._patiently(self._registry.last_written)
            self._places = {self._position: self._count}
            self._poller = asyncio.create_task(self._poll(), name="change-tail")

    async def _poll(self) -> None:
        while self._readers:
            try:
                fresh = await self._written(self._position)
            except Exception as error:  # noqa: BLE001 - handed on to every reader that waits
                self._failure = error
                self._wake()
                return
            for change in fresh:
                self._take(change)
            if fresh:
                self._wake()
            if len(fresh) < self._settings.batch:
                await asyncio.sleep(self._settings.every)

    def _take(self, change: ConnectionChange) -> None:
        self._count += 1
        self._recent.append(change)
        self._places[change.mark] = self._count
        self._position = change.mark
        if len(self._recent) > self._settings.recent:
            self._recent.popleft()
        oldest = next(iter(self._places))
        if self._places[oldest] < self._count - len(self._recent):
            del self._places[oldest]

    async def _written(self, after: str) -> list[ConnectionChange]:
        return await self._patiently(lambda: self._registry.written(after, self._settings.batch))

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What the store answers, once it does."""
        told = False
        while True:
            try:
                return await ask()
            except StoreUnavailable as error:
                if not told:
                    _log.warning("history_unavailable", reason=str(error), retry_after=error.retry_after)
                told = True
                await asyncio.sleep(max(error.retry_after, self._settings.every))

    def _wake(self) -> None:
        """Let everyone who waits now look again; later waiters wait for the next move."""
        self._moved.set()
        self._moved = asyncio.Event()
