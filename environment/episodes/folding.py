"""Which lines stand for others that are alike, and how lines go from among those that are kept by place."""

from __future__ import annotations

import re
from array import array
from collections.abc import MutableMapping
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

_VARIES = re.compile(r"\d[^\W_]*")
"""What lines that are alike may differ in: figures, and what follows them in their word."""


def form_of(source: str, text: str) -> int:
    """64 bits that lines of one source have in common which are alike but for their figures, and hardly others."""
    told = f"{source}\0{_VARIES.sub('#', text.casefold())}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(told, digest_size=8).digest(), "little", signed=True)


def folded(forms: NDArray[np.int64], most: int) -> NDArray[np.intp]:
    """At most so many rows that others stand for, oldest first, none of the last quarter.

    The first and the last of a form stand for those between them.
    """
    count, old = len(forms), len(forms) * 3 // 4
    _, first, group = np.unique(forms, return_index=True, return_inverse=True)
    last = count - 1 - np.unique(forms[::-1], return_index=True)[1]
    rows = np.arange(old)
    between: NDArray[np.intp] = rows[(first[group[:old]] != rows) & (last[group[:old]] != rows)][:most]
    return between


class Places:
    """Where lines are whose rows were kept, -1 of others: after all places that were ever given out."""

    def __init__(self, base: int, count: int, rows: NDArray[np.intp]) -> None:
        """``base``: the place of the first of ``count`` rows; ``rows``: those kept, in order."""
        self._base, self._there = base, np.full(count, -1, np.int64)
        self._there[rows] = base + count + np.arange(len(rows))

    def __call__(self, place: int) -> int:
        """Of one."""
        return int(self._there[place - self._base]) if place >= self._base else -1

    def of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of many."""
        rows = places - self._base
        return np.where(rows < 0, -1, self._there[np.maximum(rows, 0)])

    def move(self, postings: MutableMapping[str, array[int]]) -> None:
        """Have postings say where lines are; a term that no line has any more goes."""
        terms = list(postings)
        ends = np.cumsum([len(postings[term]) for term in terms], dtype=np.intp)
        moved = self.of(np.frombuffer(b"".join(postings.values()), np.int64)) if terms else np.empty(0, np.int64)
        left = np.concatenate(([0], np.cumsum(moved >= 0)))[ends]
        moved, begin = moved[moved >= 0], 0
        for term, end in zip(terms, left.tolist(), strict=True):
            if end > begin:
                postings[term] = array("q", moved[begin:end].tobytes())
            else:
                del postings[term]
            begin = end


def taken(column: array[Any], rows: NDArray[np.intp]) -> array[Any]:
    """A column with these rows alone."""
    return array(column.typecode, np.array(column)[rows].tobytes())
