"""What was seen of an image, and what there is to say of one that could not be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

TOO_LONG = "takes too long to look at"
TOO_MUCH = "takes too much memory to look at"
UNSEEN = "could not be looked at"
"""Problems of images that are what they should be, and yet not looked at."""


@dataclass(frozen=True, slots=True)
class ImageFeatures:
    """What was seen."""

    words: str
    """For people, without a caption; names the problem when there is one."""
    problem: str = ""
    """Why it could not be looked at; empty when it could."""
    bits: bytes = b""
    """Perceptual difference hash, 32 bytes."""
    grid: bytes = b""
    """Mean colours of an 8 x 8 grid, RGB."""

    def change(self, before: ImageFeatures) -> float:
        """How different two images look, 0..1: the larger of hash distance and mean difference of colour."""
        if not (self.bits and before.bits):
            return 1.0
        apart = np.unpackbits(_bytes(self.bits) ^ _bytes(before.bits)).mean()
        colours = np.abs(_bytes(self.grid).astype(int) - _bytes(before.grid).astype(int)).mean() / 255
        return float(max(apart, colours))


def digest(data: bytes) -> bytes:
    """What an encoded image is known by."""
    return blake2b(data, digest_size=16).digest()


def unseen(what: str, problem: str) -> ImageFeatures:
    """Of an image that could not be looked at; ``what`` is known of it."""
    return ImageFeatures(f"image, {what}, {problem}", problem)


def said(size: int) -> str:
    """A number of bytes for people."""
    return f"{size} bytes" if size < 1000 else f"{size / 1000:.0f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"  # noqa: PLR2004


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)
