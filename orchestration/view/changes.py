"""What happens to connections: read in pages, and followed by any number of readers through one poller."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass

import structlog

from environment.errors import StoreUnavailable
from environment.messages import ChangeKind, ConnectionChange, Instant
from environment.ports import RegistryStore
from orchestration.view.settings import ChangesSettings

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

    Guarantees: a reader gets each change once; those of one submind in order, those of several about in order of time.
    Nothing is buffered for one that is slow: it reads the history again from where it is, but at most ``scan`` changes
    back, and what is older it does not get. While nobody reads the store is left alone; one that is unavailable makes
    readers wait. What is written longer than ``overlap`` after its mind time may be left out.
    """

    def __init__(self, registry: RegistryStore, settings: ChangesSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._recent: deque[ConnectionChange] = deque(maxlen=settings.recent)
        self._count = 0
        """Changes seen since there is somebody to see for; the last of them are in ``_recent``."""
        self._seen: dict[str, Instant] = {}
        self._latest: Instant = -math.inf
        self._lock = asyncio.Lock()
        self._moved = asyncio.Event()
        self._poller: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._readers = 0

    @property
    def following(self) -> bool:
        """Whether somebody reads, and is told of all that is written from now on."""
        return self._poller is not None and not self._poller.done()

    async def follow(
        self, wants: ChangeFilter = ANY_CHANGE, after: str = ""
    ) -> AsyncGenerator[list[ConnectionChange], None]:
        """Changes behind the one with mark ``after`` (empty: those from now on) as they appear, oldest first.

        Raises ``ValueError`` for an ``after`` that is no mark.
        """
        self._readers += 1
        try:
            await self._begin()
            place, told = self._count, set[str]()
            behind = bool(after)
            while True:
                if behind or self._count - place > len(self._recent):  # or slower than the memory is long
                    place, fresh = self._count, await self._missed(after)
                    told, behind = {change.mark for change in fresh}, False
                else:
                    latest = list(self._recent)[len(self._recent) - (self._count - place) :]
                    place, fresh = self._count, [change for change in latest if change.mark not in told]
                after = fresh[-1].mark if fresh else after
                if wanted := [change for change in fresh if wants.matches(change)]:
                    yield wanted
                if self._count == place:
                    if self.following:
                        await self._moved.wait()
                    elif self._failure is None:
                        raise StoreUnavailable("nobody looks for changes any more")
                    if self._failure is not None:
                        raise self._failure
        finally:
            self._readers -= 1

    async def _missed(self, after: str) -> list[ConnectionChange]:
        """What the history holds behind a mark, oldest first; the latest ``scan`` of it."""
        found: list[ConnectionChange] = []
        if after:
            await self._history(1, before=after)  # refuses what is no mark
        before = ""
        while len(found) < self._settings.scan:
            batch = await self._history(self._settings.batch, before=before)
            for change in batch:
                if change.mark == after:
                    return found[::-1]
                found.append(change)
            if len(batch) < self._settings.batch:
                break
            before = batch[-1].mark
        return found[::-1]

    async def _begin(self) -> None:
        """Have somebody look; from now on, if nobody did."""
        async with self._lock:
            if self.following:
                return
            self._failure = None
            newest = await self._history(1)
            self._latest = newest[0].at if newest else -math.inf
            self._seen = {change.mark: change.at for change in await self._new({})}
            self._poller = asyncio.create_task(self._poll(), name="change-tail")

    async def _poll(self) -> None:
        while self._readers:
            try:
                fresh = await self._new(self._seen)
            except Exception as error:  # noqa: BLE001 - handed on to every reader that waits
                self._failure = error
                self._wake()
                return
            if fresh:
                self._recent.extend(fresh)
                self._count += len(fresh)
                self._latest = max(self._latest, *(change.at for change in fresh))
                seen = {**self._seen, **{change.mark: change.at for change in fresh}}
                self._seen = {mark: at for mark, at in seen.items() if at >= self._latest - self._settings.overlap}
                self._wake()
            await asyncio.sleep(self._settings.every)

    async def _new(self, seen: Mapping[str, Instant]) -> list[ConnectionChange]:
        """What was not seen before, oldest first: looks back over the overlap, but at most ``scan`` changes."""
        found: list[ConnectionChange] = []
        before, since = "", self._latest - self._settings.overlap
        for _ in range(0, self._settings.scan, self._settings.batch):
            batch = await self._history(self._settings.batch, since=since, before=before)
            found += [change for change in batch if change.mark not in seen]
            if len(batch) < self._settings.batch:
                break
            before = batch[-1].mark
        return found[::-1]

    async def _history(self, limit: int, *, since: Instant | None = None, before: str = "") -> list[ConnectionChange]:
        """What the store answers, once it does."""
        told = False
        while True:
            try:
                return await self._registry.history(None, limit, since=since, before=before)
            except StoreUnavailable as error:
                if not told:
                    _log.warning("history_unavailable", reason=str(error), retry_after=error.retry_after)
                told = True
                await asyncio.sleep(max(error.retry_after, self._settings.every))

    def _wake(self) -> None:
        """Let everyone who waits now look again; later waiters wait for the next move."""
        self._moved.set()
        self._moved = asyncio.Event()
