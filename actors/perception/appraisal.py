"""Salience of a new thought: a weighted mean of parts, each a running percentile rank, times trust.

Parts and weights were chosen by measurement over unlike streams (transcripts, chat, logs): few parts, round weights,
nothing tuned to words. Affect uses the valences of the VADER lexicon (Hutto and Gilbert, 2014).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec
import numpy as np

from actors.perception.settings import AppraisalSettings
from actors.running import FadingCounts, RunningRank
from environment.messages import Vector

_LONGEST_WORD = 48
"""Characters of a word by which it is known."""
_DOUBT = 20
"""Values of which the first ranks are not taken at their word."""


@lru_cache(maxsize=1)
def valences() -> Mapping[str, float]:
    """Word to valence, -4..4."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # noqa: PLC0415  # half a second, once

    return {word: float(value) for word, value in SentimentIntensityAnalyzer().lexicon.items()}


@dataclass(frozen=True, slots=True)
class Appraisal:
    """How salient something is and why."""

    salience: float
    """0..1."""
    parts: Mapping[str, float]
    """Percentile rank of each part, 0..1."""
    valence: float
    """-1..1: sign and strength of feeling."""


class Appraiser:
    """Appraises in order of arrival; memory and cost do not grow with the stream."""

    def __init__(self, dim: int, settings: AppraisalSettings) -> None:
        self._settings = settings
        self._weights = {k: w for k, w in settings.weights.items() if w > 0}
        self._norm = sum(self._weights.values())
        self._ranks = {k: RunningRank(settings.rank_window) for k in self._weights}
        self._words = FadingCounts(settings.words)
        self._pairs = FadingCounts(settings.pairs)
        self._recent = np.zeros((settings.novelty_window, dim), np.float32)
        self._seen = 0

    def appraise(self, text: str, words: Sequence[str], vector: Vector, surprise: float = 0.0) -> Appraisal:
        """Appraise one event and learn from it. ``surprise`` 0..1 is added by who knows better (a change of rate)."""
        novelty = self._novelty(vector)
        energy, balance = self._affect(text, words)
        freshness, rarity = self._wording(words)
        raw = {"novelty": novelty, "emotion": energy, "freshness": freshness, "rarity": rarity}
        parts = {k: rank.surely(raw[k], _DOUBT) for k, rank in self._ranks.items()}
        value = sum(w * parts[k] for k, w in self._weights.items()) / self._norm
        return Appraisal(value + (1 - value) * surprise, parts, balance)

    def _novelty(self, vector: Vector) -> float:
        """One minus the nearest of the recent ones."""
        filled = min(self._seen, len(self._recent))
        nearest = float((self._recent[:filled] @ vector).max()) if filled else 0.0
        self._recent[self._seen % len(self._recent)] = vector.astype(np.float16)  # as precise as a snapshot keeps it
        self._seen += 1
        return 1.0 - nearest

    def _affect(self, text: str, words: Sequence[str]) -> tuple[float, float]:
        """(Intensity: root of the summed squares of valences, so that opposites do not cancel; balance -1..1)."""
        lexicon = valences()
        energy = total = 0.0
        for word in words:
            value = lexicon.get(word)
            if value is not None:
                energy += value * value
                total += value
        marks = text.count("!")
        if marks:
            energy += self._settings.exclamation**2 * min(3, marks)
        return math.sqrt(energy), total / math.sqrt(total * total + 15)

    def _wording(self, words: Sequence[str]) -> tuple[float, float]:
        """(Mean newness of words and word pairs, mean rarity of the three rarest words)."""
        if not words:
            return 0.0, 0.0
        if max(map(len, words)) > _LONGEST_WORD:
            words = [word[:_LONGEST_WORD] for word in words]
        pairs = [f"{a} {b}" for a, b in zip(("^", *words), (*words, "$"), strict=True)]
        counts = self._words.get_all(words)
        fresh = sum([1 / (1 + c) for c in counts]) + sum([1 / (1 + c) for c in self._pairs.get_all(pairs)])
        least = sorted(counts)[:3]
        total = self._words.total + 1000
        rarity = sum([math.log(total / (c + 0.5)) for c in least]) / len(least)
        self._words.add(words)
        self._pairs.add(pairs)
        return fresh / (len(words) + len(pairs)), rarity

    def dump(self) -> dict[str, object]:
        """For a snapshot."""
        return {
            "ranks": {k: r.dump() for k, r in self._ranks.items()},
            "words": self._words.dump(),
            "pairs": self._pairs.dump(),
            "recent": self._recent.astype(np.float16).tobytes(),
            "seen": self._seen,
        }

    def load(self, state: dict[str, object]) -> None:
        """From a snapshot; what was taken under another window or embedder is learned anew."""
        saved = msgspec.convert(state, _Saved)
        for k, values in saved.ranks.items():
            if k in self._ranks:
                self._ranks[k].load(values)
        self._words.load(saved.words)
        self._pairs.load(saved.pairs)
        recent = np.frombuffer(saved.recent, np.float16).astype(np.float32)
        if recent.size == self._recent.size:
            self._recent = recent.reshape(self._recent.shape)
            self._seen = saved.seen


class _Saved(msgspec.Struct):
    ranks: dict[str, list[float]]
    words: dict[str, int]
    pairs: dict[str, int]
    recent: bytes
    seen: int
