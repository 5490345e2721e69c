"""Talk among people, in which nearly every line is new: newness alone is no evidence there, standing out is.

Four running ranks are added up: how dense a line is with new words, three times; how unlike the latest ones; what
evidence there is without feeling; half of its feeling. The weights are round, from a plateau for a mission's moments
(``benchmarks/coverage.py``) and for incidents planted in its talk and in help channels (``benchmarks/talk.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec

from actors.running import RunningRank
from environment.latest import Latest

_WINDOW = 500
"""Lines of talk among which a new one is ranked."""
_KNOWN = (200, 700)
"""Lines of talk after which standing out counts as much as evidence does: where nobody but talkers is heard, whom
evidence hardly tells apart, and where machines are heard as well."""
_MACHINES = 0.1
"""Share of lines that are no talk from which on it is the latter."""
_FRESH = (0.6, 0.8)
"""Share of lines that are no repeats: up to the first a source is no talker, from the second on it is."""
_DOUBT = 10.0
"""Lines that are taken for new before a source has said any."""
_MEMORY = 1000
"""Lines of a source after which earlier ones count half."""
_SHORT = 6
"""Words below which a line is no denser for being short."""
_DENSITY, _FEELING = 3.0, 0.5
_EVEN = 0.1
"""Share of talk that stands out so much that it is as likely as not to be wanted."""
_SLOPE = 0.8
"""Log odds for each e-fold of rarity."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a line is ranked by."""

    words: int
    new: float
    """How many of them are new."""
    unlike: float
    """0..1."""
    feeling: float
    """Strength, from 0."""
    evidence: float
    """Log odds without feeling."""


class Talk:
    """Tells talkers from machines by how seldom they repeat themselves. Memory is bounded by ``sources``."""

    def __init__(self, sources: int) -> None:
        self._sources: Latest[str, tuple[float, float]] = Latest(sources)
        """Lines that were no repeats, and all."""
        self._ranks = [RunningRank(_WINDOW) for _ in range(4)]
        self._standing = RunningRank(_WINDOW)
        self._lines = 0
        self._share = 0.0, 0.0
        """Lines of talk, and all; repeats at a time count for one, so that a flood is not all that was heard."""

    def hear(self, source: str, lines: int = 1, *, fresh: bool) -> float:
        """Count what a source said; how much of a talker it is by then, 0..1."""
        new, every = self._sources.get(source, (0.0, 0.0))
        new, every = new + lines * fresh, every + lines
        self._sources[source] = _faded(new, every)
        low, high = _FRESH
        talker = min(1.0, max(0.0, ((new + _DOUBT) / (every + _DOUBT) - low) / (high - low)))
        self._share = _faded(self._share[0] + talker, self._share[1] + 1.0)
        return talker

    def weigh(self, talker: float, said: Remark, odds: float) -> float:
        """Log odds that somebody wants what a talker says: ``odds``, then more and more how it stands out of talk."""
        if not talker:
            return odds
        self._lines += 1
        values = (said.new / max(_SHORT, said.words), said.unlike, said.evidence, said.feeling)
        dense, unlike, evident, feeling = [rank.update(value) for rank, value in zip(self._ranks, values, strict=True)]
        above = 1.0 - self._standing.update(_DENSITY * dense + unlike + evident + _FEELING * feeling)
        outstanding = _SLOPE * math.log(_EVEN / max(1 / _WINDOW, above))
        talk, heard = self._share
        machines = min(1.0, (1.0 - talk / heard) / _MACHINES)
        half = _KNOWN[0] + (_KNOWN[1] - _KNOWN[0]) * machines
        known = self._lines**2 / (self._lines**2 + half**2)
        share = talker * known * min(1.0, max(0.0, 2 * (said.new - 1)))  # a new word alone says nothing
        return (1.0 - share) * odds + share * outstanding

    def dump(self) -> SavedTalk:
        """For a snapshot."""
        ranks = [rank.dump() for rank in (*self._ranks, self._standing)]
        return SavedTalk([(name, *counts) for name, counts in self._sources.items()], ranks, self._lines, self._share)

    def load(self, saved: SavedTalk) -> None:
        """From a snapshot."""
        self._sources.update((name, (new, every)) for name, new, every in saved.sources)
        for rank, values in zip((*self._ranks, self._standing), saved.ranks, strict=True):
            rank.load(values)
        self._lines, self._share = saved.lines, saved.share


def _faded(some: float, every: float) -> tuple[float, float]:
    """Some lines and all, half of both where all are more than are remembered."""
    fade = 0.5 if every > _MEMORY else 1.0
    return some * fade, every * fade


class SavedTalk(msgspec.Struct):
    """What a snapshot holds of it."""

    sources: list[tuple[str, float, float]]
    ranks: list[list[float]]
    lines: int
    share: tuple[float, float] = (0.0, 0.0)
