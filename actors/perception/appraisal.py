"""Salience of a new thought: evidence that somebody would want it, added up in log odds.

Every part is learned from what a source says itself; offset and weights are few, round, and were fitted over unlike
streams (chat, tickets, logs, mails) with each kind left out in turn. ``benchmarks/incidents.py`` measures them. Among
people who talk, how a line stands out takes their place as it becomes known (``talk.py``). Affect uses the valences of
the VADER lexicon (Hutto and Gilbert, 2014).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from actors.perception.settings import AppraisalSettings
from actors.perception.severity import severity
from actors.perception.surprise import SavedSurprise, SavedTempo, Surprise, Tempo
from actors.perception.talk import Remark, SavedTalk, Talk
from actors.running import FadingCounts, RunningRank
from environment.messages import Instant, Vector

_LONGEST_WORD = 48
"""Characters of a word by which it is known."""
_DOUBT = 20
"""Values of which the first ranks are not taken at their word."""
_NEAREST = 3
"""Threats that count, the nearest ones."""
_MOST = 3.0
"""Nats beyond which more surprise says nothing more: one in twenty."""
_PACE = 2.5
"""The same for tempo, whichever way."""
_UNLIKE, _AMOUNT = 31, 5
"""Steps of unlikeness, and of the logarithm of new words."""
_NEW_WORDS = 5.0
"""New words of what anybody says, on average."""
_SUBSTANCE = 3.0
"""New words that make a statement: a new word alone ("roger") is rare, and says nothing."""
_DECLARED = (1.0, 0.6, 0.5, 0.35, 0.2, 0.1)
"""Share of lines taken to declare themselves at least so severe where nothing is known of who says it: who has such
levels at all mostly uses them for routine as well."""


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
    """What each part adds to the log odds."""
    emotions: Mapping[str, float]
    """``valence``: sign and strength of feeling, -1..1; ``intensity``: percentile rank of its strength, 0..1."""


class Threats:
    """Likeness to what could do harm, against likeness to what does not: an innate sense, by meaning."""

    def __init__(self, harmful: NDArray[np.float32], harmless: NDArray[np.float32]) -> None:
        self._harmful = len(harmful)
        self._rows = np.concatenate([harmful, harmless])

    def of(self, vector: Vector) -> float:
        """Mean cosine to the nearest harmful ones, less that to the nearest harmless; 0 where either is not known."""
        if not self._harmful or self._harmful == len(self._rows):
            return 0.0
        likeness = (self._rows @ vector).tolist()
        harm, none = sorted(likeness[: self._harmful])[-_NEAREST:], sorted(likeness[self._harmful :])[-_NEAREST:]
        return float(sum(harm) / len(harm) - sum(none) / len(none))


NO_THREATS = Threats(np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32))
"""Of a mind that has none."""


class Appraiser:
    """Appraises in order of arrival; memory and cost do not grow with the stream."""

    def __init__(self, dim: int, settings: AppraisalSettings, threats: Threats = NO_THREATS) -> None:
        self._settings = settings
        self._threats = threats
        self._words = FadingCounts(settings.words)
        self._feeling = RunningRank(settings.rank_window)
        self._recent = np.zeros((settings.novelty_window, dim), np.float32)
        self._seen = 0
        self._meaning = Surprise(settings.rank_window, settings.sources)
        self._words_new = Surprise(settings.rank_window, settings.sources)
        self._declared = Surprise(settings.rank_window, settings.sources)
        self._tempo = Tempo()
        self._talk = Talk(settings.sources)
        self._repeats: Counter[str] = Counter()
        """What was only repeated since the last event, by source."""

    def appraise(
        self, text: str, words: Sequence[str], vector: Vector, source: str, time: Instant, surprise: float = 0.0
    ) -> Appraisal:
        """Appraise one event and learn from it. ``surprise`` 0..1 is added by who knows better (a change of rate)."""
        for other, times in self._repeats.items():
            self._meaning.learn(other, 0, times)
            self._words_new.learn(other, 0, times)
            self._talk.hear(other, times, fresh=False)
        self._repeats.clear()
        energy, balance = self._affect(text, words)
        intensity = self._feeling.surely(energy, _DOUBT)
        unlikeness = self._unlike(vector)
        unlike = int(_UNLIKE * unlikeness)
        new = self._newness(words)
        amount, declared = int(_AMOUNT * math.log1p(new)), severity(text)
        substance = min(1.0, new / _SUBSTANCE)
        informative = self._words_new.of(source, amount, math.exp(-new / _NEW_WORDS))
        unexpected = min(self._meaning.of(source, unlike), self._words_new.of(source, amount))
        evidence = {
            "information": substance * min(_MOST, informative),
            "surprise": substance * min(_MOST, unexpected),
            "tempo": max(-_PACE, min(_PACE, self._tempo.take(new, time))),
            "threat": self._threats.of(vector),
            "alarm": self._declared.of(source, declared, _DECLARED[declared]),
            "feeling": intensity - 0.5,
        }
        self._meaning.learn(source, unlike)
        self._words_new.learn(source, amount)
        self._declared.learn(source, declared)
        weights = self._settings.weights
        parts = {name: round(weights.get(name, 0.0) * value, 3) for name, value in evidence.items()}
        odds = sum(parts.values()) - self._settings.offset
        talker = self._talk.hear(source, fresh=True)
        if not declared:  # else it says itself what it is
            said = Remark(len(words), new, unlikeness, energy, odds - parts["feeling"])
            parts["talk"] = round(self._talk.weigh(talker, said, odds) - odds, 3)
            odds += parts["talk"]
        value = 1 / (1 + math.exp(-odds))
        emotions = {"valence": round(balance, 3), "intensity": round(intensity, 3)}
        return Appraisal(value + (1 - value) * surprise, parts, emotions)

    def repeated(self, source: str) -> None:
        """A source said what it had said before: nothing new, and nothing to be surprised at."""
        self._repeats[source] += 1

    def _unlike(self, vector: Vector) -> float:
        """One minus the likeness to the nearest of the recent ones, 0..1."""
        filled = min(self._seen, len(self._recent))
        nearest = float((self._recent[:filled] @ vector).max()) if filled else 0.0
        self._recent[self._seen % len(self._recent)] = vector.astype(np.float16)  # as precise as a snapshot keeps it
        self._seen += 1
        return max(0.0, min(1.0, 1.0 - nearest))

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

    def _newness(self, words: Sequence[str]) -> float:
        """How many words are new, those met before in part."""
        distinct = {word[:_LONGEST_WORD] for word in words}
        found = sum([1 / (1 + count) for count in self._words.get_all(distinct)])
        self._words.add(sorted(distinct))
        return found

    def dump(self) -> SavedAppraiser:
        """For a snapshot."""
        return SavedAppraiser(
            feeling=self._feeling.dump(),
            words=self._words.dump(),
            recent=self._recent.astype(np.float16).tobytes(),
            seen=self._seen,
            surprises=[kind.dump() for kind in self._surprises],
            tempo=self._tempo.dump(),
            talk=self._talk.dump(),
            repeats=self._repeats,
        )

    def load(self, saved: SavedAppraiser) -> None:
        """From a snapshot; what was taken under another window or embedder is learned anew."""
        self._feeling.load(saved.feeling)
        self._words.load(saved.words)
        recent = np.frombuffer(saved.recent, np.float16).astype(np.float32)
        if recent.size == self._recent.size:
            self._recent = recent.reshape(self._recent.shape)
            self._seen = saved.seen
        for kind, before in zip(self._surprises, saved.surprises, strict=True):
            kind.load(before)
        self._tempo.load(saved.tempo)
        self._talk.load(saved.talk)
        self._repeats.update(saved.repeats)

    @property
    def _surprises(self) -> tuple[Surprise, Surprise, Surprise]:
        return self._meaning, self._words_new, self._declared


class SavedAppraiser(msgspec.Struct):
    """What a snapshot holds of it."""

    feeling: list[float]
    words: dict[str, int]
    recent: bytes
    seen: int
    surprises: list[SavedSurprise]
    tempo: SavedTempo
    talk: SavedTalk
    repeats: dict[str, int]
