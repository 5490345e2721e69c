"""What processes of one mind write to each other.

A frame is its length (four bytes, big-endian) and a pickle. Pickles are safe here and only here: nothing is unpickled
before who wrote it is known (``connection.py``). Nothing from outside travels this way but as a value inside an event
that this program made.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from actors.events import Configured, Event
from orchestration.links.addresses import Endpoint

_LENGTH = struct.Struct("!I")


@dataclass(frozen=True, slots=True)
class Batch:
    """Events for one actor, in the order in which they were sent."""

    to: str
    """The actor they are for: one process may hold many."""
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

    to: str


@dataclass(frozen=True, slots=True)
class Pong:
    """How an actor is."""

    name: str
    health: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Stop:
    """Asks an actor to finish what it began, save and end."""

    to: str


@dataclass(frozen=True, slots=True)
class Configure:
    """Tells an actor that settings were changed."""

    to: str
    event: Configured


@dataclass(frozen=True, slots=True)
class Housed:
    """A process tells the directory where it is and who lives in it: all who do, each time that changes."""

    endpoint: Endpoint
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """The directory tells a process who is found where."""

    entries: Mapping[str, Endpoint | None]
    """What changed; None for who is nowhere now."""
    whole: bool
    """These are all there are: who is not among them is nowhere."""


Frame: TypeAlias = Batch | Ping | Pong | Stop | Configure | Housed | Listing


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
        """The frames that ``data`` completes. Raises ``ValueError``, ``TypeError`` for what nobody here writes."""
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
            frame = pickle.loads(body)  # noqa: S301 - from this mind's own processes only, see above
            if not isinstance(frame, Frame):
                raise TypeError(f"a frame holds {type(frame).__name__}")
            yield frame
