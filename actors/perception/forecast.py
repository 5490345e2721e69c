"""What the next number of a series should be: by the latest ones, its level, the time of day, the hour of the week."""

import math
from collections.abc import Sequence
from statistics import median_high

import msgspec

from environment.messages import Instant

NEAR, LEVEL, DAY, WEEK = range(4)
_DAY_SECONDS = 86_400.0
_PERIODS = ((_DAY_SECONDS, 96), (7 * _DAY_SECONDS, 168))
"""Length of a season, and the bins in which it is learned: quarters of an hour, hours of the week."""
_LATEST = 3
"""Readings of which the middle one is the nearest forecast: one outlier does not move it."""
_LEVEL, _SEASON = 0.02, 0.1
"""Rates at which level and season follow what comes."""
_FAR, _FEW = 20.0, 8
"""Usual errors beyond which a reading moves the level no more, once a few are known."""
_VISITS = 3
"""Readings in a bin before it says anything."""
_TRIALS, _FORGET = 20, 0.005
"""Forecasts by which a season is judged at least, and the rate at which errors fade."""
_GROSS = 8.0
"""Times the usual error beyond which one says nothing more of who forecasts well."""


class Forecast(msgspec.Struct):
    """Four forecasters, judged by their errors lately: a season counts as soon as it is better than none.

    Memory is bounded by the bins; the cost of a reading is constant.
    """

    seen: int = 0
    latest: list[float] = []
    level: float = 0.0
    seasons: tuple[dict[int, tuple[float, float]], dict[int, tuple[float, float]]] = msgspec.field(
        default_factory=lambda: ({}, {})
    )
    """By bin: mean, and how many readings it rests on."""
    errors: list[float] = msgspec.field(default_factory=lambda: [0.0] * 4)
    """Mean absolute errors."""
    trials: list[int] = msgspec.field(default_factory=lambda: [0] * 4)

    def all(self, time: Instant) -> list[float | None]:
        """What each of them says; None who cannot tell yet."""
        near = median_high(self.latest) if self.latest else 0.0
        return [near, self.level, *(self._season(i, time) for i in range(len(_PERIODS)))]

    def best(self, forecasts: Sequence[float | None], among: Sequence[int]) -> int:
        """Who was nearest to the truth lately, of those who say something."""
        able = [i for i in among if i <= LEVEL or (forecasts[i] is not None and self.trials[i] >= _TRIALS)]
        return min(able, key=lambda i: self.errors[i])

    def learn(self, value: float, time: Instant, forecasts: Sequence[float | None]) -> None:
        """Compare with what was forecast, and take it in."""
        for i, forecast in enumerate(forecasts):
            if forecast is not None and self.seen:
                error = abs(value - forecast)
                self.trials[i] += 1
                if self.trials[i] > 1:
                    error = min(error, _GROSS * self.errors[i] + 1e-9)
                self.errors[i] += max(1 / self.trials[i], _FORGET) * (error - self.errors[i])
        self.seen += 1
        self.latest = [*self.latest[1 - _LATEST :], value]
        bound = _FAR * max(self.errors[LEVEL], 0.003 * abs(self.level)) if self.seen > _FEW else math.inf
        self.level += max(_LEVEL, 1 / self.seen) * max(-bound, min(bound, value - self.level))
        for season, (period, bins) in zip(self.seasons, _PERIODS, strict=True):
            place = int(time % period / period * bins)
            mean, visits = season.get(place, (0.0, 0.0))
            visits = min(visits + 1, 1 / _SEASON)
            season[place] = (mean + (value - mean) / visits, visits)

    def _season(self, i: int, time: Instant) -> float | None:
        period, bins = _PERIODS[i]
        mean, visits = self.seasons[i].get(int(time % period / period * bins), (0.0, 0.0))
        return mean if visits >= _VISITS else None
