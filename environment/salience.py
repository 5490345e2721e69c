"""The law of salience: evaporation on read, reinforcement, diminishing.

All functions are pure. Salience is in 0..1, times are instants, half-lives are seconds.
"""

import math

from environment.messages import Instant, Level

CEILING = 0.92
"""No reinforcement lifts salience above this."""


def at(level: Level, now: Instant) -> float:
    """Salience at ``now``: ``value * 0.5 ** (age / half_life)``. Before ``level.at`` it is the value itself."""
    age = now - level.at
    return level.value if age <= 0 else level.value * 0.5 ** (age / level.half_life)


def settled(level: Level, now: Instant) -> Level:
    """The same salience written down at ``now``."""
    return level if now <= level.at else Level(at(level, now), now, level.half_life)


def reinforced(level: Level, now: Instant, gain: float, times: int = 1, ceiling: float = CEILING) -> Level:
    """``s += gain / log2(1 + n) * (1 - s)``, where this is the ``n``-th time (from 1) by the same submind.

    The first counts in full, the third a half. The result is at most ``ceiling``, or as it was if it was above.
    """
    if times < 1:
        raise ValueError(f"reinforcements are counted from 1, not {times}")
    value = at(level, now)
    raised = value + _share(gain) / math.log2(1 + times) * (1 - value)
    return Level(max(value, min(raised, ceiling)), max(now, level.at), level.half_life)


def diminished(level: Level, now: Instant, loss: float) -> Level:
    """``s *= 1 - loss``."""
    return Level(at(level, now) * (1 - _share(loss)), max(now, level.at), level.half_life)


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0) if value == value else 0.0  # noqa: PLR0124 - NaN counts nothing
