"""Many requests at once: when one is answered the driver's own thread sends the next, and the loop hears of the end."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from cassandra.cluster import ResponseFuture


class Burst:
    """Requests 0 to ``count`` - 1, sent in that order; use ``run`` once.

    Guarantees: at most ``width`` are with the driver; none is sent after one has failed, or after ``run`` was
    cancelled; ``ended`` is called on the loop once the driver is done with all that were sent.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, send: Callable[[int], ResponseFuture], count: int, width: int
    ) -> None:
        self._loop = loop
        self._send = send
        self._numbers = iter(range(count))
        self._lock = threading.Lock()
        self._open = width
        self._stopped = False
        self._done: asyncio.Future[None] = loop.create_future()
        self._ended: Callable[[], None] = lambda: None
        self.answers: dict[int, list[Any]] = {}
        """Rows by number; an answer of several pages is left out."""
        self.failures: list[Exception] = []
        """What the driver said of those that failed."""

    async def run(self, ended: Callable[[], None]) -> None:
        """Send all; returns when all that were sent are answered. Never raises what the driver did."""
        self._ended = ended
        for _ in range(self._open):
            self._next()
        try:
            await self._done
        finally:
            self._stopped = True

    def _next(self) -> None:
        """Send one more, or close this one of the ways. On the loop's thread at first, then on the driver's."""
        number = None if self._stopped or self.failures else next(self._numbers, None)
        if number is None:
            self._close()
            return
        try:
            request = self._send(number)
        except Exception as error:  # noqa: BLE001 - told in ``failures``
            self._failed(error)
            return
        request.add_callbacks(self._answered, self._failed, callback_args=(number, request))

    def _answered(self, rows: list[Any] | None, number: int, request: ResponseFuture) -> None:
        if not request.has_more_pages:
            self.answers[number] = rows or []
        self._next()

    def _failed(self, error: Exception) -> None:
        self.failures.append(error)
        self._close()

    def _close(self) -> None:
        with self._lock:
            self._open -= 1
            last = not self._open
        if last:
            try:
                self._loop.call_soon_threadsafe(self._settle)
            except RuntimeError:  # the loop has ended: nobody waits
                return

    def _settle(self) -> None:
        self._ended()
        if not self._done.done():
            self._done.set_result(None)
