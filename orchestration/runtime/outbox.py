"""Sending: one outbox for each peer an actor writes to."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict, deque
from collections.abc import MutableMapping
from contextlib import suppress
from pathlib import Path

import structlog

from actors.events import Event
from orchestration.runtime.frames import Batch, Frame, FrameProtocol, encode
from orchestration.runtime.settings import LinkSettings

_log = structlog.get_logger(__name__)


def address(directory: Path, name: str) -> str:
    """Where the actor called ``name`` is to be found: a name leads to whichever life it is in."""
    return str(directory / f"{name}.sock")


def backoff(attempt: int, first: float, most: float, chance: random.Random) -> float:
    """Seconds to wait before the next attempt, the first being number 0: doubling, half of it chance."""
    return min(most, first * 2.0 ** min(attempt, 30)) * (0.5 + 0.5 * chance.random())


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
        directory: Path,
        settings: LinkSettings,
        counters: MutableMapping[str, float],
        chance: random.Random,
    ) -> None:
        self._sender = sender
        self._life = life
        self._to = to
        self._path = address(directory, to)
        self._settings = settings
        self._counters = counters
        self._chance = chance
        self._waiting: deque[tuple[Event, float]] = deque()
        self._bell = asyncio.Event()
        self._emptied = asyncio.Event()
        self._sent = 0
        self._link: FrameProtocol | None = None
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
        batch = Batch(self._sender, self._life, self._sent + 1, events)
        self._sent += count
        data = encode(batch)
        if len(data) <= self._settings.frame_bytes:
            return data
        self._counters["messages_dropped_total"] += count
        self._counters["limit_hits:frame_bytes"] += 1
        _log.error("batch_too_large", to=self._to, bytes=len(data), limit=self._settings.frame_bytes, events=count)
        return None

    async def _connected(self) -> FrameProtocol:
        """A connection to whoever bears the peer's name now."""
        attempt = 0
        while True:
            if self._link is not None and self._link.open:
                return self._link
            try:
                _, self._link = await asyncio.get_running_loop().create_unix_connection(
                    lambda: FrameProtocol(self._settings.frame_bytes, _unasked), self._path
                )
            except OSError:
                if attempt == 0:
                    self._counters["peers_unreachable_total"] += 1
                await asyncio.sleep(backoff(attempt, self._settings.retry, self._settings.retry_most, self._chance))
                attempt += 1


def _unasked(_frame: Frame, link: FrameProtocol) -> None:
    """Nobody answers on an outbox's connection."""
    link.close()


class Outboxes:
    """All the outboxes of one actor."""

    def __init__(self, sender: str, life: str, directory: Path, settings: LinkSettings, chance: random.Random) -> None:
        self._sender, self._life, self._directory = sender, life, directory
        self._settings = settings
        self._chance = chance
        self._by_peer: dict[str, Outbox] = {}
        self.counters: defaultdict[str, float] = defaultdict(float)
        """Drops and the like, by metric name."""

    @property
    def waiting(self) -> int:
        """Events that wait for any peer."""
        return sum(len(outbox) for outbox in self._by_peer.values())

    def put(self, to: str, event: Event, priority: float) -> None:
        """Send an event to a peer. Neither fails nor waits."""
        outbox = self._by_peer.get(to)
        if outbox is None:
            outbox = Outbox(self._sender, self._life, to, self._directory, self._settings, self.counters, self._chance)
            self._by_peer[to] = outbox
        outbox.put(event, priority)

    async def close(self, within: float = 0.0) -> None:
        """Send what waits, for ``within`` seconds at most, and end."""
        await asyncio.gather(*(outbox.close(within) for outbox in self._by_peer.values()))
