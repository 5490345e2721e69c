"""The law of salience: evaporation on read, reinforcement, diminishing (see ``mind.md``, "Salience").

All functions are pure. Salience is in 0..1, times are instants, half-lives are seconds.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from environment.messages import Instant, Level

CEILING = 0.92
"""No reinforcement lifts salience above this."""


def at(level: Level, now: Instant) -> float:
    """Salience at ``now``: ``value * 0.5 ** (age / half_life)``. Before ``level.at`` it is the value itself."""
    age = now - level.at
    return level.value if age <= 0 else level.value * 0.5 ** (age / level.half_life)


def at_many(
    values: NDArray[np.float64], ats: NDArray[np.float64], half_lives: NDArray[np.float64], now: Instant
) -> NDArray[np.float64]:
    """``at`` for many levels at once: ``(n,) float64`` each, and so the answer."""
    return values * np.exp2(-np.maximum(now - ats, 0.0) / half_lives)


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


def sinks_at(level: Level, floor: float) -> Instant:
    """When it will have sunk to ``floor`` if nobody reinforces it; ``level.at`` where it is no higher now."""
    if level.value <= floor:
        return level.at
    return level.at + level.half_life * math.log2(level.value / floor)


def is_echo(trace_id: str, lineage: Collection[str], ancestors: Collection[str]) -> bool:
    """Whether an act that rests on ``lineage`` is an echo of the trace: an echo is not evidence and counts nothing.

    It is one if it rests on the trace itself or on a descendant: ``ancestors`` are those of all of ``lineage``.
    """
    return trace_id in lineage or trace_id in ancestors


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0) if value == value else 0.0  # noqa: PLR0124 - NaN counts nothing
