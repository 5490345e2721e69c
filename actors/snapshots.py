"""How cores write their snapshots: msgpack of typed structures, vectors kept exactly. Nothing is ever unpickled."""

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


def fitted(data: bytes, kind: Any, dim: int) -> bytes:
    """A snapshot whose vectors are ``dim`` long: zeros, near to nothing, stand for those of another embedder.

    Raises as ``unpack``; without a ``kind`` the same bytes.
    """

    def fit(_kind: type, value: object) -> object:
        vector = _unpack(_kind, value)
        return np.zeros(dim, np.float32) if isinstance(vector, np.ndarray) and vector.size != dim else vector

    return pack(msgspec.msgpack.decode(data, type=kind, dec_hook=fit)) if kind is not None else data


def unpack(data: bytes, kind: type[T]) -> T:
    """What ``pack`` wrote. Raises ``ValueError`` for anything else."""
    decoder: Callable[[Any], msgspec.msgpack.Decoder[Any]] = _decoder
    result: T = decoder(kind).decode(data)
    return result
