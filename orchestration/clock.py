"""What time it is to a living mind: the wall's, or a past that catches up with it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from environment.messages import Instant
from orchestration.settings import ClockSettings


def wall() -> Instant:
    """The wall clock, in seconds since 1970, UTC: the one place that reads it for a living mind."""
    return time.time()  # noqa: TID251 - somebody must; everybody else is handed a clock


class Clock(Protocol):
    """Mind time, and how long to sleep until some of it has passed."""

    def now(self) -> Instant:
        """Mind time now. Goes back only if the wall clock is set back."""
        ...

    def wall_delay(self, until: Instant) -> float:
        """Seconds of wall time until mind time reaches ``until``; 0 when it has."""
        ...


@dataclass(frozen=True, slots=True)
class WallClock:
    """Mind time is wall time."""

    def now(self) -> Instant:
        return wall()

    def wall_delay(self, until: Instant) -> float:
        return max(0.0, until - wall())


@dataclass(frozen=True, slots=True)
class CatchUpClock:
    """Mind time that runs fast out of the past until it meets the wall, and is the wall from there on.

    It was ``start`` when the wall showed ``origin``; until they meet it runs ``speed`` times as fast as the wall. Three
    numbers say all of it, so every process of a mind can have the same clock. A ``start`` that is not before
    ``origin``, or a speed that would never catch up, makes it the wall's at once.
    """

    start: Instant
    speed: float
    origin: Instant

    @property
    def meets(self) -> Instant:
        """When mind time and wall time are first the same."""
        if self.speed <= 1.0 or self.start >= self.origin:
            return self.origin
        return self.origin + (self.origin - self.start) / (self.speed - 1.0)

    def now(self) -> Instant:
        return self.at(wall())

    def at(self, wall_time: Instant) -> Instant:
        """Mind time when the wall shows ``wall_time``."""
        if wall_time >= self.meets:
            return wall_time
        return min(wall_time, self.start + (wall_time - self.origin) * self.speed)

    def wall_delay(self, until: Instant) -> float:
        return self.delay(until, wall())

    def delay(self, until: Instant, wall_time: Instant) -> float:
        """As ``wall_delay``, seen from ``wall_time``."""
        if wall_time >= self.meets or until >= self.meets:
            return max(0.0, until - wall_time)
        return max(0.0, self.origin + (until - self.start) / self.speed - wall_time)


def clock_of(settings: ClockSettings, origin: Instant) -> Clock:
    """The clock that ``settings`` describe; ``origin`` is when the mind was first started, unless they say."""
    if settings.start is None:
        return WallClock()
    began = origin if settings.origin is None else settings.origin
    return CatchUpClock(settings.start, settings.speed, began)
