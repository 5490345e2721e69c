"""When something comes that comes again and again: its times of day, its days, or its interval. Pure; in UTC."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median

from environment.messages import Instant

_HOUR, _DAY, _WEEK = 3600.0, 86_400.0, 7
_APART = 2 * _HOUR
"""Between two times of day of one routine, at least."""
_SPREAD = 3 * _HOUR
"""Within which it comes at one time of day, nearly always."""
_SLACK = 1.5 * _HOUR
"""After its hour from which it is missed."""
_MANY = 4
"""Times of day, at most: what has more comes at an interval."""
_DAILY, _WEEKLY, _STEADY = 4, 3, 8
"""Times that it must have come to be taken for daily, for weekly, for one at an interval."""
_CHANCE = 3e-5
"""How likely chance may bring it so close together on these days: of thousands of things that come some do."""
_AWAKE, _BLUR = 10 * _HOUR, 600.0
"""Of a day, when things come by chance; and by how much less than that no two hours differ."""
_REGULAR = 0.7
"""Share of what is expected that comes; and of what comes that is expected."""
_OVER = 3
"""Times in a row that it does not come when it has ended."""
_NEAR = 0.12
"""By which an interval may be off."""
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WORKDAYS, _WEEKEND = frozenset(range(5)), frozenset((5, 6))


@dataclass(frozen=True, slots=True)
class Routine:
    """That something comes at certain times."""

    days: frozenset[int] = frozenset()
    """Of the week, Monday is 0; empty: it comes at an interval."""
    hours: tuple[float, ...] = ()
    """Times of day in seconds, in order."""
    every: float = 0.0
    """Seconds between two, where it has no days."""
    came: int = 0
    """How often it came when it was expected."""
    missed: tuple[Instant, ...] = ()
    """When it was expected and did not come."""
    over: Instant | None = None
    """When it last came, where it has ended since."""

    def same(self, other: Routine) -> bool:
        """Whether they say the same, but for how often it came and small shifts."""
        near = all(abs(_turned(a, b)) <= _APART / 2 for a, b in zip(self.hours, other.hours, strict=False))
        alike = (self.days, len(self.hours)) == (other.days, len(other.hours)) and near
        return alike and math.isclose(self.every, other.every, rel_tol=2 * _NEAR)

    def words(self) -> str:
        """When it comes."""
        if not self.days:
            return f"about every {_span(self.every)}"
        night = all(hour < 5 * _HOUR or hour >= 22 * _HOUR for hour in self.hours)
        days = {_WORKDAYS: "on weekdays", _WEEKEND: "at weekends"}.get(self.days)
        if len(self.days) == _WEEK:
            days = "nightly" if night else "daily"
        days = days or "every " + listed([_DAYS[day] for day in sorted(self.days)])
        return f"{days} about {listed([clock(hour) for hour in self.hours])}"


def routine(times: Sequence[Instant], now: Instant) -> Routine | None:
    """The routine in which something came, which may have ended; None where there is none. ``times`` in order."""
    return _by_day(times, now) or _by_interval(times, now)


def _turned(hour: float, middle: float) -> float:
    """How far a time of day is from another, the short way round."""
    return (hour - middle + _DAY / 2) % _DAY - _DAY / 2


def _groups(times: Sequence[Instant]) -> list[list[Instant]]:
    """By time of day: where nothing ever comes for long, one ends."""
    ordered = sorted(times, key=lambda at: at % _DAY)
    cuts = [n for n, (a, b) in enumerate(pairwise(ordered), 1) if (b - a) % _DAY > _APART]
    parts = [ordered[a:b] for a, b in pairwise([0, *cuts, len(ordered)])]
    if len(parts) > 1 and (parts[0][0] - parts[-1][-1]) % _DAY <= _APART:
        parts[0] = parts.pop() + parts[0]
    return parts


def _by_day(times: Sequence[Instant], now: Instant) -> Routine | None:
    if len(times) < _WEEKLY:
        return None
    found = [one for one in (_hour(part, now) for part in _groups(times)) if one is not None]
    best = max(found, key=lambda one: one.came, default=None)
    if best is None:
        return None
    kept = sorted(
        (one for one in found if (one.days == best.days and one.over == best.over) or one is best),
        key=lambda one: one.hours,
    )
    came = sum(one.came for one in kept)
    lately = [at for at in times if best.over is None or at <= best.over + _SPREAD]
    if len(kept) > _MANY or came < _REGULAR * len(lately):
        return None
    hours = tuple(one.hours[0] for one in kept)
    return Routine(best.days, hours, 0.0, came, tuple(sorted(at for one in kept for at in one.missed)), best.over)


def _hour(part: Sequence[Instant], now: Instant) -> Routine | None:
    """What comes at one time of day."""
    first = part[0] % _DAY
    middle = (first + median((at - first) % _DAY for at in part)) % _DAY
    near = [at for at in part if abs(_turned(at, middle)) <= _SPREAD / 2]
    if len(near) < max(_WEEKLY, _REGULAR * len(part)):
        return None
    numbers = sorted({round((at - middle) / _DAY) for at in near})
    last = math.floor((now - middle - _SLACK) / _DAY)
    wide = max(_turned(at, middle) for at in near) - min(_turned(at, middle) for at in near) + _BLUR
    days = _days(numbers)
    share = min(1.0, wide / _AWAKE) * len(days) / _WEEK
    if not days or len(numbers) * share ** (len(numbers) - 1) >= _CHANCE:
        return None
    expected = [day for day in range(numbers[0], max(last, numbers[-1]) + 1) if (day + 3) % _WEEK in days]
    missed = [day for day in expected if day not in set(numbers)]
    over = None
    if [day for day in expected if day > numbers[-1]][_OVER - 1 :]:
        over = max(near)
        missed = [day for day in missed if day <= numbers[-1]]
    return Routine(days, (middle,), 0.0, len(near), tuple(day * _DAY + middle for day in missed), over)


def _days(numbers: Sequence[int]) -> frozenset[int]:
    """On which days of the week something comes that came on days of these numbers; empty: on none in particular."""
    came = Counter((day + 3) % _WEEK for day in numbers)
    chances = Counter((day + 3) % _WEEK for day in range(numbers[0], numbers[-1] + 1))
    often = frozenset(day for day, count in came.items() if count > 1 and count >= _REGULAR * chances[day])
    for days in (frozenset(range(_WEEK)), _WORKDAYS, _WEEKEND, often):
        on, most = sum(came[day] for day in days), sum(chances[day] for day in days)
        never = days is not often and any(chances[day] > 1 and not came[day] for day in days)
        least = max(_WEEKLY if len(days) < len(_WORKDAYS) else _DAILY, 0.8 * len(numbers), _REGULAR * most)
        if on >= least and not never:
            return days
    return frozenset()


def _by_interval(times: Sequence[Instant], now: Instant) -> Routine | None:
    gaps = [b - a for a, b in pairwise(times)]
    usual = median(gaps) if len(times) >= _STEADY else 0.0
    if not usual:
        return None
    off = max(_NEAR * usual, 300.0)
    steps = [max(1, round(gap / usual)) for gap in gaps]
    fits = [step < _OVER and abs(gap - step * usual) <= off * step for step, gap in zip(steps, gaps, strict=True)]
    if sum(fits) < 0.8 * len(gaps) or sum(step == 1 for step in steps) < _REGULAR * len(steps):
        return None
    missed = [at + usual for at, step, fit in zip(times, steps, fits, strict=False) if fit and step > 1]
    over = times[-1] if now - times[-1] > (_OVER + 0.5) * usual else None
    return Routine(every=usual, came=1 + sum(fits), missed=tuple(missed), over=over)


def clock(hour: float) -> str:
    """A time of day to five minutes."""
    minutes = round(hour / 300) * 5 % 1440
    return f"{minutes // 60:02}:{minutes % 60:02}"


def day(at: Instant, now: Instant) -> str:
    """A date as people say it, with the year where it is another."""
    then = datetime.fromtimestamp(at, UTC)
    year = "" if then.year == datetime.fromtimestamp(now, UTC).year else f" {then.year}"
    return f"{then.day} {then:%B}{year}"


def _span(seconds: float) -> str:
    for unit, size in (("day", _DAY), ("hour", _HOUR), ("minute", 60.0)):
        if seconds >= 0.95 * size and (
            unit == "minute" or abs(seconds / size - round(seconds / size)) < 0.12 * seconds / size
        ):
            count = round(seconds / size)
            return unit if count == 1 else f"{count} {unit}s"
    return f"{round(seconds / 60)} minutes"


def listed(words: Sequence[str]) -> str:
    """Words joined by commas and "and"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
