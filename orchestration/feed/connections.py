"""HTTP connections within their bounds: uvicorn's own wait for ever for the head of a request."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from orchestration.feed.settings import FeedSettings


@dataclass
class _Bounds:
    """What the connections of one server share."""

    settings: FeedSettings
    limit_hit: Callable[[str], None]
    idle: OrderedDict[_Connection, None] = field(default_factory=OrderedDict)
    """Those with no request under way, the longest so first."""


class _Connection(H11Protocol):
    """Closed when the head of a request takes too long, or when its place is needed and nothing is under way on it."""

    def __init__(self, bounds: _Bounds, **given: Any) -> None:
        super().__init__(**given)
        self._bounds = bounds
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        bounds = self._bounds
        if len(self.connections) > bounds.settings.connections:
            bounds.limit_hit("feed.connections")
            oldest = next(iter(bounds.idle), self)
            oldest.give_up()
            if oldest is self:
                return
        self._look()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look(waits=True)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._bounds.idle.pop(self, None)
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Hang up."""
        self._bounds.idle.pop(self, None)
        self.transport.abort()

    def _look(self, *, waits: bool = False) -> None:
        """Begin to wait for a request, or end it. ``waits``: for its first byte, which has a time of its own."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
            self._bounds.idle.pop(self, None)
            return
        self._bounds.idle.setdefault(self, None)
        if waits:
            self._stop_waiting()
        elif self._patience is None:
            self._patience = self.loop.call_later(self._bounds.settings.header_timeout, self._too_slow)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _too_slow(self) -> None:
        self._bounds.limit_hit("feed.header_timeout")
        self.give_up()


def connections_of(settings: FeedSettings, limit_hit: Callable[[str], None]) -> Any:
    """What makes the connections of one server."""
    return partial(_Connection, _Bounds(settings, limit_hit))
