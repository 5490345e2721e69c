"""Frames as bytes, and bytes as frames: msgpack, checked against the types they were made of. Nothing is unpickled.

A frame is its length (four bytes, big-endian) and its body, which begins with the name of its kind. In a batch the
events of one kind that follow each other are one list, so that both ends handle them in one go.
"""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any, TypeAlias, get_args

import msgspec
import numpy as np
from pydantic import BaseModel

from actors.events import Event
from orchestration.faculties import added
from orchestration.links.control import ControlMessage
from orchestration.links.frames import Batch, Delivery, Envelope, Frame, Plain

_LENGTH = 4
_ADDED = (event for faculty in added() for event in faculty.events)
_EVENTS: dict[str, type] = {event.__name__: event for event in (*get_args(Event), *get_args(ControlMessage), *_ADDED)}

_Run: TypeAlias = tuple[str, str, list[float], msgspec.Raw]
"""Receiver, name of the event's type, priorities, events."""


class _Batch(msgspec.Struct, tag="Batch", array_like=True):
    """A ``Batch`` as it is written."""

    process: str
    life: str
    first: int
    runs: list[_Run]


def _pack(value: object) -> object:
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(value, np.float32).tobytes()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    raise TypeError(f"an event cannot hold a {type(value).__name__}")


def _unpack(kind: Any, value: object) -> object:
    if kind is object:  # parts that check themselves stay as they are
        return value
    if isinstance(value, bytes):
        return np.frombuffer(value, np.float32)
    if isinstance(kind, type) and issubclass(kind, BaseModel) and isinstance(value, str):
        return kind.model_validate_json(value)
    raise ValueError(f"no {kind} is written like that")


_encoder = msgspec.msgpack.Encoder(enc_hook=_pack)
_decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(_Batch | Plain, dec_hook=_unpack)


@cache
def _events(name: str) -> msgspec.msgpack.Decoder[list[Event]]:
    if name not in _EVENTS:
        raise ValueError(f"no event is called {name[:64]!r}")
    events: Any = list.__class_getitem__(_EVENTS[name])
    return msgspec.msgpack.Decoder(events, dec_hook=_unpack)


def _kind_of(envelope: Envelope) -> str:
    return type(envelope[0]).__name__


def encode(frame: Frame) -> bytes:
    """A frame as it is written. Raises ``TypeError`` for an event that holds what cannot be."""
    body = _encoder.encode(_written(frame) if isinstance(frame, Batch) else frame)
    return len(body).to_bytes(_LENGTH, "big") + body


def _written(batch: Batch) -> _Batch:
    runs: list[Any] = []
    for to, envelopes in batch.deliveries:
        for name, run in groupby(envelopes, _kind_of):
            events, priorities = zip(*run, strict=True)
            runs.append((to, name, priorities, events))
    return _Batch(batch.process, batch.life, batch.first, runs)


def decode(body: bytes) -> Frame:
    """The frame in ``body``. Raises ``ValueError`` for what nobody here writes."""
    try:
        frame = _decoder.decode(body)
        return _read(frame) if isinstance(frame, _Batch) else frame
    except msgspec.MsgspecError as error:
        raise ValueError(f"not a frame: {error}") from error


def _read(written: _Batch) -> Batch:
    deliveries: list[Delivery] = []
    for to, runs in groupby(written.runs, lambda run: run[0]):
        envelopes: list[Envelope] = []
        for _, name, priorities, raw in runs:
            envelopes += zip(_events(name).decode(raw), priorities, strict=True)
        deliveries.append((to, envelopes))
    return Batch(written.process, written.life, written.first, deliveries)


class Decoder:
    """Cuts a stream of bytes into frames. Memory is bounded by the largest frame."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that ``data`` completes. Raises ``ValueError`` for what nobody here writes."""
        self._bytes += data
        at = 0
        try:
            while len(self._bytes) >= (begins := at + _LENGTH):
                length = int.from_bytes(self._bytes[at:begins], "big")
                if length > self._largest:
                    raise ValueError(f"a frame of {length} bytes; at most {self._largest} are written")
                if len(self._bytes) < begins + length:
                    return
                at = begins + length
                yield decode(bytes(self._bytes[begins:at]))
        finally:
            del self._bytes[:at]
