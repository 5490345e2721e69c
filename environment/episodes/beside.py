"""Which lines stand beside each other in their conversations, and what is thereby theirs as well."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from environment.episodes.folding import Places, taken

_NEAR, _FAR = 0.6, 0.3
"""What a word counts in the line before or after, and in those two away; 1 in the line itself."""


class LinesBeside:
    """Lines by place, each with the one before it and the first after it, the oldest let go first.

    Places are given out in order; all lines at once are arrays in that order, the oldest that is kept first. Each is
    read in time that follows the lines asked about, and those beside them. Not for several threads at once.
    """

    def __init__(self) -> None:
        self.base = 0
        """Place of the first line that has a row here."""
        self.dead = 0
        """How many rows, at the front, are of lines that were let go: whoever lets them go sets it."""
        self._before, self._after, self._sibling = array("q"), array("q"), array("q")
        """Places, -1 for none; the sibling is another line with the same one before."""
        self._counts, self._lengths, self._windows = array("f"), array("H"), array("f")
        """How much a line and the one before it count for each other; its words; and with those beside it, let go or
        not."""

    def __len__(self) -> int:
        return len(self._before) - self.dead

    @property
    def front(self) -> int:
        """Place of the oldest line that is kept."""
        return self.base + self.dead

    @property
    def next(self) -> int:
        """Place of the line that comes next."""
        return self.base + len(self._before)

    @property
    def columns(self) -> tuple[array[int] | array[float], ...]:
        """All that is held, to be kept and given back."""
        return self._before, self._after, self._sibling, self._counts, self._lengths, self._windows

    def append(self, before: int, counts: float, length: int) -> None:
        """One more line; ``before`` is of a place that is kept, or -1."""
        place, window = self.next, float(length)
        if before >= 0:
            at, beyond = before - self.base, self._before[before - self.base]
            far = counts * self._counts[at] if beyond >= self.front else 0.0
            window += _NEAR * counts * self._lengths[at]
            window += _FAR * far * self._lengths[beyond - self.base] if far else 0.0
            if self._after[at] < 0:
                self._after[at] = place
                self._windows[at] += _NEAR * counts * length
                if far and self._after[beyond - self.base] == before:
                    self._windows[beyond - self.base] += _FAR * far * length
        for column, value in zip(self.columns, (before, -1, -1, counts, length, window), strict=True):
            column.append(value)  # type: ignore[arg-type]
        if before >= 0 and (first := self._after[before - self.base]) != place:
            self._sibling[-1], self._sibling[first - self.base] = self._sibling[first - self.base], place

    def keep(self, rows: NDArray[np.intp]) -> Places:
        """Let go of all rows but these; where they are then. What stood beside one that went stands there alone."""
        places = Places(self.base, len(self._before), rows)
        self.base, self.dead = self.next, 0
        moved = [array("q", places.of(np.array(column))[rows].tobytes()) for column in self.columns[:3]]
        self._before, self._after, self._sibling = moved
        self._counts, self._lengths, self._windows = (taken(column, rows) for column in self.columns[3:])
        return places

    def neighbours(self, line: int) -> list[int]:
        """The lines beside it, at most two each way, in their order."""
        found: list[int] = []
        for column in (self._before, self._after):
            row = self.dead + line
            for _ in range(2):
                if (row := column[row] - self.base) < self.dead:
                    break
                found.append(row - self.dead)
        return sorted(found)

    def spread(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """``(lines,)``: 1 at places, which are kept, and what that counts in the lines beside them."""
        rows, counts = places - self.base, _view(self._counts)
        found = np.zeros(len(self._before), np.float32)
        found[rows] = 1.0
        told, middle = self._told(rows)
        weight = counts[rows[told]]
        found[middle] += _NEAR * weight
        told, first = self._told(middle)
        found[first] += _FAR * counts[middle[told]] * weight[told]
        after = self._following(rows)
        found[after] += _NEAR * counts[after]
        beyond = self._following(after)
        found[beyond] += _FAR * counts[beyond] * counts[self._rows(self._before, beyond)]
        return found[self.dead :]

    def norm(self, lines: NDArray[np.intp]) -> NDArray[np.float32]:
        """How long some lines are together with those beside them, beside the mean of all."""
        windows: NDArray[np.float32] = _view(self._windows)[self.dead :]
        return windows[lines] / max(np.float32(windows.mean()), np.float32(1.0))

    def with_neighbours(self, values: NDArray[np.float32], weight: float) -> NDArray[np.float32]:
        """``(lines,)``: a figure of each line and, weighted, of those right before and after it."""
        total, counts = values.copy(), np.float32(weight) * _view(self._counts)[self.dead :]
        for column in (self._before, self._after):
            other = _view(column)[self.dead :] - self.front
            more: NDArray[np.float32] = values.take(other, mode="clip")
            more *= counts if column is self._before else counts.take(other, mode="clip")
            more *= other >= 0
            total += more
        return total

    def _rows(self, column: array[int], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """What a column says of some rows, as rows; less than ``dead`` for none."""
        found: NDArray[np.int64] = _view(column)[rows] - self.base
        return found

    def _told(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Which of these are the first after another, and that one."""
        before = self._rows(self._before, rows)
        at = np.flatnonzero(before >= self.dead)
        at = at[self._rows(self._after, before[at]) == rows[at]]
        return at, before[at]

    def _following(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """All that have one of these before them."""
        found, column = [np.empty(0, np.int64)], self._after
        while len(rows):
            rows = self._rows(column, rows)
            rows, column = rows[rows >= 0], self._sibling
            found.append(rows)
        return np.concatenate(found)


def _view(column: array[int] | array[float]) -> NDArray[Any]:
    """The same memory; no line may come or go while it is looked at."""
    return np.frombuffer(column, column.typecode)
