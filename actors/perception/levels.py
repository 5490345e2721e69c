"""What is worth saying about one series of numbers: it shifted, it drifted, it spiked. Bounded, robust, one pass.

A reading far from the median of the window, in robust deviations, is held back: if the ones after it stay there too
(a one-sided sum of evidence, as in Page's CUSUM, 1954) the level has shifted, else it was a spike. What moves too
slowly for that is caught by its smoothed level leaving the anchor, the level last spoken of. Territory that was told
of is not told again: noise, a daily rhythm or a machine that switches on and off grow silent logarithmically.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import msgspec

from actors.running import Habit
from environment.messages import Instant

WARM_UP = 8
_MEMORY = 8 * 86400.0
"""A week and a day: what comes back weekly is a rhythm."""
_REFRESH = 4
_NORMAL_MAD = 1.4826
_NORMAL_90 = 3.29
"""Standard deviations of a normal distribution between its 5 % and 95 % quantiles."""
_NORMAL_STEP = 1.06
"""Its deviation by the mean of the least nine tenths of the steps between independent values."""
_LEAST = 0.005
_LEAST_RANGE = 0.02
_SMOOTH = 0.25
_LATEST = 3
_BEYOND = 0.5
_RECORD = 1.5


class Deviation(StrEnum):
    """How a series changed."""

    SHIFT = "level shift"
    DRIFT = "drift"
    SPIKE = "spike"


class Reading(msgspec.Struct, frozen=True, array_like=True):
    """One number and the perception that brought it."""

    value: float
    time: Instant
    id: str = ""
    trust: float = 0.5


@dataclass(frozen=True, slots=True)
class Change:
    """A change worth words."""

    kind: Deviation
    before: float
    after: float
    since: Instant
    """When the series was last at ``before``."""
    readings: tuple[Reading, ...]
    """What it rests on: focus first."""
    deviations: float
    """Size in robust deviations."""
    times: int = 1
    """How often the like happened lately, this one included."""
    origin: Reading | None = None
    """Where a longer way in the same direction began, when that is not ``before``."""


class Levels(msgspec.Struct):
    """The recent past of one series.

    Guarantee: memory is bounded by the window; for a stationary or periodic series the number of changes told grows
    with the logarithm of its length.
    """

    shift: float
    """Deviations that make a change."""
    size: int
    """Readings in the window."""
    window: list[float] = []
    place: int = 0
    seen: int = 0
    centre: float = 0.0
    scale: float = 0.0
    inherited: float = 0.0
    """Scale before the last shift: trusted until the window has filled again."""
    noise: float = 0.0
    last: Instant = 0.0
    """Time of the latest reading that was not held back."""
    level: float = 0.0
    anchor: float = 0.0
    left: Reading | None = None
    """The last reading at which the level was still near the anchor."""
    low: float = 0.0
    """Levels told of lie between ``low`` and ``high``."""
    high: float = 0.0
    ranged: Instant = 0.0
    origin: Reading | None = None
    pending: list[Reading] = []
    swings: Habit = msgspec.field(default_factory=Habit)
    spikes: Habit = msgspec.field(default_factory=Habit)
    record: float = 0.0
    """Deviations of the largest spike told of."""

    def take(self, reading: Reading) -> Change | None:
        """Take in one finite number; the change that it completes, if any."""
        if self.seen < WARM_UP:
            self._learn(reading)
            if self.seen == WARM_UP:
                self.level = self.anchor = self.low = self.high = self.centre
                self.left, self.ranged = reading, reading.time
            return None
        z = self._deviations(reading.value)
        if abs(z) <= self._bar():
            change = self._spike(reading.value) if self.pending else None
            self._learn(reading)
            return self._drift(reading) or change
        change = None
        if self.pending and (self._deviations(self.pending[0].value) > 0) != (z > 0):
            change = self._spike(self.centre)
        self.pending.append(reading)
        cap = 2 * self.shift
        evidence = sum(min(abs(self._deviations(p.value)), cap) for p in self.pending)
        return self._shift() if evidence >= 2 * cap else change

    def _deviations(self, value: float) -> float:
        return (value - self.centre) / self.scale

    def _bar(self) -> float:
        """Deviations that count; more while few readings have told the scale."""
        return self.shift * (1 + WARM_UP / len(self.window)) if self.inherited == 0 else self.shift

    def _learn(self, reading: Reading) -> None:
        if len(self.window) < self.size:
            self.window.append(reading.value)
        else:
            self.window[self.place] = reading.value
        self.place = (self.place + 1) % self.size
        self.seen += 1
        self.last = reading.time
        self.level += _SMOOTH * (reading.value - self.level)
        if self.seen <= WARM_UP or self.seen % _REFRESH == 0:
            self._refresh()

    def _refresh(self) -> None:
        ordered = sorted(self.window)
        n = len(ordered)
        self.centre = _median(ordered)
        spread = _NORMAL_MAD * _median(sorted(abs(v - self.centre) for v in ordered))
        wide = (ordered[n - 1 - n // 20] - ordered[n // 20]) / _NORMAL_90
        if self.inherited:
            share = n / self.size
            self.inherited = 0.0 if share == 1 else self.inherited
            spread = max(spread, self.inherited * (1 - share))
        least = max(_LEAST * abs(self.centre), _LEAST_RANGE * (self.high - self.low), 1e-9)
        self.scale = max(spread, wide, least)
        start = self.place if n == self.size else 0
        steps = sorted(abs(b - a) for a, b in pairwise(self.window[start:] + self.window[:start]))
        steps = steps[: max(1, len(steps) * 9 // 10)]
        self.noise = max(_NORMAL_STEP * sum(steps) / max(1, len(steps)), least)

    def _shift(self) -> Change | None:
        after = _median(sorted(p.value for p in self.pending))
        before, size = self.level, abs(self._deviations(after))
        readings = tuple(reversed(self.pending))
        since, self.last = self.last, readings[0].time
        self.window, self.place = [p.value for p in self.pending], len(self.pending) % self.size
        self.inherited = self.scale
        self.level = after
        self.pending = []
        self._refresh()
        return self._tell(Deviation.SHIFT, before, after, since, readings, size)

    def _drift(self, reading: Reading) -> Change | None:
        gap = abs(self.level - self.anchor)
        bar = self._bar() * self.noise
        if gap <= bar:
            if gap <= bar / 3 or self.left is None:
                self.left = reading
            return None
        self._fade(reading.time)
        if gap <= _BEYOND * (self.high - self.low) and not self._outside(self.level):
            return None
        since = self.left if self.left is not None else reading
        readings = (reading,) if since is reading else (reading, since)
        start = self.place if len(self.window) == self.size else 0
        latest = (self.window[start:] + self.window[:start])[-_LATEST:]
        self.level = _median(sorted(latest))  # the smoothed one tells late where it is now
        return self._tell(Deviation.DRIFT, self.anchor, self.level, since.time, readings, gap / self.noise)

    def _tell(
        self, kind: Deviation, before: float, after: float, since: Instant, readings: tuple[Reading, ...], size: float
    ) -> Change | None:
        """Told when it leads beyond what was told of, or when a habit has doubled."""
        reading = readings[0]
        self._fade(reading.time)
        times = 1
        outside = self._outside(after)
        told = outside or self.swings.worth(reading.time, _MEMORY)
        if not outside:
            times = self.swings.count
        onward = self.origin is not None and (after > before) == (before > self.origin.value)
        origin = self.origin if onward else None
        if not onward:
            self.origin = Reading(before, since, readings[-1].id, readings[-1].trust)
        self.low, self.high = min(self.low, after), max(self.high, after)
        self.anchor, self.left = after, reading
        return Change(kind, before, after, since, readings, size, times, origin) if told else None

    def _outside(self, level: float) -> bool:
        margin = _BEYOND * (self.high - self.low)
        return not self.low - margin <= level <= self.high + margin

    def _fade(self, now: Instant) -> None:
        """Territory not visited for long is forgotten."""
        share = 1 - 0.5 ** (max(0.0, now - self.ranged) / _MEMORY)
        self.low += (min(self.anchor, self.level) - self.low) * share
        self.high += (max(self.anchor, self.level) - self.high) * share
        self.ranged = max(self.ranged, now)

    def _spike(self, back: float) -> Change | None:
        far = max(self.pending, key=lambda p: abs(p.value - self.centre))
        readings = (far, *(p for p in self.pending if p is not far))
        self.pending = []
        size = abs(self._deviations(far.value))
        known = self.spikes.count > 0 and size <= _RECORD * self.record
        worth = self.spikes.worth(far.time, _MEMORY)
        if known and not worth:
            return None
        self.record = size if self.spikes.count == 1 else max(self.record, size)
        return Change(Deviation.SPIKE, back, far.value, readings[-1].time, readings, size, self.spikes.count)


def _median(ordered: Sequence[float]) -> float:
    n = len(ordered)
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2
