"""Sending: one link to each process that somebody here writes to."""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from itertools import islice

import structlog

from orchestration.backoff import backoff
from orchestration.links.addresses import Endpoint
from orchestration.links.codec import encode
from orchestration.links.connection import Connection, Here, call
from orchestration.links.frames import Batch, Frame, Full, Parcel, Received
from orchestration.links.outbox import Outbox

_log = structlog.get_logger(__name__)


class Link:
    """Takes events out of outboxes and to one other process, many at a time.

    Guarantees: at most once, and in order for each receiver; at most ``window`` events are on their way, that is
    written and not yet received; nothing is written for who has no room. What was on its way when a connection broke
    may or may not have arrived: it is not written again, and counted as unconfirmed. ``taken`` is called when an
    outbox was emptied, or partly, with the number of events that are gone from it.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        process: str,
        life: str,
        here: Here,
        chance: random.Random,
        counters: MutableMapping[str, float],
        taken: Callable[[str, Outbox, int], None],
    ) -> None:
        self.endpoint = endpoint
        self._process, self._life = process, life
        self._here = here
        self._settings = here.settings
        self._chance = chance
        self._counters = counters
        self._taken = taken
        self._ready: OrderedDict[str, Outbox] = OrderedDict()
        self._held: dict[str, Outbox] = {}
        self._full: set[str] = set()
        self._bell = asyncio.Event()
        self._sent = 0
        self._received = 0
        self._written_at = -1.0
        self._connection: Connection | None = None
        self._task: asyncio.Task[None] | None = None

    def put(self, to: str, outbox: Outbox) -> None:
        """Something waits for ``to`` in its outbox, which may be said more than once."""
        if to in self._full:
            self._held[to] = outbox
            return
        self._ready[to] = outbox
        self._bell.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"link-{self.endpoint.path}")
            self._task.add_done_callback(_ended)

    def leave(self, to: str) -> None:
        """What waits for ``to`` is none of this link's business any more."""
        self._ready.pop(to, None)
        self._held.pop(to, None)

    def close(self) -> None:
        """End it. What waits stays in the outboxes."""
        if self._task is not None:
            self._task.cancel()
        if self._connection is not None:
            self._connection.close()
        self._forget_connection()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._bell.clear()
            connection = await self._connected() if self._ready else None
            if connection is None:
                await self._bell.wait()
            elif self._sent - self._received >= self._settings.window or not connection.writable:
                await self._bell.wait()  # rung by what was received, and by a connection that is lost or clear again
            elif (pause := self._written_at + self._settings.linger - loop.time()) > 0 and not self._many:
                await asyncio.sleep(pause)
            else:
                self._write(connection)
                self._written_at = loop.time()
                await asyncio.sleep(0)

    @property
    def _many(self) -> bool:
        """Whether enough waits for a whole batch."""
        most = self._settings.batch
        return sum(len(outbox) for outbox in islice(self._ready.values(), most)) >= most

    def _write(self, connection: Connection) -> None:
        room = min(self._settings.batch, self._settings.window - (self._sent - self._received))
        parcels: list[Parcel] = []
        count = 0
        while self._ready and count < room:
            to, outbox = self._ready.popitem(last=False)
            letters = outbox.take(room - count)
            count += len(letters)
            if letters:
                parcels.append((to, letters))
            if len(outbox):
                self._ready[to] = outbox  # at the end of the queue
            self._taken(to, outbox, len(letters))
        if parcels:
            self._put(connection, parcels)

    def _put(self, connection: Connection, parcels: Sequence[Parcel]) -> None:
        """Write it in as few batches as hold it: an event that cannot be written takes no other along."""
        batch = Batch(self._process, self._life, self._sent + 1, parcels)
        to, count, limit = parcels[0][0], len(batch), self._settings.frame_bytes
        data, fault = b"", ""
        try:
            data = encode(batch)
        except (TypeError, ValueError) as error:
            fault = str(error)
        if not fault and len(data) <= limit:
            self._sent += count
            connection.write(data)
        elif count > 1:
            for half in _halves(parcels):
                self._put(connection, half)
        else:
            self._counters["messages_dropped_total"] += 1
            if fault:
                _log.error("event_not_written", to=to, reason=fault)
            else:
                self._counters["limit_hits:frame_bytes"] += 1
                _log.error("event_too_large", to=to, bytes=len(data), limit=limit)

    async def _connected(self) -> Connection:
        """A connection to the process, however long that takes."""
        attempt = 0
        while True:
            if self._connection is not None and self._connection.open:
                return self._connection
            self._forget_connection()
            try:
                self._connection = await call(self.endpoint, self._here, self._heard, self._lost, self._bell.set)
            except OSError:
                if attempt == 0:
                    self._counters["peers_unreachable_total"] += 1
                pause = backoff(attempt, self._settings.retry, self._settings.retry_most, self._chance)
                await asyncio.sleep(pause)
                attempt += 1

    def _forget_connection(self) -> None:
        """What it did not confirm never will be, and who had no room says so anew."""
        self._connection = None
        self._counters["messages_unconfirmed_total"] += self._sent - self._received
        self._received = self._sent
        self._let_go(tuple(self._full))

    def _lost(self, connection: Connection) -> None:
        if connection is self._connection:
            self._forget_connection()
            self._bell.set()

    def _heard(self, frame: Frame, connection: Connection) -> None:
        if isinstance(frame, Received) and self._received <= frame.through <= self._sent:
            self._received = frame.through
        elif isinstance(frame, Full):
            self._let_go(self._full.difference(frame.names) if frame.whole else frame.relieved)
            self._hold(frame.names)
        else:
            connection.abort()  # nobody says anything else on it
        self._bell.set()

    def _hold(self, names: Iterable[str]) -> None:
        """They have no room: nothing is written for them."""
        self._full.update(names)
        for name in names:
            if (outbox := self._ready.pop(name, None)) is not None:
                self._held[name] = outbox

    def _let_go(self, names: Iterable[str]) -> None:
        """They have room again."""
        self._full.difference_update(names)
        for name in names:
            if (outbox := self._held.pop(name, None)) is not None:
                self._ready[name] = outbox


def _ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("link_failed", exc_info=error)


def _halves(parcels: Sequence[Parcel]) -> Iterator[Sequence[Parcel]]:
    if len(parcels) > 1:
        middle = len(parcels) // 2
        yield parcels[:middle]
        yield parcels[middle:]
    else:
        ((to, letters),) = parcels
        middle = len(letters) // 2
        yield [(to, letters[:middle])]
        yield [(to, letters[middle:])]
