"""How unexpected a value is where it comes from: conformal p-values, and the pace of talk against its usual.

A p-value is the share of a source's earlier values that are as high (Vovk, Gammerman and Shafer, 2005); its negative
logarithm is surprise in nats. What is not known of a source is taken from all of them, and of those from a prior, so
that nothing surprises who knows nothing.
"""

import math
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import TypeAlias

from environment.latest import Latest
from environment.messages import Instant

_DOUBT = 20.0
"""Earlier values that what is known in general counts for."""
_BINS = 32

SavedSurprise: TypeAlias = tuple[list[int], list[tuple[str, list[int]]]]
"""What a snapshot holds: counts of all, and of each source."""
SavedTempo: TypeAlias = tuple[int | None, list[tuple[int, float]]]
"""The minute it began in, and the words of each minute since."""


class _Histogram:
    """Counts in bins, fading by half when ``memory`` is full."""

    __slots__ = ("bins", "memory", "total")

    def __init__(self, memory: int, bins: Sequence[int] = ()) -> None:
        self.bins = [*bins, *([0] * (_BINS - len(bins)))]
        self.total = sum(bins)
        self.memory = memory

    def add(self, bin_: int, times: int = 1) -> None:
        self.bins[bin_] += times
        self.total += times
        while self.total > self.memory:
            self.bins = [n // 2 for n in self.bins]
            self.total = sum(self.bins)

    def tail(self, bin_: int, expected: float) -> float:
        """P(at least ``bin_``), where ``expected`` is what it is thought to be without knowing any."""
        return (sum(self.bins[bin_:]) + _DOUBT * expected) / (self.total + _DOUBT)


class Surprise:
    """One kind of value, 0 to 31 in whole steps. Memory is bounded by ``sources``; unused ones go first."""

    def __init__(self, memory: int, sources: int) -> None:
        self._memory = memory
        self._all = _Histogram(memory)
        self._sources: Latest[str, _Histogram] = Latest(sources)

    def of(self, source: str, step: int, prior: float = 1.0) -> float:
        """Nats, 0 and above, of a value before it is learned; ``prior`` is the share as high where nothing is known."""
        step = min(step, _BINS - 1)
        expected = self._all.tail(step, prior)
        own = self._sources.get(source)
        return -math.log(min(1.0, own.tail(step, expected) if own else expected))

    def learn(self, source: str, step: int, times: int = 1) -> None:
        """So many values more."""
        step = min(step, _BINS - 1)
        own = self._sources[source] = self._sources.get(source) or _Histogram(self._memory)
        own.add(step, times)
        self._all.add(step, times)

    def dump(self) -> SavedSurprise:
        """For a snapshot."""
        return self._all.bins, [(name, own.bins) for name, own in self._sources.items()]

    def load(self, saved: SavedSurprise) -> None:
        """From a snapshot."""
        bins, sources = saved
        self._all = _Histogram(self._memory, bins)
        self._sources.update((name, _Histogram(self._memory, own)) for name, own in sources)


class Tempo:
    """How much is said lately against the usual, in new words.

    Source: arousal as pace of talk; on transcripts of crises it finds what no feature of a single line does.
    """

    _MINUTE, _LATELY, _USUAL = 60.0, 2, 120
    _LEAST = 20.0
    """Words below which more or less of them says nothing."""

    def __init__(self) -> None:
        self._minutes: deque[tuple[int, float]] = deque()
        self._begun: int | None = None
        self._sum = 0.0

    def take(self, words: float, time: Instant) -> float:
        """Count what is said; how many times the usual the last two minutes were, as a logarithm."""
        minute = int(time // self._MINUTE)
        if self._begun is None or (self._minutes and minute < self._minutes[-1][0] - self._USUAL):
            self._begun = minute  # nothing is known yet, or a wrong clock was set right
            self._minutes.clear()
            self._sum = 0.0
        if self._minutes and self._minutes[-1][0] >= minute:
            last, before = self._minutes[-1]
            self._minutes[-1] = (last, before + words)
        else:
            self._minutes.append((minute, words))
        self._sum += words
        minute = self._minutes[-1][0]
        while self._minutes[0][0] < minute - self._USUAL:
            self._sum -= self._minutes.popleft()[1]
        latest = islice(reversed(self._minutes), self._LATELY)
        lately = sum([count for at, count in latest if at > minute - self._LATELY])
        before = max(0.0, self._sum - lately)
        known = min(self._USUAL, minute - self._begun + 1) - self._LATELY
        if known <= 0:
            return 0.0
        return math.log((lately + self._LEAST) / (before * self._LATELY / known + self._LEAST))

    def dump(self) -> SavedTempo:
        """For a snapshot."""
        return self._begun, list(self._minutes)

    def load(self, saved: SavedTempo) -> None:
        """From a snapshot."""
        self._begun, minutes = saved
        self._minutes = deque(minutes)
        self._sum = sum(words for _, words in minutes)
