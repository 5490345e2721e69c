"""An index of what was perceived, by words: the seed of the mind's memory for episodes.

Each line is found by its own words and, for less, by those of its neighbours: what was said just before and after it by
the same source. Scores are BM25 (Robertson & Zaragoza 2009).
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from sys import intern

from environment.episodes.words import compounds, stems
from environment.identity import perception_id
from environment.messages import Instant, Perception, PerceptionRef

_K1, _B = 1.2, 0.6
_NEIGHBOUR = 0.25
"""What the words of a neighbour count."""
_BESIDE = 900.0
"""Seconds within which what one source says belongs together."""
_TEXT = 2000
"""Characters of a line that are kept."""
_CANDIDATES = 4000
"""Lines that are scored for a question, the latest of those that have its rarest words."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One thing that was perceived."""

    seq: int
    time: Instant
    """Event time."""
    source: str
    """Who perceived it."""
    text: str
    trust: float

    @property
    def ref(self) -> PerceptionRef:
        """For citing it."""
        return PerceptionRef(perception_id(self.seq), self.time, self.source)


@dataclass(frozen=True, slots=True)
class EpisodeMatch:
    """An episode that was found."""

    episode: Episode
    score: float
    own: frozenset[str]
    """Terms that it has itself."""
    near: frozenset[str]
    """Further ones that its neighbours have."""


@dataclass(slots=True)
class _Line:
    episode: Episode
    terms: tuple[str, ...]
    """Each once, and one string for all lines: of what is kept they are the most."""
    length: int
    before: int
    after: int = 0


class EpisodeIndex:
    """The last ``most`` perceptions with words, by their words.

    Guarantees: bounded; what was forgotten is not found; the same perceptions and terms give the same answer.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lines: dict[int, _Line] = {}
        self._order: deque[int] = deque()
        self._postings: defaultdict[str, array[int]] = defaultdict(_postings)
        self._stale = 0
        self._latest: dict[str, int] = {}
        self._length = 0
        self.cursor = 0
        """Sequence number of the last perception that was added."""

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, perceptions: Iterable[Perception]) -> None:
        """Take in more of the log, in its order; what was taken in before is passed over."""
        for perception in perceptions:
            if perception.seq <= self.cursor:
                continue
            self.cursor = perception.seq
            if text := _told(perception):
                self._add(perception, text)
        while len(self._order) > self._most:
            self._drop()

    def forget(self, up_to: int) -> None:
        """What has a lower sequence number is kept no longer."""
        while self._order and self._order[0] < up_to:
            self._drop()

    def _add(self, perception: Perception, text: str) -> None:
        seq = perception.seq
        body = f"{perception.source} {text} {perception.labels.get('author', '')}"
        found = [*stems(body), *compounds(body)]
        before = self._latest.get(perception.source, 0)
        if (line := self._lines.get(before)) is None or abs(line.episode.time - perception.time) > _BESIDE:
            before = 0
        else:
            line.after = seq
        episode = Episode(seq, perception.time, intern(perception.source), text, perception.trust)
        self._lines[seq] = _Line(episode, tuple(map(intern, dict.fromkeys(found))), max(1, len(found)), before)
        for term in self._lines[seq].terms:
            self._postings[term].append(seq)
        self._order.append(seq)
        self._latest[perception.source] = seq
        self._length += len(found)

    def _drop(self) -> None:
        """Let the oldest line go; its terms go with those of others, in one go."""
        line = self._lines.pop(self._order.popleft())
        self._length -= line.length
        self._stale += 1
        if self._latest.get(line.episode.source) == line.episode.seq:
            del self._latest[line.episode.source]
        if self._stale > max(64, len(self._order) // 8):
            self._stale = 0
            kept = {term: self._having(term) for term in self._postings}
            self._postings = defaultdict(_postings, {term: held for term, held in kept.items() if held})

    def _having(self, term: str) -> array[int]:
        """Lines with a term, oldest first."""
        held = self._postings.get(term)
        if held is None or not self._order:
            return _postings()
        return held if held[0] >= self._order[0] else held[bisect_left(held, self._order[0]) :]

    def rarity(self, term: str) -> float:
        """How telling a term is (its inverse document frequency); one that nobody used is as telling as can be."""
        count = len(self._having(term))
        return math.log(1 + (len(self._lines) - count + 0.5) / (count + 0.5))

    def knows(self, term: str) -> bool:
        """Whether anything kept has this term."""
        return len(self._having(term)) > 0

    def find(self, weights: Mapping[str, float], k: int = 50, before: int | None = None) -> list[EpisodeMatch]:
        """The ``k`` episodes that best match the terms, each with its weight, best first.

        ``before``: only those with a lower sequence number.
        """
        if not self._lines:
            return []
        rare = {term: self.rarity(term) * weight for term, weight in weights.items() if self.knows(term)}
        mean = self._length / len(self._lines)
        candidates: set[int] = set()
        for term in sorted(rare, key=lambda t: (-rare[t], t)):
            if len(candidates) >= _CANDIDATES:
                break
            candidates.update(self._having(term)[-(_CANDIDATES - len(candidates)) :])
        for seq in list(candidates):
            line = self._lines[seq]
            candidates.update(each for each in (line.before, line.after) if each in self._lines)
        found = [self._match(seq, rare, mean) for seq in candidates if before is None or seq < before]
        found.sort(key=lambda match: (-round(match.score, 9), -match.episode.seq))
        return found[:k]

    def _match(self, seq: int, rare: Mapping[str, float], mean: float) -> EpisodeMatch:
        line = self._lines[seq]
        own = {term for term in rare if term in line.terms}
        near: set[str] = set()
        for at in (line.before, line.after):
            if (other := self._lines.get(at)) is not None:
                near.update(term for term in rare if term in other.terms)
        near -= own
        norm = (_K1 + 1) / (1 + _K1 * (1 - _B + _B * line.length / mean))
        score = norm * sum(rare[t] for t in sorted(own)) + _NEIGHBOUR * sum(rare[t] for t in sorted(near))
        return EpisodeMatch(line.episode, score, frozenset(own), frozenset(near))


def _postings() -> array[int]:
    return array("Q")


def _told(perception: Perception) -> str:
    if perception.text is not None:
        return perception.text[:_TEXT].strip()
    readings: Sequence[tuple[str, float]] = sorted((perception.telemetry or {}).items())
    return ", ".join(f"{name} {value:g}" for name, value in readings)[:_TEXT]
