"""One connection between two processes of a mind.

Who is at the other end is known before a byte is taken for a frame: on a Unix socket, which lies in a directory that
only this user may enter, the kernel says whose process it is; over TCP both ends prove that they know the secret of the
run (``handshake.py``), encrypted where there are certificates (``tls.py``).
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from orchestration.links.addresses import Endpoint
from orchestration.links.codec import Decoder
from orchestration.links.frames import Frame
from orchestration.links.handshake import NONCE, Handshake, NotOfThisMind
from orchestration.links.settings import LinkSettings
from orchestration.links.tls import LinkCertificates, Tunnel

_log = structlog.get_logger(__name__)
_PEER = struct.Struct("3i")  # struct ucred: pid, uid, gid


@dataclass(frozen=True, slots=True)
class Here:
    """What a process brings to every connection it makes or takes."""

    machine: str
    settings: LinkSettings
    secret: bytes = field(default=b"", repr=False)
    """Of the run; empty where all of it is on one machine, which then neither calls nor hears another."""
    certificates: LinkCertificates | None = None
    """Of links between machines; without them those are plain text."""


def here_of(machine: str, settings: LinkSettings, secret: bytes) -> Here:
    """What ``settings`` say. Raises ``BadCredentials`` naming a file of certificates that cannot be used."""
    secured = secret and settings.tls.certificate is not None
    return Here(machine, settings, secret, LinkCertificates(settings.tls) if secured else None)


class Connection(asyncio.Protocol):
    """Frames in, frames out, both ways, once each end knows the other."""

    def __init__(
        self,
        here: Here,
        on_frame: Callable[[Frame, Connection], None],
        on_lost: Callable[[Connection], None] | None = None,
        *,
        caller: bool = False,
        on_clear: Callable[[], None] | None = None,
    ) -> None:
        """``on_clear`` is called when the other end keeps up again after it did not."""
        self.met: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once the other end is known; an ``OSError`` when it never was. Nothing is written before."""
        self._here = here
        self._caller = caller
        self._tunnel: Tunnel | None = None
        self._handshake: Handshake | None = None
        self._late: asyncio.TimerHandle | None = None
        self._decoder = Decoder(here.settings.frame_bytes)
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._on_clear = on_clear
        self.writable = True
        """False while the other end does not keep up with what was written."""
        self.met.add_done_callback(_looked_at)

    @property
    def open(self) -> bool:
        """Whether frames can be written."""
        return self._transport is not None and not self._transport.is_closing() and self._known

    @property
    def _known(self) -> bool:
        return self.met.done() and not self.met.cancelled() and self.met.exception() is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("frames travel on streams")
        self._transport = transport
        sock: socket.socket = transport.get_extra_info("socket")
        if sock.family == socket.AF_UNIX:
            if _uid_of(sock) == os.getuid():
                self._meet()
            else:
                self._refuse("it is another user's")
        elif not self._here.secret:
            self._refuse("nobody on another machine belongs to this run")
        else:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _notice_death(sock)
            patience = self._here.settings.handshake
            self._late = asyncio.get_running_loop().call_later(patience, self._refuse, "it did not say who it is")
            if self._here.certificates is None:
                self._greet()
                return
            self._tunnel = self._here.certificates.tunnel(caller=self._caller)
            if self._caller:
                self._tunnel.begin()
                transport.write(self._tunnel.outgoing())

    def _greet(self) -> None:
        binding = self._tunnel.binding if self._tunnel is not None else b""
        nonce = secrets.token_bytes(NONCE)
        self._handshake = Handshake(self._here.secret, nonce, caller=self._caller, binding=binding)
        self.write(self._handshake.opening())

    def data_received(self, data: bytes) -> None:
        if self._tunnel is not None:
            data = self._opened(self._tunnel, data)
        if self._handshake is not None:
            data = self._introduce(self._handshake, data)
        if not data or not self.open:
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
        self._no_longer_late()
        if not self.met.done():
            self.met.set_exception(ConnectionAbortedError("the connection ended before the other end was known"))
        if self._on_lost is not None:
            self._on_lost(self)

    def write(self, data: bytes) -> None:
        """Write an encoded frame. Does nothing once the connection is lost.

        Who does not read for so long that more than two of the largest frames wait is cut off.
        """
        if self._transport is None:
            return
        if self._transport.get_write_buffer_size() > 2 * self._here.settings.frame_bytes:
            _log.warning("peer_does_not_read", waiting=self._transport.get_write_buffer_size())
            self.abort()
            return
        self._transport.write(data if self._tunnel is None else self._tunnel.seal(data))

    def close(self) -> None:
        """End the connection; what was written still goes out."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def _opened(self, tunnel: Tunnel, data: bytes) -> bytes:
        """What came, decrypted; once the other end is there the handshake begins."""
        greeted = tunnel.up
        try:
            data = tunnel.feed(data)
        except NotOfThisMind as reason:
            if self._transport is not None:
                self._transport.write(tunnel.outgoing())  # an alert says why
            self._refuse(str(reason))
            return b""
        if self._transport is not None and (answer := tunnel.outgoing()):
            self._transport.write(answer)
        if tunnel.up and not greeted:
            self._greet()
        return data

    def _introduce(self, handshake: Handshake, data: bytes) -> bytes:
        """Go on with the handshake; what came behind it."""
        try:
            answer = handshake.feed(data)
        except NotOfThisMind as reason:
            self._refuse(str(reason))
            return b""
        if answer:
            self.write(answer)
        if not handshake.done:
            return b""
        self._handshake = None
        self._meet()
        return handshake.rest

    def _meet(self) -> None:
        self._no_longer_late()
        if not self.met.done():
            self.met.set_result(None)

    def _refuse(self, reason: str) -> None:
        self._no_longer_late()
        if not self.met.done():
            self.met.set_exception(ConnectionRefusedError(reason))
        if self._transport is not None:
            peer = self._transport.get_extra_info("peername")
            _log.warning("stranger_refused", peer=str(peer), reason=reason)
        self.abort()

    def _no_longer_late(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


async def call(
    endpoint: Endpoint,
    here: Here,
    on_frame: Callable[[Frame, Connection], None],
    on_lost: Callable[[Connection], None] | None = None,
    on_clear: Callable[[], None] | None = None,
) -> Connection:
    """A connection to a process of this mind, on the shortest way. Raises ``OSError`` where there is none."""
    loop = asyncio.get_running_loop()

    def make() -> Connection:
        return Connection(here, on_frame, on_lost, caller=True, on_clear=on_clear)

    connection: Connection
    if endpoint.machine == here.machine:
        _, connection = await loop.create_unix_connection(make, endpoint.path)
    elif not endpoint.port or not here.secret:
        raise ConnectionRefusedError(f"{endpoint.machine} is another machine, and lets nobody in")
    else:
        async with asyncio.timeout(here.settings.handshake):  # TimeoutError is an OSError
            _, connection = await loop.create_connection(make, endpoint.host, endpoint.port)
    try:
        await connection.met
    except BaseException:
        connection.abort()
        raise
    return connection


def _looked_at(met: asyncio.Future[None]) -> None:
    """Whoever called hears of a failure; at the called end nobody waits for it."""
    if not met.cancelled():
        met.exception()


def _notice_death(sock: socket.socket) -> None:
    """Have the kernel cut a connection whose other end is gone without a word, or has taken nothing for a minute."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 15)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 60_000)


def _uid_of(sock: socket.socket) -> int:
    """Who is at the other end, as the kernel knows it."""
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    uid: int = _PEER.unpack(credentials)[1]
    return uid
