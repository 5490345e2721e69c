"""What actors of one mind write to each other on their sockets.

A frame is its length (four bytes, big-endian) and a pickle. Pickles are safe here and only here: the sockets lie in a
directory that only this user may enter, and the peer of every connection is asked of the kernel before a byte of it
is read. Nothing from outside travels this way but as a value inside an event that this program made.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from actors.events import Configured, Event

_LENGTH = struct.Struct("!I")
_PEER = struct.Struct("3i")  # struct ucred: pid, uid, gid


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of one sender, in the order in which it sent them."""

    sender: str
    life: str
    """Which life of the sender this is: numbers begin anew with each."""
    first: int
    """Number of the first event, counted per sender, receiver and life from 1."""
    events: tuple[tuple[Event, float], ...]
    """Events with their priorities."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks an actor how it is; answered by ``Pong``."""


@dataclass(frozen=True, slots=True)
class Pong:
    """How an actor is."""

    name: str
    health: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Stop:
    """Asks an actor to finish what it began, save and end."""


@dataclass(frozen=True, slots=True)
class Configure:
    """Tells an actor that settings were changed."""

    event: Configured


Frame: TypeAlias = Batch | Ping | Pong | Stop | Configure


def encode(frame: Frame) -> bytes:
    """A frame as it is written."""
    body = pickle.dumps(frame, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


class Decoder:
    """Cuts a stream of bytes into frames. Memory is bounded by the largest frame."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that ``data`` completes. Raises ``ValueError`` for what no peer of ours writes."""
        self._bytes += data
        while len(self._bytes) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._bytes)
            if length > self._largest:
                raise ValueError(f"a frame of {length} bytes; at most {self._largest} are written")
            end = _LENGTH.size + length
            if len(self._bytes) < end:
                return
            body = bytes(self._bytes[_LENGTH.size : end])
            del self._bytes[:end]
            frame = pickle.loads(body)  # noqa: S301 - from this user's own processes only, see above
            if not isinstance(frame, Frame):
                raise TypeError(f"a frame holds {type(frame).__name__}")
            yield frame


class FrameProtocol(asyncio.Protocol):
    """One connection between two processes of a mind: frames in, frames out, both ways."""

    def __init__(
        self,
        largest: int,
        on_frame: Callable[[Frame, FrameProtocol], None],
        on_lost: Callable[[FrameProtocol], None] | None = None,
    ) -> None:
        self._decoder = Decoder(largest)
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    @property
    def open(self) -> bool:
        """Whether frames can be written."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("frames travel on streams")
        if _uid_of(transport.get_extra_info("socket")) != os.getuid():
            transport.abort()
            return
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if not self.open:
            return
        try:
            for frame in self._decoder.feed(data):
                self._on_frame(frame, self)
        except (ValueError, TypeError, pickle.UnpicklingError, EOFError):
            self.close()
            raise

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - a Protocol's signature
        self._transport = None
        self._writable.set()
        if self._on_lost is not None:
            self._on_lost(self)

    def write(self, data: bytes) -> None:
        """Write an encoded frame. Does nothing once the connection is lost."""
        if self._transport is not None:
            self._transport.write(data)

    async def drained(self) -> None:
        """Return when the peer keeps up again, or is gone."""
        await self._writable.wait()

    def close(self) -> None:
        """End the connection; what was written still goes out."""
        if self._transport is not None:
            self._transport.close()


def _uid_of(sock: socket.socket) -> int:
    """Who is at the other end, as the kernel knows it."""
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    uid: int = _PEER.unpack(credentials)[1]
    return uid
