"""How messages are written into a row: msgpack maps, so that a field added later has its default in older rows.

Vectors are kept as float16, which halves a trace: on unit vectors the cosine moves by less than 1e-3.
Nothing is ever unpickled; what cannot be decoded raises ``msgspec.DecodeError``.
"""

from __future__ import annotations

import numpy as np
from msgspec.msgpack import Decoder, Encoder

from environment.messages import (
    Connection,
    NewPerception,
    StreamEntry,
    SubmindReport,
    Thought,
)


def _pack(value: object) -> bytes:
    if isinstance(value, np.ndarray):
        return value.astype(np.float16).tobytes()
    raise TypeError(f"a message cannot hold a {type(value).__name__}")


def _unpack(_: type, value: object) -> object:
    return np.frombuffer(value, np.float16).astype(np.float32) if isinstance(value, bytes) else value


_encoder = Encoder(enc_hook=_pack)
_perception = Decoder(NewPerception, dec_hook=_unpack)
_thought = Decoder(Thought, dec_hook=_unpack)
_entry = Decoder(StreamEntry, dec_hook=_unpack)
_report = Decoder(SubmindReport)
_history = Decoder(tuple[tuple[float, str], ...])
_names = Decoder(tuple[str, ...])


def encode(message: NewPerception | Thought | StreamEntry | SubmindReport) -> bytes:
    """One message as msgpack; equal messages give equal bytes."""
    return _encoder.encode(message)


def encode_names(names: tuple[str, ...]) -> bytes:
    """A tuple of names."""
    return _encoder.encode(names)


def encode_history(connection: Connection) -> bytes:
    """The history of a connection."""
    return _encoder.encode(connection.history)


def decode_perception(body: bytes) -> NewPerception:
    """A perception as it was accepted."""
    return _perception.decode(body)


def decode_thought(body: bytes) -> Thought:
    """A thought, its vector as float32."""
    return _thought.decode(body)


def decode_entry(body: bytes) -> StreamEntry:
    """An entry of the stream."""
    return _entry.decode(body)


def decode_report(body: bytes) -> SubmindReport:
    """An actor's report."""
    return _report.decode(body)


def decode_names(body: bytes) -> tuple[str, ...]:
    """A tuple of names."""
    return _names.decode(body)


def decode_history(body: bytes) -> tuple[tuple[float, str], ...]:
    """The history of a connection, oldest first."""
    return _history.decode(body)
