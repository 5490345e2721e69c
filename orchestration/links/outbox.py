"""Sending: one outbox for each peer an actor writes to."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import MutableMapping
from contextlib import suppress

import structlog

from actors.events import Event
from orchestration.backoff import backoff
from orchestration.links.addresses import AddressBook, Endpoint
from orchestration.links.connection import Connection, Here, call
from orchestration.links.frames import Batch, Frame, encode

_log = structlog.get_logger(__name__)


class Outbox:
    """Events on their way from one actor to another.

    Guarantees: at most once and in order; at most ``outbox`` events wait, a newcomer beyond that is dropped and
    counted. A peer that is away is looked up by its name again and again, with growing pauses. What was written when
    a connection broke may or may not have arrived: it is not written again.
    """

    def __init__(
        self,
        sender: str,
        life: str,
        to: str,
        book: AddressBook,
        here: Here,
        counters: MutableMapping[str, float],
        chance: random.Random,
    ) -> None:
        self._sender = sender
        self._life = life
        self._to = to
        self._book = book
        self._here = here
        self._settings = here.settings
        self._counters = counters
        self._chance = chance
        self._waiting: deque[tuple[Event, float]] = deque()
        self._bell = asyncio.Event()
        self._emptied = asyncio.Event()
        self._sent = 0
        self._link: Connection | None = None
        self._endpoint: Endpoint | None = None
        self._task: asyncio.Task[None] | None = None
        self._full = False

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, event: Event, priority: float) -> None:
        """Send an event as soon as may be. Neither fails nor waits."""
        if len(self._waiting) >= self._settings.outbox:
            self._counters["messages_dropped_total"] += 1
            self._counters["limit_hits:outbox"] += 1
            if not self._full:
                _log.warning("outbox_full", to=self._to, limit=self._settings.outbox)
            self._full = True
            return
        self._full = False
        self._waiting.append((event, priority))
        self._bell.set()
        self._emptied.clear()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"outbox-{self._to}")

    async def close(self, within: float = 0.0) -> None:
        """Send what waits, for ``within`` seconds at most, and end."""
        if self._task is None:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._emptied.wait(), within)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._link is not None:
            self._link.close()

    async def _run(self) -> None:
        while True:
            await self._bell.wait()
            self._bell.clear()
            if len(self._waiting) < self._settings.batch:
                await asyncio.sleep(self._settings.linger)
            while self._waiting:
                link = await self._connected()
                data = self._next()
                if data is not None:
                    link.write(data)
                await link.drained()
            self._emptied.set()

    def _next(self) -> bytes | None:
        """The next batch, encoded; None when there is nothing to send or it is too large."""
        count = min(self._settings.batch, len(self._waiting))
        events = tuple(self._waiting.popleft() for _ in range(count))
        if not events:
            return None
        batch = Batch(self._to, self._sender, self._life, self._sent + 1, events)
        self._sent += count
        data = encode(batch)
        if len(data) <= self._settings.frame_bytes:
            return data
        self._counters["messages_dropped_total"] += count
        self._counters["limit_hits:frame_bytes"] += 1
        _log.error("batch_too_large", to=self._to, bytes=len(data), limit=self._settings.frame_bytes, events=count)
        return None

    async def _connected(self) -> Connection:
        """A connection to where the peer is now."""
        attempt = 0
        while True:
            endpoint = self._book.find(self._to)
            if self._link is not None:
                if self._link.open and endpoint == self._endpoint:
                    return self._link
                self._link.close()
                self._link = None
            if endpoint is None:
                await self._book.changed(self._to)
                continue
            try:
                self._link, self._endpoint = await call(endpoint, self._here, _unasked), endpoint
            except OSError:
                if attempt == 0:
                    self._counters["peers_unreachable_total"] += 1
                pause = backoff(attempt, self._settings.retry, self._settings.retry_most, self._chance)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._book.changed(self._to), pause)
                attempt += 1


def _unasked(_frame: Frame, link: Connection) -> None:
    """Nobody answers on an outbox's connection."""
    link.close()


class Outboxes:
    """All the outboxes of one process."""

    def __init__(
        self,
        sender: str,
        life: str,
        book: AddressBook,
        here: Here,
        chance: random.Random,
        counters: MutableMapping[str, float],
    ) -> None:
        self._sender, self._life = sender, life
        self._book = book
        self._here = here
        self._chance = chance
        self._counters = counters
        self._by_peer: dict[str, Outbox] = {}

    @property
    def waiting(self) -> int:
        """Events that wait for any peer."""
        return sum(len(outbox) for outbox in self._by_peer.values())

    def put(self, to: str, event: Event, priority: float) -> None:
        """Send an event to a peer. Neither fails nor waits."""
        outbox = self._by_peer.get(to)
        if outbox is None:
            outbox = Outbox(self._sender, self._life, to, self._book, self._here, self._counters, self._chance)
            self._by_peer[to] = outbox
        outbox.put(event, priority)

    async def close(self, within: float = 0.0) -> None:
        """Send what waits, for ``within`` seconds at most, and end."""
        await asyncio.gather(*(outbox.close(within) for outbox in self._by_peer.values()))
