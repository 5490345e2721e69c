"""What comes before or after something more often than chance has it: a case-crossover comparison (Maclure, 1991)."""

from __future__ import annotations

import math
from bisect import bisect_left
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
_CHANCE = 3e-4
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
        sure: list[tuple[float, float, str, Companion]] = []
        for span in _SPANS:
            there = self._there(cases[: len(cases) - least + 1], span, before) - {of}
            for key in there:
                gaps = self._gaps(key, cases, span, before, len(cases) - least)
                if len(gaps) >= least:
                    controls = [at + days for at in cases for days in _CONTROLS if self._known(at + days)]
                    usual = (len(self._gaps(key, controls, span, before, len(controls))) + 1) / (len(controls) + 2)
                    gap, chance = median(gaps), len(there) * _tail(len(gaps), len(cases), usual)
                    sure.append((chance, abs(gap), key, Companion(key, gap, len(gaps), len(cases))))
        return min(sure)[-1] if sure and min(sure)[0] < _CHANCE else None

    def _there(self, cases: Iterable[Instant], span: float, before: bool) -> set[str]:
        """What comes within a span of any of these times."""
        found: set[str] = set()
        for at in cases:
            since, until = (at - span, at) if before else (at + _JUST, at + span)
            found.update(key for _, key in self._all[bisect_left(self._ats, since) : bisect_left(self._ats, until)])
        return found

    def _gaps(self, key: str, cases: Sequence[Instant], span: float, before: bool, without: int) -> list[float]:
        """By how much it comes later, for each of these times along with which it comes; none of more than so many."""
        times, found = self._times[key], []
        for n, at in enumerate(cases):
            nearest = bisect_left(times, at) - 1 if before else bisect_left(times, at + _JUST)
            if 0 <= nearest < len(times) and abs(times[nearest] - at) < span:
                found.append(times[nearest] - at)
            elif n - len(found) >= without:
                break
        return found

    def _known(self, at: Instant) -> bool:
        return self._ats[0] <= at <= self._ats[-1]


def _tail(came: int, of: int, chance: float) -> float:
    """How likely it comes so often or more."""
    return sum(math.comb(of, n) * chance**n * (1 - chance) ** (of - n) for n in range(came, of + 1))
