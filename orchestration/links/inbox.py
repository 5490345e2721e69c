"""Receiving: what arrives at a process goes to the actors that live in it, in each sender's order."""

import asyncio
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Protocol

import structlog

from environment.latest import Latest
from orchestration.links.codec import encode
from orchestration.links.connection import FrameConnection
from orchestration.links.frames import Batch, Configure, Envelope, Frame, Full, Ping, Pong, Received, Stop
from orchestration.settings import SettingsUpdate

_log = structlog.get_logger(__name__)
_REMEMBERED = 65_536
"""Processes whose numbers are known; of more than that the one that was silent for longest is forgotten."""


class HostedActor(Protocol):
    """An actor, as the links of its process know it. None of these may wait or fail."""

    def deliver(self, envelopes: Sequence[Envelope]) -> bool:
        """Take mail in: events with their priorities. Whether there is room for more.

        Who has none is sent no more until ``Links.relieved`` says that it has again, but gets what is on its way.
        """

    def configure(self, event: SettingsUpdate) -> None:
        """Settings were changed."""

    def health(self) -> Mapping[str, float]:
        """How it is."""

    def stop(self) -> None:
        """It shall finish what it began, save and end."""


class Inbox:
    """Hands over what arrives, and tells all that send here who has no room for more.

    Guarantee: a batch that was handed over before is not handed over again within one life of its link.
    """

    def __init__(self, counters: MutableMapping[str, float]) -> None:
        self.hosted: dict[str, HostedActor] = {}
        """Who lives here, by name."""
        self.full: set[str] = set()
        """Who of them has no room for more."""
        self._counters = counters
        self._untold: set[str] = set()
        """Whose room has changed since senders were told."""
        self._seen = Latest[str, tuple[str, int]](_REMEMBERED)
        self._senders: set[FrameConnection] = set()

    def receive(self, frame: Frame, connection: FrameConnection) -> None:
        """Do what a frame asks for."""
        match frame:
            case Batch():
                self._on_batch(frame, connection)
            case Ping(to) if to in self.hosted:
                connection.write(encode(Pong(to, dict(self.hosted[to].health()))))
            case Stop(to) if to in self.hosted:
                self.hosted[to].stop()
            case Configure(to, event) if to in self.hosted:
                self.hosted[to].configure(event)
            case _:
                _log.warning("frame_unasked", frame=type(frame).__name__)

    def hand_over(self, name: str, envelopes: Sequence[Envelope]) -> None:
        """Give events to an actor that lives here, or did so a moment ago."""
        hosted = self.hosted.get(name)
        if hosted is None:
            self._counters["messages_dropped_total"] += len(envelopes)
            self._counters["messages_astray_total"] += len(envelopes)
        elif not hosted.deliver(envelopes) and name not in self.full:
            self.full.add(name)
            self._counters["held_back_total"] += 1
            self._room_changed(name)

    def relieved(self, name: str) -> None:
        """An actor has room again."""
        if name in self.full:
            self.full.remove(name)
            self._room_changed(name)

    def forget(self, name: str) -> None:
        """An actor has gone."""
        self.hosted.pop(name, None)
        self.relieved(name)

    def lost(self, connection: FrameConnection) -> None:
        """Nobody is at the other end any more."""
        self._senders.discard(connection)

    def _room_changed(self, name: str) -> None:
        """Tell all that send here, once for all changes of one turn of the event loop."""
        if not self._untold:
            asyncio.get_running_loop().call_soon(self._tell_full)
        self._untold.add(name)

    def _tell_full(self) -> None:
        untold, self._untold = self._untold, set()
        if not untold:
            return  # it was said already
        data = encode(Full(tuple(untold & self.full), tuple(untold - self.full)))
        for connection in tuple(self._senders):
            connection.write(data)

    def _on_batch(self, batch: Batch, connection: FrameConnection) -> None:
        if connection not in self._senders:
            self._senders.add(connection)
            if self.full:
                connection.write(encode(Full(tuple(self.full), whole=True)))
        through = batch.first + len(batch) - 1
        life, last = self._seen.get(batch.process, ("", 0))
        if life != batch.life:
            last = 0
        elif batch.first > last:
            self._counters["messages_lost_total"] += batch.first - last - 1
        if batch.first <= last:
            self._counters["messages_doubled_total"] += len(batch)
            return
        self._seen[batch.process] = (batch.life, through)
        for name, envelopes in batch.deliveries:
            self.hand_over(name, envelopes)
        self._tell_full()  # before the window opens again, or as much once more is written for who has no room
        connection.write(encode(Received(through)))
