"""Following the stream of consciousness: one poller for any number of readers, no gap, no repeat, no growing buffer."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass

import structlog

from environment.errors import StoreUnavailable
from environment.messages import EntryKind, StreamEntry
from environment.ports import StreamLog
from orchestration.view.settings import TailSettings

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


class StreamTail:
    """Follows one mind's stream for many readers.

    Guarantees: a reader gets every entry once and in order, whatever its speed; one that is slow is not
    buffered but reads the log again from where it is; while nobody waits for an entry the store is left alone.
    A store that is unavailable makes readers wait, never end. ``close`` ends every reader.
    """

    def __init__(self, stream: StreamLog, settings: TailSettings | None = None) -> None:
        self._stream = stream
        self._settings = settings or TailSettings()
        self._recent: deque[StreamEntry] = deque(maxlen=self._settings.recent)
        self._head = 0
        self._moved = asyncio.Event()
        self._waiting = 0
        self._poller: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._closing = asyncio.Event()

    @property
    def waiting(self) -> int:
        """Readers that have seen everything and wait for the next entry."""
        return self._waiting

    @property
    def polling(self) -> bool:
        """Whether the store is being looked at."""
        return self._poller is not None and not self._poller.done()

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._closing.is_set()

    async def follow(self, from_seq: int = 0) -> AsyncGenerator[StreamEntry, None]:
        """Entries from ``from_seq`` on (0: only those after now) as they appear, until ``close``.

        A number beyond the head is waited for. Raises whatever the store raises, except ``StoreUnavailable``, which
        is waited out.
        """
        async with aclosing(self.batches(from_seq)) as batches:
            async for batch in batches:
                for entry in batch:
                    yield entry

    async def batches(self, from_seq: int = 0) -> AsyncGenerator[list[StreamEntry], None]:
        """The same as ``follow``, with what is there at once given together."""
        seq = from_seq if from_seq > 0 else await self.head() + 1
        while not self.closed:
            if seq == self._head + 1 and self.polling:  # the poller knows best: a hundred readers ask the log once
                await self._wait_for(seq)
            entries = await self._read(seq)
            if not entries:
                if self._head >= seq:  # seen by the poller while the read was under way
                    await asyncio.sleep(self._settings.fast)
                await self._wait_for(seq)
                continue
            seq = entries[-1].seq + 1
            yield entries

    async def head(self) -> int:
        """The number of the last entry there is now, once the store can be read; 0 where there is none."""
        while not self.closed:
            try:
                return await self._stream.head()
            except StoreUnavailable as error:
                await self._pause(error.retry_after)
        return 0

    async def close(self) -> None:
        """End every reader and the poller. May be called twice."""
        self._closing.set()
        self._wake()
        if self._poller is not None:
            self._poller.cancel()
            await asyncio.gather(self._poller, return_exceptions=True)

    async def _read(self, seq: int) -> list[StreamEntry]:
        """What there is from ``seq`` on: from memory where it reaches back far enough, else from the log."""
        if self._recent and self._recent[0].seq <= seq <= self._recent[-1].seq:
            first = self._recent[0].seq
            return [self._recent[i] for i in range(seq - first, len(self._recent))]
        while not self.closed:
            try:
                entries = await self._stream.read(seq, self._settings.batch)
            except StoreUnavailable as error:
                await self._pause(error.retry_after)
                continue
            return entries
        return []

    async def _wait_for(self, seq: int) -> None:
        """Return once the head may have reached ``seq``, or at ``close``."""
        self._waiting += 1
        try:
            while self._head < seq and not self.closed:
                if not self.polling:
                    self._failure = None
                    self._poller = asyncio.create_task(self._poll(), name="stream-tail")
                await self._moved.wait()
                if self._failure is not None:
                    raise self._failure
        finally:
            self._waiting -= 1

    async def _poll(self) -> None:
        pause, told = self._settings.fast, False
        while self._waiting:
            try:
                moved = await self._look()
            except StoreUnavailable as error:
                if not told:
                    _log.warning("stream_unavailable", reason=str(error), retry_after=error.retry_after)
                told = True
                await asyncio.sleep(max(error.retry_after, self._settings.idle))
                continue
            except Exception as error:  # noqa: BLE001 - handed on to every reader that waits
                self._failure = error
                self._wake()
                return
            told = False
            pause = self._settings.fast if moved else min(pause * self._settings.backoff, self._settings.idle)
            await asyncio.sleep(pause)

    async def _look(self) -> bool:
        """Bring head and memory up to date; whether there was anything new."""
        head = await self._stream.head()
        if head <= self._head:
            return False
        after = max(self._head, head - self._settings.batch)
        entries = await self._stream.read(after + 1, self._settings.batch)
        if entries:
            if self._recent and self._recent[-1].seq + 1 != entries[0].seq:
                self._recent.clear()
            self._recent.extend(entries)
            self._head = entries[-1].seq
        self._wake()
        return True

    def _wake(self) -> None:
        """Let everyone who waits now look again; later waiters wait for the next move."""
        self._moved.set()
        self._moved = asyncio.Event()

    async def _pause(self, seconds: float) -> None:
        """Wait for ``seconds`` or for ``close``, whichever comes first."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()
