"""What comes before or after something more often than chance has it: a case-crossover comparison (Maclure, 1991)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from environment.messages import Instant

_DAY = 86_400.0
_SPANS = (900.0, 7200.0)
"""Seconds within which one comes with the other: whichever shows it best."""
_SELDOM = 43_200.0
"""Seconds between two comings, usually, of what is looked at: what comes more often comes along with everything."""
_LATEST = 12
"""Comings that are looked at."""
_LEAST, _MOSTLY = 3, 0.6
"""Of these, with how many a companion comes, at least."""
_JUST = 1e-3
_CONTROLS = tuple(days * _DAY for days in range(-7, 8) if days)
"""The same time of other days: how often it comes there is chance, and what both share of day and week."""
_CHANCE = 1e-3
"""How likely chance may have any of those that were looked at come along so often."""


@dataclass(frozen=True, slots=True)
class Companion:
    """What comes along with something."""

    key: str
    gap: float
    """Seconds between them, usually; below 0: it comes before."""
    came: int
    of: int
    """How often it came along, of how many times."""


class Timeline:
    """When everything came, in one order."""

    def __init__(self, times: Mapping[str, Sequence[Instant]], now: Instant) -> None:
        times = {key: its for key, its in times.items() if its and now - its[0] >= _SELDOM * len(its)}
        self._all = sorted((at, key) for key, its in times.items() for at in its)
        self._ats = [at for at, _ in self._all]
        self._times = times

    def companions(self, of: str) -> list[Companion]:
        """What comes before something, and what after it: the surest of each, if any."""
        cases = self._times.get(of, ())[-_LATEST:]
        if len(cases) < _LEAST:
            return []
        return [one for before in (True, False) if (one := self._surest(of, cases, before)) is not None]

    def _surest(self, of: str, cases: Sequence[Instant], before: bool) -> Companion | None:
        least = max(_LEAST, math.ceil(_MOSTLY * len(cases)))
        there = self._there(cases, before)
        sure: list[tuple[float, float, str, Companion]] = []
        for key in [key for key, count in there.items() if count >= least and key != of]:
            gaps = self._gaps(key, cases, before)
            controls = [at + days for at in cases for days in _CONTROLS if self._ats[0] <= at + days <= self._ats[-1]]
            chance = self._gaps(key, controls, before)
            for span in _SPANS:
                near = [gap for gap in gaps if abs(gap) < span]
                usual = (sum(abs(gap) < span for gap in chance) + 1) / (len(controls) + 2)
                if len(near) >= least:
                    found = Companion(key, median(near), len(near), len(cases))
                    sure.append((len(there) * _tail(len(near), len(cases), usual), abs(found.gap), key, found))
        return min(sure)[-1] if sure and min(sure)[0] < _CHANCE else None

    def _there(self, cases: Iterable[Instant], before: bool) -> Counter[str]:
        """What comes along with these times, and with how many."""
        found: Counter[str] = Counter()
        for at in cases:
            since, until = (at - _SPANS[-1], at) if before else (at + _JUST, at + _SPANS[-1])
            found.update({key for _, key in self._all[bisect_left(self._ats, since) : bisect_left(self._ats, until)]})
        return found

    def _gaps(self, key: str, cases: Iterable[Instant], before: bool) -> list[float]:
        """By how much it comes later, for each of these times along with which it comes."""
        times, found = self._times[key], []
        for at in cases:
            nearest = bisect_left(times, at) - 1 if before else bisect_left(times, at + _JUST)
            if 0 <= nearest < len(times) and abs(times[nearest] - at) < _SPANS[-1]:
                found.append(times[nearest] - at)
        return found


def _tail(came: int, of: int, chance: float) -> float:
    """How likely it comes so often or more."""
    return sum(math.comb(of, n) * chance**n * (1 - chance) ** (of - n) for n in range(came, of + 1))
