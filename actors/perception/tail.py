"""How improbable a large value is, given all values before it: peaks over a threshold.

Beyond a high quantile the excess of any variable is about generalised Pareto (Pickands, 1975; for streams: Siffer,
Fouque, Termier and Largouet, 2017), here fitted by its first two moments. A series of heavy tails so asks more of a
value than a steady one does. What was met as large before is no rarer than that, whatever the fit says.
"""

import math

import msgspec

_PER_OCTAVE = 4
"""Bins in which values are counted, for each doubling."""
_LOWEST, _HIGHEST = -120, 2000
_SHARE, _ROOTS, _FEWEST = 0.1, 2.0, 3
"""Share of the values of which the tail is made, at most so many square roots of their number; and the least number.
A disaster or two do not hide the next: one event less than that of the largest values counts as its least."""
_DOUBT = 10.0
"""Values that a light tail of scale ``_PRIOR`` thresholds counts for."""
_PRIOR = 0.7
_HEAVIEST = 0.45
"""Shape at most: from .5 on there is no variance to fit."""
_EXPONENTIAL = 1e-3
"""Shape up to which the tail is taken for exponential."""
_REFIT = 16


class TailFit(msgspec.Struct):
    """Counts of positive values by size, the oldest fading; memory does not grow with their number."""

    memory: int
    """Values after which all counts are halved."""
    warm_up: int
    """Values before the first that may surprise."""
    once: int = 1
    """Values in a row that one event makes large: more of them are needed to know how often it comes."""
    counts: dict[int, float] = {}
    total: float = 0.0
    seen: int = 0
    threshold: float = 0.0
    share: float = 1.0
    shape: float = 0.0
    scale: float = 1.0
    stale: int = _REFIT
    """Values since it was fitted."""

    def surprise(self, value: float) -> float:
        """Nats: minus the logarithm of the chance of a value as large; 0 where it is common, or too few are known."""
        if self.seen < self.warm_up:
            return 0.0
        if self.stale >= min(_REFIT, self.seen // _REFIT):
            self._fit()
        if value <= self.threshold:
            return 0.0
        excess = (value - self.threshold) / self.scale
        if self.shape > _EXPONENTIAL:
            excess = math.log1p(self.shape * excess) / self.shape
        place = _place(value)
        met = sum(n for at, n in self.counts.items() if at >= place) - self.once
        return min(excess - math.log(self.share), math.log(self.total / met) if met > 0 else math.inf)

    def learn(self, value: float) -> None:
        """Count one value."""
        place = _place(value)
        self.counts[place] = self.counts.get(place, 0.0) + 1.0
        self.total += 1.0
        self.seen += 1
        self.stale += 1
        if self.total > self.memory:
            self.counts = {place: n / 2 for place, n in self.counts.items() if n >= 0.25}  # noqa: PLR2004
            self.total = sum(self.counts.values())

    def _fit(self) -> None:
        self.stale = 0
        above: list[tuple[float, float]] = []
        count = 0.0
        fewest = min(_FEWEST + self.once - 1, self.total / 2)
        for place in sorted(self.counts, reverse=True):
            if count >= max(fewest, min(_SHARE * self.total, _ROOTS * math.sqrt(self.total))):
                break
            count += self.counts[place]
            if count < fewest:
                continue
            above.append((2 ** ((place + 0.5) / _PER_OCTAVE), self.counts[place] if above else count))
            self.threshold = 2 ** (place / _PER_OCTAVE)
        self.share = min(1.0, count / self.total)
        prior = _PRIOR * self.threshold
        excess = [((value - self.threshold) / prior, n) for value, n in above]  # in such units nothing overflows
        known = count + _DOUBT
        mean = (sum(e * n for e, n in excess) + _DOUBT) / known
        variance = (sum(e * e * n for e, n in excess) + 2 * _DOUBT) / known - mean * mean
        self.shape = max(0.0, min(_HEAVIEST, (1 - mean * mean / variance) / 2 if variance > 0 else 0.0))
        self.scale = mean * prior * (1 - self.shape)


def _place(value: float) -> int:
    return max(_LOWEST, min(_HIGHEST, math.floor(math.log2(max(value, 1e-300)) * _PER_OCTAVE)))
