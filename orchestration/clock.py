"""What time it is to a living mind: the wall's, or a past that catches up with it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from environment.clocks import was_wrong
from environment.messages import Instant
from orchestration.settings import ClockSettings


class ForwardClock:
    """A wall clock that never goes back, but by so much that it was wrong.

    Set back by less than ``SET_BACK`` it stands still until ``read`` shows again what was shown before.
    """

    def __init__(self, read: Callable[[], Instant]) -> None:
        self.read = read
        self._shown: Instant = float("-inf")

    def __call__(self) -> Instant:
        now = self.read()
        if now > self._shown or was_wrong(self._shown, now):
            self._shown = now
        return self._shown


wall = ForwardClock(time.time)  # noqa: TID251 - somebody must; everybody else is handed a clock
"""The wall clock, in seconds since 1970, UTC: the one that a living mind reads."""


class Clock(Protocol):
    """Mind time, and how long to sleep until some of it has passed."""

    def now(self) -> Instant:
        """Mind time now. Goes back only where the wall clock was wrong (``ForwardClock``)."""

    def wall_delay(self, until: Instant) -> float:
        """Seconds of wall time until mind time reaches ``until``; 0 when it has."""


@dataclass(frozen=True, slots=True)
class WallClock:
    """Mind time is wall time."""

    def now(self) -> Instant:
        return wall()

    def wall_delay(self, until: Instant) -> float:
        return max(0.0, until - wall.read())


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
        return self.delay(until, wall.read())

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
