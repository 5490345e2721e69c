"""HTTP connections within their bounds: uvicorn's own wait for ever for the head of a request."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from orchestration.feed.connection_limiter import ConnectionLimiter

UNTIL = "connection_until"
"""In the state of a request: the time of the event loop after which its connection is to be closed."""


class _Connection(H11Protocol):
    """Closed when the head of a request takes too long; tells its limiter whether a request is under way.

    Requests find in their state until when this connection lasts (``UNTIL``), where it does not last for ever.
    """

    def __init__(
        self,
        limiter: ConnectionLimiter,
        patience: float,
        too_slow: Callable[[], None],
        lasts: Callable[[], float | None],
        **given: Any,
    ) -> None:
        super().__init__(**given)
        if (seconds := lasts()) is not None:
            self.app_state = {**self.app_state, UNTIL: self.loop.time() + seconds}
        self._limiter = limiter
        self._patience = patience
        self._was_slow = too_slow
        self._waiting: asyncio.TimerHandle | None = None
        self._fd = -1

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        held = transport.get_extra_info("socket")
        self._fd = held.fileno() if held is not None else -1
        self._look()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look(waits=True)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _look(self, *, waits: bool = False) -> None:
        """Begin to wait for a request, or end it. ``waits``: for its first byte, which has a time of its own."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
            self._limiter.works(self._fd)
            return
        self._limiter.rests(self._fd)
        if waits:
            self._stop_waiting()
        elif self._waiting is None and not self.transport.is_closing():
            self._waiting = self.loop.call_later(self._patience, self._too_slow)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _too_slow(self) -> None:
        self._was_slow()
        self.transport.abort()


def connections_of(
    limiter: ConnectionLimiter, patience: float, too_slow: Callable[[], None], lasts: Callable[[], float | None]
) -> Any:
    """What makes the connections that a limiter lets in.

    ``patience``: seconds for the head of a request; ``lasts``: seconds that one lasts, None for ever.
    """
    return partial(_Connection, limiter, patience, too_slow, lasts)
