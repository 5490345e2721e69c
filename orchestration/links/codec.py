"""Frames as bytes, and bytes as frames: msgpack, checked against the types they were made of. Nothing is unpickled.

A frame is its length (four bytes, big-endian), a byte that says its kind, and its body. In a batch the events of one
kind that follow each other are one list, so that both ends handle them in one go.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, TypeAlias, get_args

import msgspec
import numpy as np
from pydantic import BaseModel

from actors.events import Event
from orchestration.links.frames import Batch, Frame, Parcel
from orchestration.links.words import Word

_HEAD = struct.Struct("!IB")
_LENGTH = struct.Struct("!I")
_FRAMES: tuple[type, ...] = get_args(Frame)
_KIND = {frame: kind for kind, frame in enumerate(_FRAMES)}
_EVENTS: dict[str, type] = {event.__name__: event for event in (*get_args(Event), *get_args(Word))}

_Run: TypeAlias = tuple[str, str, list[float], msgspec.Raw]
"""Receiver, name of the event's type, priorities, events."""


class _Batch(msgspec.Struct, array_like=True):
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
_batches = msgspec.msgpack.Decoder(_Batch)


@cache
def _events(name: str) -> msgspec.msgpack.Decoder[list[Event]]:
    if name not in _EVENTS:
        raise ValueError(f"no event is called {name[:64]!r}")
    events: Any = list.__class_getitem__(_EVENTS[name])
    return msgspec.msgpack.Decoder(events, dec_hook=_unpack)


@cache
def _frames(kind: int) -> msgspec.msgpack.Decoder[Frame]:
    return msgspec.msgpack.Decoder(_FRAMES[kind], dec_hook=_unpack)


def _kind_of(letter: tuple[Event, float]) -> str:
    return type(letter[0]).__name__


def encode(frame: Frame) -> bytes:
    """A frame as it is written."""
    body = _encoder.encode(_written(frame) if isinstance(frame, Batch) else frame)
    return _HEAD.pack(len(body) + 1, _KIND[type(frame)]) + body


def _written(batch: Batch) -> tuple[object, ...]:
    runs = []
    for to, letters in batch.parcels:
        for name, run in groupby(letters, _kind_of):
            events, priorities = zip(*run, strict=True)
            runs.append((to, name, priorities, events))
    return batch.process, batch.life, batch.first, runs


def decode(body: bytes) -> Frame:
    """The frame in ``body``, its kind and what follows. Raises ``ValueError`` for what nobody here writes."""
    kind = body[0] if body else len(_FRAMES)
    if kind >= len(_FRAMES):
        raise ValueError(f"no frame is of kind {kind}")
    try:
        return _read(_batches.decode(body[1:])) if _FRAMES[kind] is Batch else _frames(kind).decode(body[1:])
    except msgspec.MsgspecError as error:
        raise ValueError(f"not a frame: {error}") from error


def _read(written: _Batch) -> Batch:
    parcels: list[Parcel] = []
    for to, name, priorities, raw in written.runs:
        letters: Sequence[tuple[Event, float]] = list(zip(_events(name).decode(raw), priorities, strict=True))
        if parcels and parcels[-1][0] == to:
            parcels[-1] = (to, [*parcels[-1][1], *letters])
        else:
            parcels.append((to, letters))
    return Batch(written.process, written.life, written.first, parcels)


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
            while len(self._bytes) - at >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(self._bytes, at)
                if length > self._largest:
                    raise ValueError(f"a frame of {length} bytes; at most {self._largest} are written")
                end = at + _LENGTH.size + length
                if len(self._bytes) < end:
                    return
                body = bytes(self._bytes[at + _LENGTH.size : end])
                at = end
                yield decode(body)
        finally:
            del self._bytes[:at]
