"""An index of what was perceived, by words and by meaning: the mind's memory for episodes.

Each line is found by its own words and, for less, by those of the lines beside it in its conversation, two each way.
Scores are BM25F with these as fields (Robertson & Zaragoza 2009).
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from sys import intern

import numpy as np
from numpy.typing import NDArray

from environment.episodes.company import Company
from environment.episodes.words import compounds, stems
from environment.identity import perception_id
from environment.messages import Instant, Perception, PerceptionRef

_K1, _B = 1.2, 0.4
_NEAR, _FAR = 0.6, 0.3
"""What a word counts in the line before or after, and in those two away; 1 in the line itself."""
_MONOLOGUE = 0.4
"""What a line counts beside another of the same voice: the records of a machine explain each other less than talk."""
_VOICE = 1.5
"""What a word counts in the name of who said it."""
_TEXT = 2000
"""Characters of a line that are kept."""
_BLOCK = 1024
"""Vectors that are made whole at a time: they fit the cache."""
_LONGEST_NAME = 3
"""Words of who speaks, in front of a colon."""


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
    author: str = ""
    """Who said it, where the source knows."""
    id: str = ""
    """Of what was never perceived, as a section of a pack: nobody says it, and it is of no time."""

    @property
    def ref(self) -> PerceptionRef:
        """For citing it."""
        return PerceptionRef(self.id or perception_id(self.seq), self.time, self.source)

    @property
    def terms(self) -> list[str]:
        """Of what it says."""
        return [*stems(self.text), *compounds(self.text)]

    @property
    def voice(self) -> set[str]:
        """Terms of who says it: source, author, and whom the words open with."""
        if self.id:
            return set()
        head, colon, _ = self.text[:64].partition(": ")
        named = head if colon and len(head.split()) <= _LONGEST_NAME else ""
        return set(stems(f"{self.source} {self.author} {named}"))


@dataclass(frozen=True, slots=True)
class EpisodeMatch:
    """An episode that was found."""

    episode: Episode
    score: float
    own: frozenset[str]
    """Terms that it has itself."""
    near: frozenset[str]
    """Further ones that its neighbours have."""


@dataclass(frozen=True, slots=True)
class _Beside:
    """Of each line those before and after it, one and two away: their places, and how much each counts, 0..1.

    The place is the number of lines where there is none.
    """

    near: tuple[tuple[NDArray[np.intp], NDArray[np.float32]], ...]
    far: tuple[tuple[NDArray[np.intp], NDArray[np.float32]], ...]
    norm: NDArray[np.float32]
    """Length in its window of lines, for BM25."""

    def window(self, values: NDArray[np.float32], near: float, far: float) -> NDArray[np.float32]:
        """A figure of each line and, weighted, of those beside it. ``values``: one more than lines, the last 0."""
        total = values[:-1].copy()
        for weight, sides in ((near, self.near), (far, self.far)):
            if weight:
                for places, counts in sides:
                    total += weight * counts * values[places]
        return total


class EpisodeIndex:
    """The last ``most`` perceptions with words, and what is pinned beside them.

    Guarantees: bounded; what was forgotten is not found; the same perceptions and terms give the same answer. A line
    takes its text and some 400 bytes, and one byte for each component of its vector. Not for several threads at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: list[Episode] = []
        self._base = 0
        """Place of the first of these: places are given out in order, and never again."""
        self._dead = 0
        """How many of these, at the front, were forgotten."""
        self._before, self._after = array("q"), array("q")
        self._counts = array("f")
        """How much each line and the one before it count for each other."""
        self._lengths, self._times = array("H"), array("d")
        self._words: defaultdict[str, array[int]] = defaultdict(_places)
        self._voices: defaultdict[str, array[int]] = defaultdict(_places)
        self._company = Company()
        self._pinned: dict[str, int] = {}
        """Places of what is pinned, by id."""
        self._beside: _Beside | None = None
        self._vectors: NDArray[np.int8] = np.zeros((0, 0), np.int8)
        self._scales = array("f")
        """Of each vector that is there, in the order of places."""
        self.cursor = 0
        """Sequence number of the last perception that was added."""

    def __len__(self) -> int:
        return len(self._held) - self._dead

    def add(self, perceptions: Iterable[Perception]) -> None:
        """Take in more of the log, in its order; what was taken in before is passed over."""
        for perception in perceptions:
            if perception.seq <= self.cursor:
                continue
            self.cursor = perception.seq
            if text := _told(perception):
                self._add(perception, text)
        self._drop(len(self) - self._most - len(self._pinned))

    def pin(self, episodes: Mapping[str, Episode]) -> None:
        """Hold these by their ids, beside the last perceptions, and what was pinned before no more.

        What it costs is for what is new, or fell out with what was perceived when it was pinned.
        """
        front = self._base + self._dead
        for name in [each for each, place in self._pinned.items() if each not in episodes or place < front]:
            self._withdraw(self._pinned.pop(name))
        for name, one in episodes.items():
            if name not in self._pinned:
                self._pinned[name] = self._base + len(self._held)
                self._append(replace(one, seq=self.cursor), -1, 0.0, math.nan)

    def _withdraw(self, place: int) -> None:
        """Nothing finds a line any more; it goes when its turn comes."""
        at = place - self._base
        if at >= self._dead:
            for term in dict.fromkeys(self._held[at].terms):
                self._words[term].remove(place)
            self._held[at] = replace(self._held[at], text="")
            if at < len(self._scales):
                self._scales[at] = 0.0
            self._beside = None

    def forget(self, up_to: int) -> None:
        """What has a lower sequence number is kept no longer."""
        self._drop(bisect_left(self._held, up_to, self._dead, key=lambda one: one.seq) - self._dead)

    def _add(self, perception: Perception, text: str) -> None:
        source, author = intern(perception.source), intern(perception.labels.get("author", ""))
        episode = Episode(perception.seq, perception.time, source, text, perception.trust, author)
        place = self._base + len(self._held)
        talk = perception.text is not None  # readings answer nobody
        before, counts = self._company.heard(source, perception.time, place) if talk else -1, 0.0
        if before < self._base:
            before = -1
        else:
            other = self._held[before - self._base]
            counts = _MONOLOGUE if (other.source, other.author) == (source, author) else 1.0
            if self._after[before - self._base] < 0:
                self._after[before - self._base] = place
        self._append(episode, before, counts, perception.time)

    def _append(self, episode: Episode, before: int, counts: float, time: Instant) -> None:
        place, terms = self._base + len(self._held), episode.terms
        self._counts.append(counts)
        self._held.append(episode)
        self._before.append(before)
        self._after.append(-1)
        self._lengths.append(max(1, len(terms)))
        self._times.append(time)
        for term in dict.fromkeys(terms):
            self._words[intern(term)].append(place)
        for term in sorted(episode.voice):
            self._voices[intern(term)].append(place)
        self._beside = None

    def _drop(self, count: int) -> None:
        """Let the oldest lines go; what they leave goes with that of others, in one go."""
        if count <= 0:
            return
        self._beside = None
        self._dead += count
        if self._dead <= max(64, len(self) // 8):
            return
        dead, self._base, self._dead = self._dead, self._base + self._dead, 0
        for column in (self._held, self._before, self._after, self._counts, self._lengths, self._times, self._scales):
            del column[:dead]
        self._vectors = self._vectors[dead:].copy()
        for postings in (self._words, self._voices):
            for term in list(postings):
                held = postings[term]
                del held[: bisect_left(held, self._base)]
                if not held:
                    del postings[term]

    def _having(self, postings: Mapping[str, array[int]], term: str) -> NDArray[np.intp]:
        """Lines with a term, oldest first."""
        held = postings.get(term)
        places = np.array(held if held is not None else (), np.intp) - (self._base + self._dead)
        return places[np.searchsorted(places, 0) :]

    def rarity(self, term: str) -> float:
        """How telling a term is (its inverse document frequency); one that nobody used is as telling as can be."""
        count = max(self._count(self._words, term), self._count(self._voices, term))
        return math.log(1 + (len(self) - count + 0.5) / (count + 0.5))

    @property
    def most_telling(self) -> float:
        """The rarity of what nobody used."""
        return math.log(2 * len(self) + 2)

    def knows(self, term: str) -> bool:
        """Whether anything kept has this term."""
        return self._count(self._words, term) > 0 or self.speaks(term)

    def speaks(self, term: str) -> bool:
        """Whether it is of the name of somebody who said something."""
        return self._count(self._voices, term) > 0

    def _count(self, postings: Mapping[str, array[int]], term: str) -> int:
        held = postings.get(term, ())
        return len(held) - bisect_left(held, self._base + self._dead)

    def episode(self, line: int) -> Episode:
        """What stands there; lines are numbered from 0, the oldest first, until the next is added or forgotten."""
        return self._held[self._dead + line]

    def times(self) -> NDArray[np.float64]:
        """Event time of each line; of what is of no time no number."""
        return np.array(self._times[self._dead :])

    def neighbours(self, line: int) -> list[int]:
        """The lines beside it in its conversation, at most two each way, in their order."""
        beside = self._sides()
        found = {int(places[line]) for side in (beside.near, beside.far) for places, _ in side}
        return sorted(found - {len(self), line})

    def scores(self, weights: Mapping[str, float]) -> NDArray[np.float32]:
        """``(lines,)``: how well each matches the terms, each with its weight, by words."""
        beside, n = self._sides(), len(self)
        total = np.zeros(n, np.float32)
        for term, weight in weights.items():
            if not self.knows(term):
                continue
            has = np.zeros(n + 1, np.float32)
            has[self._having(self._words, term)] = 1.0
            often = beside.window(has, _NEAR, _FAR)
            often[self._having(self._voices, term)] += _VOICE
            total += weight * self.rarity(term) * (_K1 + 1) * often / (often + beside.norm)
        return total

    def having(self, terms: Collection[str]) -> NDArray[np.float32]:
        """``(lines,)``: the share of the terms that each has itself."""
        total = np.zeros(len(self), np.float32)
        for term in terms:
            total[self._having(self._words, term)] += 1 / len(terms)
        return total

    def find(self, weights: Mapping[str, float], k: int = 50, before: int | None = None) -> list[EpisodeMatch]:
        """The ``k`` episodes that best match the terms, each with its weight, best first.

        ``before``: only those with a lower sequence number.
        """
        scores = self.scores(weights)
        if before is not None:
            scores = scores[: bisect_left(self._held, before, self._dead, key=lambda one: one.seq) - self._dead]
        lines = np.flatnonzero(scores > 0)
        best = lines[np.lexsort((-lines, -np.round(scores[lines].astype(np.float64), 6)))][:k]
        known = {term for term in weights if self.knows(term)}
        return [self.match(int(line), float(scores[line]), known) for line in best]

    def match(self, line: int, score: float, terms: set[str]) -> EpisodeMatch:
        """A line, with which of the terms it and those beside it have."""
        own = frozenset(terms.intersection(self.episode(line).terms) | (terms & self.episode(line).voice))
        near = {term for other in self.neighbours(line) for term in self.episode(other).terms} & terms
        return EpisodeMatch(self.episode(line), score, own, frozenset(near - own))

    def _sides(self) -> _Beside:
        if self._beside is None:
            n, first = len(self), self._base + self._dead
            counts = np.append(np.array(self._counts[self._dead :], np.float32), np.float32(0))
            near, far = [], []
            for column in (self._before, self._after):
                places = np.array(column[self._dead :], np.intp) - first
                side = np.append(np.where(places < 0, n, places), n)
                kin = counts if column is self._before else counts[side]
                near.append((side[:n], kin[:n]))
                far.append((side[side][:n], (kin * kin[side])[:n]))
            lengths = np.append(np.array(self._lengths[self._dead :], np.float32), np.float32(0))
            window = _Beside(tuple(near), tuple(far), lengths).window(lengths, _NEAR, _FAR)
            norm = _K1 * (1 - _B + _B * window / max(float(window.mean()) if n else 1.0, 1.0))
            self._beside = _Beside(tuple(near), tuple(far), norm)
        return self._beside

    def lacking(self, most: int) -> tuple[int, list[str]]:
        """The texts of the oldest lines that have no vector yet, at most so many, and the place of the first."""
        self._scales.extend([0.0] * (self._dead - len(self._scales)))  # forgotten before they had any
        begin = len(self._scales)
        return self._base + begin, [one.text for one in self._held[begin : begin + most]]

    def give(self, place: int, vectors: NDArray[np.float32]) -> None:
        """The vectors ``(n, dim)`` of what ``lacking`` told; those of lines forgotten since are passed over.

        Kept in 8 bits: a cosine moves by some thousandths.
        """
        vectors = vectors[self._base + len(self._scales) - place :]
        if not len(vectors):
            return
        begin, end = len(self._scales), len(self._scales) + len(vectors)
        if end > len(self._vectors):
            grown = np.zeros((max(end, len(self._vectors) * 5 // 4), vectors.shape[1]), np.int8)
            grown[: len(self._vectors)] = self._vectors.reshape(len(self._vectors), -1) if len(self._vectors) else 0
            self._vectors = grown
        scales = np.maximum(np.abs(vectors).max(axis=1), 1e-12) / 127
        self._vectors[begin:end] = np.rint(vectors / scales[:, None]).astype(np.int8)
        self._scales.extend(scales.tolist())

    def cosines(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """``(lines,)``: how near each is in meaning to a unit vector; 0 of those without a vector."""
        n, held = len(self), max(0, len(self._scales) - self._dead)
        own = np.zeros(n + 1, np.float32)
        whole = np.empty((_BLOCK, len(vector)), np.float32)
        for begin in range(0, held, _BLOCK):
            block = self._vectors[self._dead + begin : self._dead + min(begin + _BLOCK, held)]
            np.copyto(whole[: len(block)], block)
            np.dot(whole[: len(block)], vector, out=own[begin : begin + len(block)])
        own[:held] *= np.array(self._scales[self._dead :], np.float32)
        return own[:n]

    def alike(self, line: int, others: Sequence[int], least: float) -> list[int]:
        """Which of other lines, by their position in the list, mean the same as one; without a vector none does."""
        rows = self._dead + np.array([line, *others], np.intp)
        there = np.flatnonzero(rows < len(self._scales))
        if not there.size or there[0]:
            return []
        vectors = self._vectors[rows[there]].astype(np.float32)
        norms = np.linalg.norm(vectors, axis=1)
        cosines = vectors[1:] @ vectors[0] / np.maximum(norms[1:] * norms[0], 1e-12)
        return [int(one) for one in there[1:][cosines >= least] - 1]

    def with_neighbours(self, values: NDArray[np.float32], weight: float) -> NDArray[np.float32]:
        """``(lines,)``: a figure of each line and, weighted, of those right before and after it."""
        return self._sides().window(np.append(values, np.float32(0)), weight, 0.0)


def _places() -> array[int]:
    return array("Q")


def _told(perception: Perception) -> str:
    if perception.text is not None:
        return perception.text[:_TEXT].strip()
    readings: Sequence[tuple[str, float]] = sorted((perception.telemetry or {}).items())
    return ", ".join(f"{name} {value:g}" for name, value in readings)[:_TEXT]
