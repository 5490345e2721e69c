"""Idempotency keys as 128-bit hashes, and a filter that says which are surely new without asking anybody."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from environment.stores.bloom import ARRAY_BYTES, FULL, Bits, Hashes, probes_of

KEY = 16
"""Bytes of a key's hash: no two keys share one, so nothing has to be told apart by reading it."""
NO_KEY = bytes(KEY)
"""Stands for a perception without a key."""
SEGMENT = FULL
"""Consecutive numbers whose keys share one array of bits."""
SEGMENT_BYTES = ARRAY_BYTES


def hash_keys(mind: str, sources: Sequence[str], keys: Sequence[str | None]) -> bytes:
    """The hash of each (source, key) of a mind, one after the other; ``NO_KEY`` without a key; empty where none has."""
    if keys.count(None) == len(keys):
        return b""
    begun = blake2b(digest_size=KEY, person=blake2b(mind.encode(), digest_size=blake2b.PERSON_SIZE).digest())
    hashes: list[bytes] = []
    for source, key in zip(sources, keys, strict=True):
        if key is None:
            hashes.append(NO_KEY)
            continue
        digest = begun.copy()  # half the price of beginning anew
        name = source.encode("utf-8", "surrogatepass")
        digest.update(len(name).to_bytes(4, "little") + name + key.encode("utf-8", "surrogatepass"))
        hashes.append(digest.digest())
    return b"".join(hashes)


def each_key(hashes: bytes) -> list[bytes]:
    """The single hashes of what ``hash_keys`` made."""
    return [hashes[at : at + KEY] for at in range(0, len(hashes), KEY)]


class KeyFilter:
    """A Bloom filter over the keys of a range of numbers, ``first`` to ``last``: never wrong about a key being new.

    Memory: ``SEGMENT_BYTES`` for each segment, at most ``segments``; beyond that the oldest go, and ``first`` rises.
    """

    def __init__(self, segments: int) -> None:
        self._most = max(1, segments)
        self._bits: dict[int, Bits] = {}
        self.first = 1
        """All keys from this number on, up to ``last``, are in."""
        self.last = 0

    def __len__(self) -> int:
        return len(self._bits)

    def begin(self, after: int) -> None:
        """Forget everything; the range is empty and follows ``after``."""
        self._bits.clear()
        self.first, self.last = after + 1, after

    def holds(self, low: int) -> bool:
        """Whether the keys of all numbers after ``low`` are in."""
        return self.first <= low + 1

    def extend(self, hashes: bytes, count: int) -> None:
        """The ``count`` numbers after ``last`` have these keys (or none at all)."""
        self._put(self.last + 1, hashes, count)
        self.last += count
        while len(self._bits) > self._most:
            oldest = min(self._bits)
            del self._bits[oldest]
            self.first = max(self.first, (oldest + 1) * SEGMENT)

    def precede(self, first: int, hashes: bytes) -> bool:
        """The numbers from ``first`` up to the range have these keys; false, and nothing done, where memory is full.

        Numbers that share a segment with the range are always taken.
        """
        if first // SEGMENT not in self._bits and len(self._bits) >= self._most:
            return False
        self._put_all(first // SEGMENT, hashes)
        self.first = min(self.first, first)
        return True

    def drop(self, low: int) -> None:
        """Nothing up to ``low`` is asked for any more."""
        for segment in [each for each in self._bits if (each + 1) * SEGMENT <= low]:
            del self._bits[segment]

    def maybe(self, hashes: bytes) -> NDArray[np.bool_]:
        """For each key, whether it may be in; false means that it surely is not."""
        probes = _probes(hashes)
        found = np.zeros(len(probes), np.bool_)
        for bits in self._bits.values():
            found |= bits.maybe(probes)
        return found

    def _put(self, first: int, hashes: bytes, count: int) -> None:
        start = 0
        while start < count:
            segment = (first + start) // SEGMENT
            stop = min(count, (segment + 1) * SEGMENT - first)
            self._put_all(segment, hashes[start * KEY : stop * KEY])
            start = stop

    def _put_all(self, segment: int, hashes: bytes) -> None:
        bits = self._bits.get(segment)
        if bits is None:
            bits = self._bits[segment] = Bits()
        bits.add(_probes(hashes))


def _probes(hashes: bytes) -> Hashes:
    halves = np.frombuffer(hashes, np.int64).reshape(-1, 2)
    return probes_of(halves[:, 0], halves[:, 1])
