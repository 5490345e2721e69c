"""Following a log of the mind: one poller for any number of readers, no gap, no repeat, no growing buffer."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Generic, TypeVar

import structlog

from environment.errors import StoreUnavailable
from environment.messages import EntryKind, StreamEntry
from environment.ports import StreamLog
from orchestration.view.settings import TailSettings

T = TypeVar("T")
M = TypeVar("M", bound=int | str)
A = TypeVar("A")
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries a reader wants. Every condition must hold; the defaults let everything through."""

    kinds: frozenset[EntryKind] = frozenset()
    """Empty: all kinds."""
    min_salience: float = 0.0
    """0..1."""
    source: str = ""
    """At least one perception of the entry comes from this source. Empty: any."""
    contains: str = ""
    """The text contains this, whatever the case. Empty: any."""

    def matches(self, entry: StreamEntry) -> bool:
        """Whether the reader wants this entry."""
        return (
            (not self.kinds or entry.kind in self.kinds)
            and entry.salience >= self.min_salience
            and (not self.source or any(ref.source == self.source for ref in entry.perceptions))
            and (not self.contains or self.contains.casefold() in entry.text.casefold())
        )


EVERYTHING = EntryFilter()


class TailClosed(Exception):
    """The tail was closed: nobody is told anything any more."""


@dataclass(eq=False, repr=False)
class Tail(Generic[T, M]):
    """Follows one log of a mind for many readers; each item has a mark, behind which reading goes on.

    Guarantees: a reader gets each item once, in the log's order, whatever its speed, and goes on behind the mark of the
    last one it was given without a gap or a repeat, as far as the log is kept. Nothing is buffered for one that is
    slow: it reads the log again from where it is. While nobody reads the store is left alone; one that is unavailable
    makes readers wait, never end. ``close`` ends every reader.

    ``last`` gives the mark of the last item, ``written`` so many behind one, and ``mark`` names its field.
    """

    _last: Callable[[], Awaitable[M]]
    _written: Callable[[M, int], Awaitable[Sequence[T]]]
    _mark: str
    _settings: TailSettings

    def __post_init__(self) -> None:
        self.mark: Callable[[T], M] = attrgetter(self._mark)
        """The mark of an item."""
        self._recent: deque[T] = deque()
        self._places: dict[M, int] = {}
        """How many items stand before what follows a mark: of those in memory, and of where it began."""
        self._count = 0
        """Items seen since there is somebody to see for; the last of them are in ``_recent``."""
        self._position: M | None = None
        self._lock = asyncio.Lock()
        self._moved = asyncio.Event()
        self._poller: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._closing = asyncio.Event()
        self._readers = 0
        self.waiting = 0
        """Readers that have seen everything and wait for what comes next."""

    @property
    def polling(self) -> bool:
        """Whether the store is being looked at, and readers are told of all that is written from now on."""
        return self._poller is not None and not self._poller.done()

    async def position(self) -> M:
        """The mark of the last item there is now, once the store can be read. Raises ``TailClosed``."""
        self._readers += 1
        try:
            return await self._begin()
        finally:
            self._readers -= 1

    async def behind(self, after: M | None = None) -> AsyncGenerator[Sequence[T], None]:
        """Items behind the one with mark ``after`` (None: those from now on) as they appear, until ``close``.

        What is there at once is given together. Raises whatever the store raises, except ``StoreUnavailable``, which is
        waited out: ``ValueError`` for an ``after`` that is no mark.
        """
        self._readers += 1
        try:
            position = await self._begin()
            after = position if after is None else after
            while not self._closing.is_set():
                moved = self._moved
                fresh = await self._behind(after)
                if fresh:
                    after = self.mark(fresh[-1])
                    yield fresh
                elif self._failure is not None:
                    raise self._failure
                elif not self.polling:
                    await self._begin()
                else:
                    await self._wait(moved)
        except TailClosed:
            return
        finally:
            self._readers -= 1

    def reread(self) -> None:
        """What is in memory may stand otherwise in the log by now: readers are given it from there."""
        self._recent.clear()
        self._places.clear()

    async def close(self) -> None:
        """End every reader and the poller. May be called twice."""
        self._closing.set()
        self._wake()
        if self._poller is not None:
            self._poller.cancel()
            await asyncio.gather(self._poller, return_exceptions=True)

    async def _wait(self, moved: asyncio.Event) -> None:
        self.waiting += 1
        try:
            await moved.wait()
        finally:
            self.waiting -= 1

    async def _behind(self, after: M) -> Sequence[T]:
        """What follows a mark: from memory where it reaches back so far, else from the store."""
        place = self._places.get(after)
        if place is None:
            return await self._patiently(partial(self._written, after, self._settings.batch))
        return list(islice(self._recent, len(self._recent) - (self._count - place), None))

    async def _begin(self) -> M:
        """Have somebody look, from now on if nobody did; the mark of the last item seen."""
        async with self._lock:
            if self._position is None or not self.polling:
                self._failure = None
                self._recent.clear()
                position = self._position = await self._patiently(self._last)
                self._places = {position: self._count}
                self._poller = asyncio.create_task(self._poll(position), name="tail")
            return self._position

    async def _poll(self, position: M) -> None:
        pause = self._settings.fast
        while self._readers:
            try:
                fresh = await self._patiently(partial(self._written, position, self._settings.batch))
            except Exception as error:  # noqa: BLE001 - handed on to every reader that waits
                self._failure = error
                self._wake()
                return
            for one in fresh:
                self._take(one)
            if fresh:
                position = self.mark(fresh[-1])
                self._wake()
            if len(fresh) < self._settings.batch:
                pause = self._settings.fast if fresh else min(pause * self._settings.backoff, self._settings.idle)
                await asyncio.sleep(pause)

    def _take(self, one: T) -> None:
        self._count += 1
        self._recent.append(one)
        self._position = self.mark(one)
        self._places[self._position] = self._count
        if len(self._recent) > self._settings.recent:
            self._recent.popleft()
        oldest = next(iter(self._places))
        if self._places[oldest] < self._count - len(self._recent):
            del self._places[oldest]

    async def _patiently(self, ask: Callable[[], Awaitable[A]]) -> A:
        """What the store answers, once it does. Raises ``TailClosed``."""
        told = False
        while not self._closing.is_set():
            try:
                return await ask()
            except StoreUnavailable as error:
                if not told:
                    _log.warning("log_unavailable", reason=str(error), retry_after=error.retry_after)
                told = True
                with suppress(TimeoutError):
                    async with asyncio.timeout(max(error.retry_after, self._settings.fast)):
                        await self._closing.wait()
        raise TailClosed

    def _wake(self) -> None:
        """Let everyone who waits now look again; later waiters wait for the next move."""
        self._moved.set()
        self._moved = asyncio.Event()


class StreamTail(Tail[StreamEntry, int]):
    """The stream of consciousness; the mark of an entry is its number."""

    def __init__(self, stream: StreamLog, settings: TailSettings | None = None) -> None:
        async def written(after: int, limit: int) -> list[StreamEntry]:
            return await stream.read(after + 1, limit)

        super().__init__(stream.head, written, "seq", settings or TailSettings())

    async def follow(self, from_seq: int = 0) -> AsyncGenerator[StreamEntry, None]:
        """Entries from ``from_seq`` on (0: only those after now) as they appear; one beyond the head is waited for."""
        async with aclosing(self.behind(from_seq - 1 if from_seq > 0 else None)) as batches:
            async for batch in batches:
                for entry in batch:
                    yield entry
