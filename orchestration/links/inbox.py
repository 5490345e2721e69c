"""Receiving: what arrives at a process goes to the actors that live in it, in each sender's order."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Protocol

import structlog

from actors.events import Configured, Event
from orchestration.links.connection import Connection
from orchestration.links.frames import Batch, Configure, Frame, Ping, Pong, Stop, encode

_log = structlog.get_logger(__name__)


class Resident(Protocol):
    """An actor, as the links of its process know it. None of these may wait or fail."""

    def deliver(self, events: Sequence[tuple[Event, float]]) -> None:
        """Take mail in: events with their priorities."""
        ...

    def configure(self, event: Configured) -> None:
        """Settings were changed."""
        ...

    def health(self) -> Mapping[str, float]:
        """How it is."""
        ...

    def stop(self) -> None:
        """It shall finish what it began, save and end."""
        ...


class Inbox:
    """Hands over what arrives.

    Guarantee: a batch that was handed over before is not handed over again within one life of its sender.
    """

    def __init__(self, counters: MutableMapping[str, float]) -> None:
        self.residents: dict[str, Resident] = {}
        """Who lives here, by name."""
        self._counters = counters
        self._seen: dict[tuple[str, str], tuple[str, int]] = {}

    def receive(self, frame: Frame, connection: Connection) -> None:
        """Do what a frame asks for."""
        match frame:
            case Batch():
                self._on_batch(frame)
            case Ping(to) if to in self.residents:
                connection.write(encode(Pong(to, dict(self.residents[to].health()))))
            case Stop(to) if to in self.residents:
                self.residents[to].stop()
            case Configure(to, event) if to in self.residents:
                self.residents[to].configure(event)
            case _:
                _log.warning("frame_unasked", frame=type(frame).__name__)

    def forget(self, name: str) -> None:
        """An actor has gone: what is numbered for it begins anew where it comes back."""
        self.residents.pop(name, None)
        for key in [key for key in self._seen if key[1] == name]:
            del self._seen[key]

    def _on_batch(self, batch: Batch) -> None:
        resident = self.residents.get(batch.to)
        if resident is None:
            self._counters["messages_dropped_total"] += len(batch.events)
            self._counters["messages_astray_total"] += len(batch.events)
            return
        key = batch.sender, batch.to
        life, last = self._seen.get(key, ("", 0))
        if life != batch.life:
            last = 0
        if batch.first <= last:
            self._counters["messages_doubled_total"] += len(batch.events)
            return
        if life == batch.life and batch.first > last + 1:
            self._counters["messages_lost_total"] += batch.first - last - 1
        self._seen[key] = (batch.life, batch.first + len(batch.events) - 1)
        resident.deliver(batch.events)
