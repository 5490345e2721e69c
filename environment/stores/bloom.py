"""Bloom filters over hashes: which were surely never added.

B. H. Bloom, Space/Time Trade-offs in Hash Coding with Allowable Errors, 1970; two halves of a hash make as many probes
as are needed: A. Kirsch, M. Mitzenmacher, Less Hashing, Same Performance: Building a Better Bloom Filter, 2006.
"""

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.int64]

FULL = 1 << 20
"""Hashes in one array of bits; more make another."""
_BITS = 1 << 24
_PROBES = 8
ARRAY_BYTES = _BITS // 8
"""16 bits for each hash of a full array: a new one looks known in one of 1,700 cases."""


def probes_of(first: Hashes, step: Hashes) -> Hashes:
    """Which bits stand for each hash, of which these are two halves: shape (hashes, ``_PROBES``)."""
    return (first[:, None] + np.arange(_PROBES, dtype=np.int64) * (step | 1)[:, None]) & (_BITS - 1)


class Bits:
    """One array of bits, for ``FULL`` hashes."""

    def __init__(self) -> None:
        self._bits = np.zeros(ARRAY_BYTES, np.uint8)

    def add(self, probes: Hashes) -> None:
        """From now on ``maybe`` says so of these."""
        each = probes.ravel()
        np.bitwise_or.at(self._bits, each >> 3, np.left_shift(1, each & 7).astype(np.uint8))

    def maybe(self, probes: Hashes) -> NDArray[np.bool_]:
        """For each, whether it may have been added; false means that it surely was not."""
        found: NDArray[np.bool_] = (self._bits[probes >> 3] & np.left_shift(1, probes & 7).astype(np.uint8)).all(axis=1)
        return found


class Bloom:
    """A filter that grows by 2 MiB with each million of hashes. The 64 bits of a hash must be spread evenly."""

    def __init__(self) -> None:
        self._arrays: list[Bits] = []
        self._last = FULL

    def __len__(self) -> int:
        """Arrays of bits."""
        return len(self._arrays)

    def add(self, hashes: Hashes) -> None:
        """From now on ``maybe`` says so of these."""
        if self._last >= FULL:
            self._arrays.append(Bits())
            self._last = 0
        self._last += len(hashes)
        self._arrays[-1].add(probes_of(hashes, hashes >> 32))

    def maybe(self, hashes: Hashes) -> NDArray[np.bool_]:
        """For each, whether it may have been added; false means that it surely was not."""
        probes = probes_of(hashes, hashes >> 32)
        found = np.zeros(len(hashes), np.bool_)
        for bits in self._arrays:
            found |= bits.maybe(probes)
        return found
