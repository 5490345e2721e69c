"""Vectors as stores, documents and backups keep them: float16, half the size.

On unit vectors the cosine moves by less than 1e-3.
"""

import numpy as np
from numpy.typing import NDArray


def packed(vector: NDArray[np.float32] | None) -> bytes | None:
    """A vector as it is kept."""
    return None if vector is None else vector.astype(np.float16).tobytes()


def unpacked(kept: bytes | None) -> NDArray[np.float32] | None:
    """The vector that was packed, float32."""
    return None if kept is None else np.frombuffer(kept, np.float16).astype(np.float32)


def encode_vector(value: object) -> object:
    """``enc_hook`` of msgspec: a vector as it is kept. Raises ``TypeError`` for anything else."""
    if isinstance(value, np.ndarray):
        return packed(value)
    raise TypeError(f"a message cannot hold a {type(value).__name__}")


def decode_vector(_: type, value: object) -> object:
    """``dec_hook`` of msgspec: the vector that was packed."""
    return unpacked(value) if isinstance(value, bytes) else value
