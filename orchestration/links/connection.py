"""One connection between two processes of a mind: frames in, frames out.

Who is at the other end is known before a byte is taken for a frame: Unix sockets lie in a directory that only this user
may enter, and between machines both ends show the certificate of the run (``credentials.py``).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from orchestration.links.addresses import Endpoint
from orchestration.links.codec import Decoder
from orchestration.links.credentials import TlsContexts, contexts
from orchestration.links.frames import Frame
from orchestration.links.settings import LinkSettings

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LinkContext:
    """What a process brings to every connection it makes or takes."""

    machine: str
    settings: LinkSettings
    tls: TlsContexts | None = field(default=None, repr=False)
    """None where all of the run is on one machine, which then neither calls nor hears another."""


def link_context(machine: str, settings: LinkSettings, credentials: bytes) -> LinkContext:
    """``credentials``: of the run, as ``new_credentials`` made them; empty where all of it is on one machine."""
    return LinkContext(machine, settings, contexts(credentials) if credentials else None)


@dataclass(eq=False, repr=False)
class FrameConnection(asyncio.Protocol):
    """Frames both ways. What is no frame ends it.

    ``largest`` frame in bytes. ``on_clear`` is called when the other end keeps up again after it did not.
    """

    _largest: int
    _on_frame: Callable[[Frame, FrameConnection], None]
    _on_lost: Callable[[FrameConnection], None] | None = None
    _on_clear: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        self._decoder = Decoder(self._largest)
        self._transport: asyncio.Transport | None = None
        self.writable = True
        """False while the other end does not keep up with what was written."""

    @property
    def open(self) -> bool:
        """Whether frames can be written."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("frames travel on streams")
        self._transport = transport
        sock: socket.socket = transport.get_extra_info("socket")
        if sock.family != socket.AF_UNIX:
            _notice_death(sock)

    def data_received(self, data: bytes) -> None:
        if not self.open:
            return
        try:
            for frame in self._decoder.feed(data):
                self._on_frame(frame, self)
        except ValueError:
            self.abort()
            raise

    def pause_writing(self) -> None:
        self.writable = False

    def resume_writing(self) -> None:
        self.writable = True
        if self._on_clear is not None:
            self._on_clear()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - a Protocol's signature
        self._transport = None
        if self._on_lost is not None:
            self._on_lost(self)

    def write(self, data: bytes) -> None:
        """Write an encoded frame. Does nothing once the connection is lost.

        Who does not read for so long that more than two of the largest frames wait is cut off.
        """
        if self._transport is None:
            return
        if (waiting := self._transport.get_write_buffer_size()) > 2 * self._largest:
            _log.warning("peer_does_not_read", waiting=waiting)
            self.abort()
            return
        self._transport.write(data)

    def close(self) -> None:
        """End the connection; what was written still goes out."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()


async def call(
    endpoint: Endpoint,
    context: LinkContext,
    on_frame: Callable[[Frame, FrameConnection], None],
    on_lost: Callable[[FrameConnection], None] | None = None,
    on_clear: Callable[[], None] | None = None,
) -> FrameConnection:
    """A connection to a process of this mind, on the shortest way. Raises ``OSError`` where there is none."""
    loop, settings = asyncio.get_running_loop(), context.settings

    def make() -> FrameConnection:
        return FrameConnection(settings.frame_bytes, on_frame, on_lost, on_clear)

    if endpoint.machine == context.machine:
        return (await loop.create_unix_connection(make, endpoint.path))[1]
    if not endpoint.port or context.tls is None:
        raise ConnectionRefusedError(f"{endpoint.machine} is another machine, and lets nobody in")
    tls, host, port = context.tls.calling, endpoint.host, endpoint.port
    async with asyncio.timeout(settings.handshake):  # TimeoutError is an OSError
        return (await loop.create_connection(make, host, port, ssl=tls, server_hostname=""))[1]


def _notice_death(sock: socket.socket) -> None:
    """Have the kernel cut a connection whose other end is gone without a word, or has taken nothing for a minute."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        (socket.TCP_KEEPIDLE, 15),
        (socket.TCP_KEEPINTVL, 5),
        (socket.TCP_KEEPCNT, 3),
        (socket.TCP_USER_TIMEOUT, 60_000),
    ):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)
