"""What is worth saying of one series of numbers: it left its usual, and it is back. Bounded, calibrated, one pass.

Several figures of each reading are compared with all that the series showed before (``TailFit``): how far it is from a
forecast, how far the latest ones were from the usual on average, and how much the series moves. So the rate of false
alarms is about the same for steady, noisy and bursting series. An alarm is told once; there is no other one before
nothing was surprising for a while.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from actors.perception.forecast import DAY, LEVEL, NEAR, WEEK, Forecast
from actors.perception.tail import TailFit
from environment.messages import Instant

_LASTING = (6, 36)
"""Readings over which a lasting deviation is averaged."""
_MOVES = 12
"""The same for how much a series moves, against ``_USUALLY`` readings."""
_USUALLY = 400
_MOVED = 0.7
"""Logarithm of the ratio of moves below which it says nothing: half or twice as much."""
_WARM_UPS = (8, 120, 720, 480, 480)
"""Readings before each figure may surprise: the slow ones need more."""
_ONCE = (1, *(n // 2 for n in _LASTING), 1, 1)
"""Readings in a row in which one event shows, about; each figure has its own."""
_COMMON = 3.4
"""Nats below which nothing is surprising."""
_REST = 24
"""Readings in a row without surprise after which another alarm may be told."""
_LEAST, _LEAST_MOVE = 0.003, 0.002
"""Share of the usual size below which differences say nothing."""
_NEWS = 12
"""Readings away after which what surprises is learned again: before, it is the same event, learned once."""
_CLIP, _CLIP_MOVE = 5.0, 10.0
"""Usual errors, and usual moves, as which a greater one counts where they are averaged: one spike is no new level."""
_NEARBY = 3.0
"""Usual errors from the usual within which a reading is back."""
_SETTLED, _YOUNG, _SMOOTH = 16, 256, 0.25
"""Readings before a drift may be told; until which all levels are taken for usual as often as their number doubles, for
who is young has not seen its range; and the rate at which the level that may drift follows."""
_FIRST = 86_400.0
"""Seconds in which what drifts may be the way of the day."""
_DRIFT = 6.0
"""Usual moves by which a level must leave all levels told of; it must double their range as well."""
_SURE = 8
"""Readings that must be back in a row, at most; and one more than a quarter of those that were not."""


class Deviation(StrEnum):
    """How a series left its usual."""

    JUMP = "jump"
    LASTING = "lasting deviation"
    RESTLESS = "restless"
    STILL = "still"
    DRIFT = "drift"


_KINDS = (Deviation.JUMP, Deviation.LASTING, Deviation.LASTING, Deviation.RESTLESS, Deviation.STILL)


class Reading(msgspec.Struct, frozen=True, array_like=True):
    """One number and the perception that brought it."""

    value: float
    time: Instant
    id: str = ""
    trust: float = 0.5


@dataclass(frozen=True, slots=True)
class Alarm:
    """A series left its usual."""

    kind: Deviation
    usual: float
    """What was to be expected; of a series that moves more or less than usual, by how much it moved."""
    now: float
    reading: Reading
    surprise: float
    """Nats."""
    seasonal: bool = False
    """Whether the usual is that of the time of day or week."""
    young: bool = False
    """Whether it drifts on its first day: it may be the way of the day, which nobody knows yet."""


@dataclass(frozen=True, slots=True)
class Return:
    """A series is back at its usual."""

    began: Reading
    """What the alarm rested on."""
    first: Reading
    """The first one that was back."""


class _Episode(msgspec.Struct):
    """From an alarm until the series is back."""

    kind: Deviation
    began: Reading
    usual: float
    error: float
    by: int
    """Who forecast it: a season goes on meanwhile."""
    away: int = 0
    back: int = 0
    first: Reading | None = None


class Deviations(msgspec.Struct):
    """The past of one series.

    Guarantee: memory is bounded (with all hours of the week known about 50 kB, 8 kB in a snapshot), and the cost of a
    reading constant.
    """

    memory: int
    """Readings after which what was seen counts half."""
    forecast: Forecast = msgspec.field(default_factory=Forecast)
    tails: list[TailFit] = []
    lasting: list[float] = msgspec.field(default_factory=lambda: [0.0] * len(_LASTING))
    last: float = 0.0
    size: float = 0.0
    """Mean square root of the absolute values: what is usually about nothing has a size, and one disaster none."""
    moves: float = 0.0
    usual_moves: float = 0.0
    smooth: float = 0.0
    low: float = 0.0
    """Levels told of lie between ``low`` and ``high``; what drifts tells logarithmically."""
    high: float = 0.0
    least: float = 0.0
    """All levels lie between ``least`` and ``most``."""
    most: float = 0.0
    begun: Instant = 0.0
    quiet: int = _REST
    """Readings without surprise in a row; ``_REST`` while an alarm may be told."""
    episode: _Episode | None = None

    def take(self, reading: Reading, bar: float) -> Alarm | Return | None:
        """Take in one finite number; an alarm where it surprises by ``bar`` nats, or the end of the last one."""
        forecast, value = self.forecast, reading.value
        if not forecast.seen:
            self.tails = [TailFit(self.memory, *each) for each in zip(_WARM_UPS, _ONCE, strict=True)]
            self.last = self.smooth = self.least = self.most = value
            self.begun = reading.time
            self.size = math.sqrt(abs(value))
            forecast.learn(value, reading.time, forecast.all(reading.time))
            return None
        told = forecast.all(reading.time)
        by, slow = forecast.best(told, (NEAR, LEVEL, DAY, WEEK)), forecast.best(told, (LEVEL, DAY, WEEK))
        expected, usual = told[by] or 0.0, told[slow] or 0.0
        error, slow_error = forecast.errors[by], forecast.errors[slow]
        figures = self._figures(value, expected, usual, slow_error)
        forecast.learn(value, reading.time, told)
        telling = zip(self.tails, figures, (0.0, 0.0, 0.0, _MOVED, _MOVED), strict=True)
        surprises = [tail.surprise(figure) if figure >= least else 0.0 for tail, figure, least in telling]
        surprise = max(0.0, max(surprises) - math.log(len(surprises)))  # of so many the largest (Bonferroni)
        known = self.episode is not None and self.episode.away < _NEWS
        for tail, figure, each in zip(self.tails, figures, surprises, strict=True):
            if not known or each < _COMMON:
                tail.learn(figure)
        returned = self._returned(reading, told, surprise)
        rested, self.quiet = self.quiet >= _REST, self._rest(surprise)
        drifted = self._drifted(value)
        if self.episode is not None and self.episode.back:
            return returned
        if returned is not None or not rested or (surprise < bar and drifted is None):
            return returned
        self.quiet = 0
        if surprise < bar and drifted is not None:
            self.episode = _Episode(Deviation.DRIFT, reading, drifted, _DRIFT * self.usual_moves / _NEARBY, LEVEL)
            return Alarm(Deviation.DRIFT, drifted, value, reading, bar, young=reading.time - self.begun < _FIRST)
        which = surprises.index(max(surprises))
        kind = _KINDS[which]
        if kind is Deviation.LASTING:
            by, expected, error, value = slow, usual, slow_error, usual + self.lasting[which - 1]
        self.episode = _Episode(kind, reading, expected, max(error, _LEAST * abs(expected)), by)
        if kind in {Deviation.RESTLESS, Deviation.STILL}:
            return Alarm(kind, self.usual_moves, self.moves, reading, surprise)
        return Alarm(kind, expected, value, reading, surprise, by in {DAY, WEEK})

    def _figures(self, value: float, expected: float, usual: float, error: float) -> tuple[float, ...]:
        """Positive: what is compared with the past."""
        self.size += (math.sqrt(abs(value)) - self.size) / min(self.forecast.seen + 1, self.memory)
        size = max(self.size**2, abs(self.forecast.level))
        least = max(_LEAST * size, 1e-9)
        clip = _CLIP * max(error, least)
        off = max(-clip, min(clip, value - usual))
        self.lasting = [mean + (off - mean) / n for mean, n in zip(self.lasting, _LASTING, strict=True)]
        move, self.last = abs(value - self.last), value
        first = self.forecast.seen == 1
        self.moves += (move - self.moves) / (1 if first else _MOVES)
        floor = max(_LEAST_MOVE * size, 1e-9)
        bounded = move if first else min(move, _CLIP_MOVE * (self.usual_moves + floor))
        self.usual_moves += (bounded - self.usual_moves) / (1 if first else min(self.forecast.seen, _USUALLY))
        more = math.log((self.moves + floor) / (self.usual_moves + floor))
        return (
            abs(value - expected) + least,
            *(abs(mean) + least for mean in self.lasting),
            max(0.01, more),
            max(0.01, -more),
        )

    def _drifted(self, value: float) -> float | None:
        """The nearest level told of, where the present one has left them all; it is one of them from then on."""
        self.smooth += _SMOOTH * (value - self.smooth)
        seen = self.forecast.seen
        self.least, self.most = min(self.least, self.smooth), max(self.most, self.smooth)
        if seen <= _SETTLED or (seen <= _YOUNG and not seen & (seen - 1)):
            self.low, self.high = self.least, self.most
        other = self.episode is not None and self.episode.kind is not Deviation.DRIFT
        margin = max(_DRIFT * self.usual_moves, self.high - self.low, _LEAST * abs(self.forecast.level))
        nearest = min(max(self.smooth, self.low), self.high)
        far = abs(self.smooth - nearest) > margin and self.quiet >= _REST
        if far or other:
            self.low, self.high = min(self.low, self.smooth), max(self.high, self.smooth)
        return nearest if far and not other else None

    def _rest(self, surprise: float) -> int:
        if surprise < _COMMON:
            return min(_REST, self.quiet + 1)
        return self.quiet if self.quiet >= _REST else 0

    def _returned(self, reading: Reading, told: list[float | None], surprise: float) -> Return | None:
        episode = self.episode
        if episode is None:
            return None
        season = told[episode.by] if episode.by in {DAY, WEEK} else None
        usual = episode.usual if season is None else season
        moving = episode.kind in {Deviation.RESTLESS, Deviation.STILL}
        near = surprise < _COMMON if moving else abs(reading.value - usual) <= _NEARBY * episode.error
        if not near:
            episode.away += 1 + episode.back
            episode.back, episode.first = 0, None
            return None
        episode.back += 1
        episode.first = episode.first or reading
        if episode.back < (_REST if moving else min(_SURE, 1 + episode.away // 4)):
            return None
        self.episode = None
        return Return(episode.began, episode.first)
