"""Who speaks with whom: learned from times alone, so that two sides of a conversation are read as one."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from environment.messages import Instant

_BESIDE = 900.0
"""Seconds within which what was said before belongs to a line."""
_SOON = 60.0
"""Seconds within which one answers another."""
_LIFT, _LEAST = 2.0, 3
"""In company is who spoke so soon before another so many times as often as by chance would be, and so often more."""
_TWO = 2
"""Where there are but two sources at all, they are in company: chance cannot be told."""
_LOOKED = 8
"""Sources that are looked at, those heard last."""


@dataclass(slots=True)
class Voice:
    """When somebody was heard: last, with the place of that line, and first; and how often."""

    place: int
    time: Instant
    first: Instant
    count: int = 0


class Company:
    """Finds for each line the one before it in its conversation.

    That is the last line of the same source, or a later one of somebody who speaks shortly before that source at
    least twice as often as chance has it, given how often each of them speaks. Memory is bounded by ``most`` sources,
    and 16 pairs for each.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._voices: dict[str, Voice] = {}
        """The one heard last stands last."""
        self._heard = 0
        """How many sources were ever heard."""
        self._pairs: Counter[tuple[str, str]] = Counter()
        """How often the first was heard soon before the second."""

    def heard(self, source: str, time: Instant, place: int) -> int:
        """Take in a line; the place of the one before it, -1 where there is none. Places grow."""
        own = self._voices.pop(source, None) or Voice(-1, time, time)
        self._heard += not own.count
        before = own.place if own.place >= 0 and abs(time - own.time) < _BESIDE else -1
        other = self._answered(source, own, time)
        self._voices[source] = Voice(place, time, own.first, own.count + 1)
        if len(self._voices) > self._most:
            del self._voices[next(iter(self._voices))]
        if len(self._pairs) > 16 * self._most:
            self._pairs = Counter(dict(self._pairs.most_common(8 * self._most)))
        return max(before, other)

    def move(self, places: Callable[[int], int]) -> None:
        """Lines are in other places now; -1: one is kept no more."""
        for voice in self._voices.values():
            voice.place = places(voice.place)

    def _answered(self, source: str, own: Voice, time: Instant) -> int:
        """The last line of those in company."""
        about: list[tuple[str, Voice]] = []
        for name in reversed(self._voices):
            if len(about) == _LOOKED or abs(time - self._voices[name].time) >= _BESIDE:
                break
            about.append((name, self._voices[name]))
        for name, voice in about:
            if abs(time - voice.time) <= _SOON:
                self._pairs[name, source] += 1
        for name, voice in about:
            rate = voice.count / max(abs(time - voice.first), 1.0)
            chance = own.count * (1 - math.exp(-rate * _SOON))
            if self._heard <= _TWO or self._pairs[name, source] > _LIFT * chance + _LEAST:
                return voice.place
        return -1
