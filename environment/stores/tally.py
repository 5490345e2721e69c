"""How much there is of something, and a digest of all of it that does not depend on the order in which it was read."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from environment.vectors import encode_vector

_BYTES = 32
_MODULUS = 1 << (8 * _BYTES)


_ENCODER = msgspec.msgpack.Encoder(enc_hook=encode_vector, order="deterministic")


def encoded(value: Any) -> bytes:
    """A message as bytes: the same for equal messages, wherever they were kept."""
    return _ENCODER.encode(value)


@dataclass
class Tally:
    """A count, and the sum of the SHA-256 of each.

    Two tallies are equal when they took in the same values, each as often, in whatever order (AdHash, Bellare and
    Micciancio 1997): against accident, not against somebody who may choose the values.
    """

    count: int = 0
    total: int = 0

    def add(self, value: Any, *, counts: bool = True) -> None:
        """Take in one value; with ``counts`` false it is a part of the digest only."""
        self.count += counts
        self.total = (self.total + int.from_bytes(sha256(encoded(value)).digest(), "big")) % _MODULUS

    @property
    def digest(self) -> str:
        """The sum as 64 hexadecimal digits."""
        return self.total.to_bytes(_BYTES, "big").hex()
