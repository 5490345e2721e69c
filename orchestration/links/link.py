"""Sending: one link to each process that somebody here writes to."""

import asyncio
import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import islice

import structlog

from orchestration.backoff import backoff
from orchestration.links.addresses import Endpoint
from orchestration.links.codec import encode
from orchestration.links.connection import FrameConnection, LinkContext, call
from orchestration.links.frames import Batch, Delivery, Frame, Full, Received
from orchestration.links.outbox import Outbox
from orchestration.tasks import log_failure

_log = structlog.get_logger(__name__)


@dataclass(eq=False, repr=False)
class Link:
    """Takes events out of outboxes and to one other process, many at a time.

    Guarantees: at most once, and in order for each receiver; at most ``window`` events are on their way, that is
    written and not yet received; nothing is written for who has no room. What was on its way when a connection broke
    may or may not have arrived: it is not written again, and counted as unconfirmed. ``taken`` is called when an
    outbox was emptied, or partly, with the number of events that are gone from it.
    """

    endpoint: Endpoint
    _process: str
    _life: str
    _context: LinkContext
    _chance: random.Random
    _counters: MutableMapping[str, float]
    _taken: Callable[[str, Outbox, int], None]

    def __post_init__(self) -> None:
        self._settings = self._context.settings
        self._ready: OrderedDict[str, Outbox] = OrderedDict()
        self._held: dict[str, Outbox] = {}
        """What waits for who has no room."""
        self._full: set[str] = set()
        self._bell = asyncio.Event()
        """Rung by whatever may let something be written: mail, room, what was received, a connection lost or clear."""
        self._sent = self._received = 0
        self._written_at = -1.0
        self._connection: FrameConnection | None = None
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
            self._task.add_done_callback(log_failure)

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
            room = self._settings.window - (self._sent - self._received)
            if connection is None or room <= 0 or not connection.writable:
                await self._bell.wait()
            elif (pause := self._written_at + self._settings.linger - loop.time()) > 0 and not self._many:
                await asyncio.sleep(pause)
            else:
                self._write(connection, min(self._settings.batch, room))
                self._written_at = loop.time()
                await asyncio.sleep(0)

    @property
    def _many(self) -> bool:
        """Whether enough waits for a whole batch."""
        most = self._settings.batch
        return sum(len(outbox) for outbox in islice(self._ready.values(), most)) >= most

    def _write(self, connection: FrameConnection, room: int) -> None:
        deliveries: list[Delivery] = []
        while self._ready and room > 0:
            to, outbox = self._ready.popitem(last=False)
            envelopes = outbox.take(room)
            room -= len(envelopes)
            if envelopes:
                deliveries.append((to, envelopes))
            if len(outbox):
                self._ready[to] = outbox  # at the end of the queue
            self._taken(to, outbox, len(envelopes))
        if deliveries:
            self._put(connection, deliveries)

    def _put(self, connection: FrameConnection, deliveries: Sequence[Delivery]) -> None:
        """Write it in as few batches as hold it: an event that cannot be written takes no other along."""
        batch = Batch(self._process, self._life, self._sent + 1, deliveries)
        limit, fault = self._settings.frame_bytes, ""
        try:
            data = encode(batch)
            if len(data) <= limit:
                self._sent += len(batch)
                connection.write(data)
                return
        except (TypeError, ValueError) as error:
            fault = str(error)
        each = [(to, [envelope]) for to, envelopes in deliveries for envelope in envelopes]
        if len(each) > 1:
            middle = len(each) // 2
            self._put(connection, each[:middle])
            self._put(connection, each[middle:])
            return
        self._counters["messages_dropped_total"] += 1
        if fault:
            _log.error("event_not_written", to=each[0][0], reason=fault)
        else:
            self._counters["limit_hits:frame_bytes"] += 1
            _log.error("event_too_large", to=each[0][0], bytes=len(data), limit=limit)

    async def _connected(self) -> FrameConnection:
        """A connection to the process, however long that takes."""
        attempt = 0
        while self._connection is None or not self._connection.open:
            self._forget_connection()
            try:
                self._connection = await call(self.endpoint, self._context, self._heard, self._lost, self._bell.set)
            except OSError:
                if attempt == 0:
                    self._counters["peers_unreachable_total"] += 1
                await asyncio.sleep(backoff(attempt, self._settings.retry, self._settings.retry_most, self._chance))
                attempt += 1
        return self._connection

    def _forget_connection(self) -> None:
        """What it did not confirm never will be, and who had no room says so anew."""
        self._connection = None
        self._counters["messages_unconfirmed_total"] += self._sent - self._received
        self._received = self._sent
        self._turn((), tuple(self._full))

    def _lost(self, connection: FrameConnection) -> None:
        if connection is self._connection:
            self._forget_connection()
            self._bell.set()

    def _heard(self, frame: Frame, connection: FrameConnection) -> None:
        match frame:
            case Received(through) if self._received <= through <= self._sent:
                self._received = through
            case Full(names, relieved, whole):
                self._turn(names, self._full.difference(names) if whole else relieved)
            case _:
                connection.abort()  # nobody says anything else on it
        self._bell.set()

    def _turn(self, full: Iterable[str], relieved: Iterable[str]) -> None:
        """Some have no room: nothing is written for them. Others have room again."""
        self._full.update(full)
        self._full.difference_update(relieved)
        for names, before, after in ((full, self._ready, self._held), (relieved, self._held, self._ready)):
            for name in names:
                if (outbox := before.pop(name, None)) is not None:
                    after[name] = outbox
