"""Receiving: the socket at which an actor is found under its name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path

import structlog

from actors.events import Configured
from orchestration.runtime.frames import Batch, Configure, Frame, FrameProtocol, Ping, Pong, Stop, encode
from orchestration.runtime.outbox import address

_log = structlog.get_logger(__name__)


class Inbox:
    """Listens under an actor's name and hands over what arrives, in each sender's order.

    Guarantee: a batch that was handed over before is not handed over again within one life of its sender.
    """

    def __init__(
        self,
        name: str,
        directory: Path,
        largest: int,
        *,
        deliver: Callable[[Batch], None],
        stop: Callable[[], None],
        health: Callable[[], Mapping[str, float]],
        counters: MutableMapping[str, float],
        configure: Callable[[Configured], None] | None = None,
    ) -> None:
        self._name = name
        self._path = Path(address(directory, name))
        self._largest = largest
        self._deliver = deliver
        self._stop = stop
        self._health = health
        self._counters = counters
        self._configure = configure
        self._seen: dict[str, tuple[str, int]] = {}
        self._links: set[FrameProtocol] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Take the name over from whoever had it before: connections to a former life have ended with it."""
        with suppress(FileNotFoundError):
            self._path.unlink()
        self._server = await asyncio.get_running_loop().create_unix_server(self._accept, str(self._path))

    async def close(self) -> None:
        """Stop listening and end every connection."""
        if self._server is None:
            return
        self._server.close()
        for link in tuple(self._links):
            link.close()
        with suppress(FileNotFoundError):
            self._path.unlink()

    def _accept(self) -> FrameProtocol:
        link = FrameProtocol(self._largest, self._on_frame, self._links.discard)
        self._links.add(link)
        return link

    def _on_frame(self, frame: Frame, link: FrameProtocol) -> None:
        match frame:
            case Batch():
                self._on_batch(frame)
            case Ping():
                link.write(encode(Pong(self._name, dict(self._health()))))
            case Stop():
                self._stop()
            case Configure():
                if self._configure is not None:
                    self._configure(frame.event)
            case Pong():
                _log.warning("pong_unasked", sender=frame.name)

    def _on_batch(self, batch: Batch) -> None:
        life, last = self._seen.get(batch.sender, ("", 0))
        if life != batch.life:
            last = 0
        if batch.first <= last:
            self._counters["messages_doubled_total"] += len(batch.events)
            return
        if life == batch.life and batch.first > last + 1:
            self._counters["messages_lost_total"] += batch.first - last - 1
        self._seen[batch.sender] = (batch.life, batch.first + len(batch.events) - 1)
        self._deliver(batch)
