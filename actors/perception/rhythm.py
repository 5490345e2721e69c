"""Regularity: what comes at equal intervals, and its silence."""

import heapq
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from environment.messages import Instant

_SMOOTH = 0.2
_STEADY = 0.25
_LAG_FADES = 0.97
_WARIEST = 6

Key: TypeAlias = tuple[str, str]
"""Source, and what of it."""


class Rhythm(msgspec.Struct, omit_defaults=True):
    """When something came, and how regularly."""

    last: Instant
    """Latest event time."""
    interval: float = 0.0
    """Seconds between two, smoothed."""
    beats: int = 1
    regular: int = 0
    """Intervals in a row, about, that were equal."""
    lag: float = 0.0
    """Seconds by which it trails the latest event time of all when it arrives: the late are not silent."""
    silences: int = 0
    """How often it went silent: each time it must be regular for twice as long before the next counts."""
    silent: bool = False


class Watch:
    """Watches over the rhythms of many things; the owner keeps the rhythms.

    Guarantees: one entry waits for each thing watched; a silence is named once; what follows a snapshot is the same
    as without it.
    """

    def __init__(self, regular: int, silence: float) -> None:
        self._regular = regular
        self._silence = silence
        self._due: list[tuple[Instant, Key]] = []
        self._waiting: dict[Key, Instant] = {}
        self.latest: Instant = -float("inf")
        """Latest event time of all; part of the owner's snapshot."""

    def beat(self, key: Key, rhythm: Rhythm, time: Instant) -> bool:
        """Take in one more; True when it ends a silence, be it one that nobody had the time to name."""
        self.latest = max(self.latest, time)
        if not rhythm.silent and self._watched(rhythm) and time > self._due_at(rhythm):
            self._fall_silent(rhythm)
        rhythm.lag = max(self.latest - time, rhythm.lag * _LAG_FADES)
        gap = max(0.0, time - rhythm.last)
        rhythm.last = max(rhythm.last, time)
        rhythm.beats += 1
        if rhythm.beats == 2:  # noqa: PLR2004  # the first interval there is
            rhythm.interval = gap
            return False
        off = abs(gap - rhythm.interval)
        rhythm.interval += _SMOOTH * (gap - rhythm.interval)
        steady = rhythm.interval >= 1 and off <= _STEADY * rhythm.interval
        rhythm.regular = rhythm.regular + 1 if steady else rhythm.regular // 2
        back, rhythm.silent = rhythm.silent, False
        if self._watched(rhythm) and self._due_at(rhythm) < self._waiting.get(key, float("inf")):
            self._await(key, rhythm)
        return back

    def silences(self, now: Instant, find: Callable[[Key], Rhythm | None]) -> list[Key]:
        """What was regular and has stopped, longest overdue first; ``find`` gives a rhythm, None if it is forgotten."""
        self.latest = max(self.latest, now)
        found: list[tuple[Instant, Key]] = []
        while self._due and self._due[0][0] <= now:
            at, key = heapq.heappop(self._due)
            if self._waiting.get(key) != at:
                continue
            del self._waiting[key]
            rhythm = find(key)
            if rhythm is None or rhythm.silent or not self._watched(rhythm):
                continue
            due = self._due_at(rhythm)
            if due > now:
                self._await(key, rhythm)
                continue
            self._fall_silent(rhythm)
            found.append((due, key))
        return [key for _, key in sorted(found)]

    def due(self) -> Instant | None:
        """Event time before which nothing more falls silent; None while nothing is watched."""
        return self._due[0][0] if self._due else None

    def restore(self, key: Key, rhythm: Rhythm) -> None:
        """Watch over a rhythm from a snapshot."""
        if not rhythm.silent and self._watched(rhythm):
            self._await(key, rhythm)

    def forget(self, key: Key) -> None:
        """The owner no longer keeps this rhythm."""
        self._waiting.pop(key, None)

    def _fall_silent(self, rhythm: Rhythm) -> None:
        rhythm.silent = True
        rhythm.silences += 1
        rhythm.regular = 0

    def _watched(self, rhythm: Rhythm) -> bool:
        return rhythm.regular >= self._regular << min(rhythm.silences, _WARIEST)

    def _due_at(self, rhythm: Rhythm) -> Instant:
        return rhythm.last + rhythm.lag + self._silence * max(rhythm.interval, 1.0)

    def _await(self, key: Key, rhythm: Rhythm) -> None:
        due = self._due_at(rhythm)
        self._waiting[key] = due
        heapq.heappush(self._due, (due, key))
        if len(self._due) > 2 * len(self._waiting) + 64:  # the overtaken linger: compact now and then
            self._due = [(at, key) for at, key in self._due if self._waiting.get(key) == at]
            heapq.heapify(self._due)
