"""What one process sends: to actors that live in it, to those elsewhere, and to those that are nowhere for now."""

import asyncio
import random
from collections.abc import Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass

import structlog

from actors.events import Event
from orchestration.links.addresses import AddressBook, Endpoint
from orchestration.links.connection import LinkContext
from orchestration.links.inbox import Inbox
from orchestration.links.link import Link
from orchestration.links.outbox import Outbox

_log = structlog.get_logger(__name__)


@dataclass(eq=False, repr=False)
class Outboxes:
    """An outbox for each peer that something waits for, and a link to each process that such a peer lives in.

    Guarantees: at most once, in order from here to each peer while it does not move; bounded for each peer and
    altogether, the least important goes first and is counted. Nothing is sent to who has no room. Who is nowhere for
    longer than ``away`` gets nothing of what waited.
    """

    _process: str
    _life: str
    _book: AddressBook
    _context: LinkContext
    _chance: random.Random
    _counters: MutableMapping[str, float]
    _inbox: Inbox

    def __post_init__(self) -> None:
        self._settings = self._context.settings
        self._by_peer: dict[str, Outbox] = {}
        self._links: dict[Endpoint, Link] = {}
        self._link_of: dict[str, Link] = {}
        self._number = 0
        self._away: dict[str, asyncio.TimerHandle] = {}
        self._inside: dict[str, Outbox] = {}
        self._emptied = asyncio.Event()
        self._warned: set[str] = set()
        self.waiting = 0
        """Events that wait for any peer."""

    def put(self, to: str, event: Event, priority: float) -> None:
        """Send an event to a peer. Neither fails nor waits."""
        outbox = self._by_peer.get(to)
        if outbox is None:
            outbox = self._by_peer[to] = Outbox(self._settings.outbox)
        empty = not len(outbox)
        room = self.waiting < self._settings.outboxes
        if outbox.put(event, priority, room=room):
            self.waiting += 1
            if empty:
                self._route(to, outbox)
            return
        if not len(outbox):
            del self._by_peer[to]
        self._counters["messages_dropped_total"] += 1
        self._counters["limit_hits:outbox" if room else "limit_hits:outboxes"] += 1
        if to not in self._warned:
            self._warned.add(to)
            _log.warning("outbox_full", to=to, waiting=len(outbox), waiting_in_all=self.waiting)

    def route(self, names: Iterable[str]) -> None:
        """These came, went or have room again: look anew for where their mail goes."""
        for name in names:
            outbox = self._by_peer.get(name)
            if outbox is not None:
                self._unroute(name)
                self._route(name, outbox)

    def readdress(self, names: Iterable[str]) -> None:
        """The book says something else of these now."""
        self.route(names)
        for endpoint in self._links.keys() - self._book.values():
            self._links.pop(endpoint).close()

    async def close(self, within: float = 0.0) -> None:
        """Send what waits, for ``within`` seconds at most, and end."""
        if self.waiting:
            self._emptied.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self._emptied.wait()
        for timer in self._away.values():
            timer.cancel()
        for link in self._links.values():
            link.close()
        self._links.clear()

    def _route(self, to: str, outbox: Outbox) -> None:
        """See to it that what waits for a peer gets on its way."""
        loop = asyncio.get_running_loop()
        if to in self._inbox.hosted:
            if to not in self._inbox.full:
                if not self._inside:
                    loop.call_soon(self._hand_over)
                self._inside[to] = outbox
            return
        endpoint = self._book.get(to)
        if endpoint is None:
            self._away[to] = loop.call_later(self._settings.away, self._give_up, to)
            return
        link = self._links.get(endpoint)
        if link is None:
            self._number += 1
            life = f"{self._life}.{self._number}"
            link = Link(endpoint, self._process, life, self._context, self._chance, self._counters, self._taken)
            self._links[endpoint] = link
        self._link_of[to] = link
        link.put(to, outbox)

    def _unroute(self, to: str) -> None:
        self._inside.pop(to, None)
        if (timer := self._away.pop(to, None)) is not None:
            timer.cancel()
        if (link := self._link_of.pop(to, None)) is not None:
            link.leave(to)

    def _hand_over(self) -> None:
        """Give to actors of this process what waits for them, a batch each."""
        inside, self._inside = self._inside, {}
        for name, outbox in inside.items():
            envelopes = outbox.take(self._settings.batch)
            self._inbox.hand_over(name, envelopes)
            self._taken(name, outbox, len(envelopes))
            if len(outbox):
                self._route(name, outbox)

    def _taken(self, to: str, outbox: Outbox, count: int) -> None:
        self.waiting -= count
        if not len(outbox) and self._by_peer.get(to) is outbox:
            del self._by_peer[to]
            self._link_of.pop(to, None)
            self._warned.discard(to)
            if not self.waiting:
                self._emptied.set()

    def _give_up(self, to: str) -> None:
        """Who was nowhere for so long is not waited for."""
        del self._away[to]
        outbox = self._by_peer[to]
        count = len(outbox.take(len(outbox)))
        self._counters["messages_dropped_total"] += count
        self._counters["limit_hits:away"] += 1
        _log.warning("peer_given_up", to=to, events=count)
        self._taken(to, outbox, count)
