"""How cores write their snapshots: msgpack of typed structures, vectors kept exactly. Nothing is ever unpickled."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
import numpy as np

T = TypeVar("T")


def _pack(value: object) -> bytes:
    if isinstance(value, np.ndarray):
        return value.astype(np.float32).tobytes()
    raise TypeError(f"a snapshot cannot hold a {type(value).__name__}")


def _unpack(_kind: type, value: object) -> object:
    return np.frombuffer(value, np.float32) if isinstance(value, bytes) else value


_encoder = msgspec.msgpack.Encoder(enc_hook=_pack)


@lru_cache(maxsize=64)
def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind, dec_hook=_unpack)


def pack(value: object) -> bytes:
    """Any tree of messages, structs and plain values."""
    return _encoder.encode(value)


def unpack(data: bytes, kind: type[T]) -> T:
    """What ``pack`` wrote. Raises ``ValueError`` for anything else."""
    decoder: Callable[[Any], msgspec.msgpack.Decoder[Any]] = _decoder
    result: T = decoder(kind).decode(data)
    return result
