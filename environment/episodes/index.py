"""An index of what was perceived, by words and by meaning: the mind's memory for episodes.

Each line is found by its own words and, for less, by those of the lines beside it in its conversation, two each way.
Scores are BM25F with these as fields (Robertson & Zaragoza 2009).
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from sys import intern

import numpy as np
from numpy.typing import NDArray

from environment.episodes.beside import LinesBeside
from environment.episodes.company import Company
from environment.episodes.folding import folded, form_of, taken
from environment.episodes.words import compounds, stems, told
from environment.identity import perception_id
from environment.messages import Instant, Perception, PerceptionRef

_K1, _B = 1.2, 0.4
_MONOLOGUE = 0.4
"""What a line counts beside another of the same voice: the records of a machine explain each other less than talk."""
_VOICE = 1.5
"""What a word counts in the name of who said it."""
_BLOCK = 1024
"""Vectors that are made whole at a time: they fit the cache."""
_LONGEST_NAME = 3
"""Words of who speaks, in front of a colon."""
_MANY = 65_536
"""Vectors from which two threads share the work."""
_EQUAL = 1e-5
"""Scores that differ by less are taken for equal."""
_NOWHERE = np.empty(0, np.int64)


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
    counted: int = 0
    """How many more like it are counted, and not kept."""

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


class EpisodeIndex:
    """At most ``most`` perceptions with words, and what is pinned beside them.

    Where there are more, of lines of one source that are alike but for their figures those between the first and the
    last go first, and are counted; then the oldest of all. The last quarter is kept word for word.

    Guarantees: bounded; what was forgotten is not found; the same perceptions and terms give the same answer. A line
    takes its text, some 200 bytes, and one byte for each component of its vector. Not for several threads at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.lines = LinesBeside()
        """Which stand beside each other."""
        self._texts, self._ends = bytearray(), array("q")
        """All texts, and where each ends."""
        self._seqs, self._times, self._trusts = array("q"), array("d"), array("d")
        self._sources, self._authors = list[str](), list[str]()
        self._forms, self._counted = array("q"), Counter[int]()
        """Equal for what is alike; and how many went, by that."""
        self._fold_at = 0
        """The place from which it is worth to look again what is alike."""
        self._words: defaultdict[str, array[int]] = defaultdict(partial(array, "q"))
        self._voices: defaultdict[str, array[int]] = defaultdict(partial(array, "q"))
        self.company = Company()
        """Who speaks with whom."""
        self._pinned: dict[str, int] = {}
        """Places of what is pinned, by id."""
        self._innate: dict[int, Episode] = {}
        """The same by place."""
        self._vectors: NDArray[np.int8] = np.zeros((0, 0), np.int8)
        self._scales = array("f")
        """Of each vector that is there, in the order of places."""
        self.cursor = 0
        """Sequence number of the last perception that was added."""

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, perceptions: Iterable[Perception]) -> None:
        """Take in more of the log, in its order; what was taken in before is passed over."""
        for perception in perceptions:
            if perception.seq <= self.cursor:
                continue
            self.cursor = perception.seq
            if text := told(perception):
                self._add(perception, text)
        most = self._most + len(self._pinned)
        if len(self) > most and self.lines.next >= self._fold_at:
            self._fold(len(self) - most + most // 8)
            self._fold_at = self.lines.next + most // 8
        self._drop(len(self) - most)

    def _fold(self, wanted: int) -> None:
        """Let go of as many lines as are ``wanted`` that others stand for, if that many make it worth it."""
        dead, forms = self.lines.dead, np.array(self._forms[self.lines.dead :])
        going = folded(forms, wanted)
        if len(going) > wanted // 4:
            self._counted.update(forms[going].tolist())
            self._keep(np.setdiff1d(np.arange(dead, dead + len(self)), dead + going))
            there = set(self._forms)
            self._counted = Counter({form: count for form, count in self._counted.items() if form in there})

    def _keep(self, rows: NDArray[np.intp]) -> None:
        """Let go of all rows but these; their places are others then."""
        places = self.lines.keep(rows)
        ends = np.array(self._ends)
        begins = ends - np.diff(ends, prepend=0)
        self._texts = bytearray().join(self._texts[begins[row] : ends[row]] for row in rows)
        self._ends = array("q", np.cumsum((ends - begins)[rows]).tobytes())
        held = int(np.searchsorted(rows, len(self._scales)))
        self._vectors = self._vectors[rows[:held]]
        self._scales = taken(self._scales, rows[:held])
        for name in ("_seqs", "_times", "_trusts", "_forms"):
            setattr(self, name, taken(getattr(self, name), rows))
        self._sources, self._authors = ([names[row] for row in rows] for names in (self._sources, self._authors))
        places.move(self._words)
        places.move(self._voices)
        self.company.move(places)
        self._pinned = {name: places(place) for name, place in self._pinned.items()}
        self._innate = {there: one for place, one in self._innate.items() if (there := places(place)) >= 0}

    def pin(self, episodes: Mapping[str, Episode]) -> None:
        """Hold these by their ids, beside the last perceptions, and what was pinned before no more.

        What it costs is for what is new, or fell out with what was perceived when it was pinned.
        """
        front = self.lines.front
        for name in [each for each, place in self._pinned.items() if each not in episodes or place < front]:
            self._withdraw(self._pinned.pop(name))
        for name, one in episodes.items():
            if name not in self._pinned:
                self._pinned[name] = place = self.lines.next
                self._innate[place] = replace(one, seq=self.cursor)
                self._append(self._innate[place], -1, 0.0, math.nan)

    def _withdraw(self, place: int) -> None:
        """Nothing finds a line any more; it goes when its turn comes."""
        gone, row = self._innate.pop(place, None), place - self.lines.base
        if gone is not None and row >= self.lines.dead:
            for term in dict.fromkeys(gone.terms):
                self._words[term].remove(place)
            if row < len(self._scales):
                self._scales[row] = 0.0

    def forget(self, up_to: int) -> None:
        """What has a lower sequence number is kept no longer."""
        self._drop(self._below(up_to))

    def _below(self, seq: int) -> int:
        """How many lines have a lower sequence number."""
        return bisect_left(self._seqs, seq, self.lines.dead) - self.lines.dead

    def _add(self, perception: Perception, text: str) -> None:
        source, author = intern(perception.source), intern(perception.labels.get("author", ""))
        episode = Episode(perception.seq, perception.time, source, text, perception.trust, author)
        talk = perception.text is not None  # readings answer nobody
        before = self.company.heard(source, perception.time, self.lines.next) if talk else -1
        counts = 0.0
        if before < self.lines.front:
            before = -1
        else:
            row = before - self.lines.base
            counts = _MONOLOGUE if (self._sources[row], self._authors[row]) == (source, author) else 1.0
        self._append(episode, before, counts, perception.time)

    def _append(self, one: Episode, before: int, counts: float, time: Instant) -> None:
        place, terms = self.lines.next, one.terms
        self.lines.append(before, counts, max(1, len(terms)))
        self._texts += b"" if one.id else one.text.encode("utf-8", "surrogatepass")
        form = form_of(one.id, "") if one.id else form_of(one.source, one.text)
        values = one.seq, time, one.trust, one.source, one.author, len(self._texts), form
        columns = self._seqs, self._times, self._trusts, self._sources, self._authors, self._ends, self._forms
        for column, value in zip(columns, values, strict=True):
            column.append(value)  # type: ignore[attr-defined]
        for term in dict.fromkeys(terms):
            self._words[intern(term)].append(place)
        for term in sorted(one.voice):
            self._voices[intern(term)].append(place)

    def _drop(self, count: int) -> None:
        """Let the oldest lines go; what they leave goes with that of others, in one go."""
        if count <= 0:
            return
        self.lines.dead += count
        if self.lines.dead > max(64, len(self) // 8):
            self._keep(np.arange(self.lines.dead, len(self._ends)))

    def _having(self, postings: Mapping[str, array[int]], term: str) -> NDArray[np.int64]:
        """Places of lines with a term, oldest first; for use before any comes or goes."""
        held = postings.get(term)
        return np.frombuffer(held, np.int64)[len(held) - self._count(postings, term) :] if held else _NOWHERE

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
        return len(held) - bisect_left(held, self.lines.front)

    def episode(self, line: int) -> Episode:
        """What stands there; lines are numbered from 0, the oldest first, until the next is added or forgotten."""
        row = self.lines.dead + line
        if (innate := self._innate.get(self.lines.base + row)) is not None:
            return innate
        begin = self._ends[row - 1] if row else 0
        text = self._texts[begin : self._ends[row]].decode("utf-8", "surrogatepass")
        said = self._seqs[row], self._times[row], self._sources[row], text, self._trusts[row], self._authors[row]
        return Episode(*said, counted=self._counted[self._forms[row]])

    def times(self) -> NDArray[np.float64]:
        """Event time of each line; of what is of no time no number."""
        return np.array(self._times[self.lines.dead :])

    def of_source(self, source: str) -> NDArray[np.bool_]:
        """``(lines,)``: which came from there."""
        kept = islice(self._sources, self.lines.dead, None)
        return np.fromiter((one == source for one in kept), np.bool_, len(self))

    def scores(self, weights: Mapping[str, float]) -> NDArray[np.float32]:
        """``(lines,)``: how well each matches the terms, each with its weight, by words."""
        total = np.zeros(len(self), np.float32)
        for term, weight in weights.items():
            if not self.knows(term):
                continue
            often = self.lines.spread(self._having(self._words, term))
            often[self._having(self._voices, term) - self.lines.front] += _VOICE
            lines = np.flatnonzero(often > 0)
            often = often[lines]
            norm = _K1 * (1 - _B + _B * self.lines.norm(lines))
            total[lines] += weight * self.rarity(term) * (_K1 + 1) * often / (often + norm)
        return total

    def having(self, terms: Collection[str]) -> NDArray[np.float32]:
        """``(lines,)``: the share of the terms that each has itself."""
        total = np.zeros(len(self), np.float32)
        for term in terms:
            total[self._having(self._words, term) - self.lines.front] += 1 / len(terms)
        return total

    def find(self, weights: Mapping[str, float], k: int = 50, before: int | None = None) -> list[EpisodeMatch]:
        """The ``k`` episodes that best match the terms, each with its weight, best first.

        ``before``: only those with a lower sequence number.
        """
        scores = self.scores(weights)
        known = {term for term in weights if self.knows(term)}
        scores = scores if before is None else scores[: self._below(before)]
        return [self.match(line, float(scores[line]), known) for line in best(scores, scores > 0, k)]

    def match(self, line: int, score: float, terms: set[str]) -> EpisodeMatch:
        """A line, with which of the terms it and those beside it have."""
        one = self.episode(line)
        own = frozenset(terms.intersection(one.terms) | (terms & one.voice))
        near = {term for other in self.lines.neighbours(line) for term in self.episode(other).terms} & terms
        return EpisodeMatch(one, score, own, frozenset(near - own))

    def lacking(self, most: int) -> tuple[int, list[str]]:
        """The texts of the oldest lines that have no vector yet, at most so many, and the place of the first."""
        dead = self.lines.dead
        self._scales.extend([0.0] * (dead - len(self._scales)))  # forgotten before they had any
        begin = len(self._scales)
        rows = range(begin, min(begin + most, len(self._ends)))
        return self.lines.base + begin, [self.episode(row - dead).text for row in rows]

    def give(self, place: int, vectors: NDArray[np.float32]) -> None:
        """The vectors ``(n, dim)`` of what ``lacking`` told; those of lines forgotten since are passed over.

        Kept in 8 bits: a cosine moves by some thousandths.
        """
        vectors = vectors[self.lines.base + len(self._scales) - place :]
        if not len(vectors):
            return
        begin, end = len(self._scales), len(self._scales) + len(vectors)
        if end > len(self._vectors):
            grown = np.zeros((max(end, len(self._vectors) * 9 // 8), vectors.shape[1]), np.int8)
            grown[: len(self._vectors)] = self._vectors if len(self._vectors) else 0
            self._vectors = grown
        scales = np.maximum(np.abs(vectors).max(axis=1), 1e-12) / 127
        self._vectors[begin:end] = np.rint(vectors / scales[:, None]).astype(np.int8)
        self._scales.extend(scales.tolist())

    def fit(self, dim: int) -> None:
        """Let go of vectors of another length: another embedder made them."""
        if self._vectors.shape[1] not in {0, dim}:
            self._vectors, self._scales = np.zeros((0, 0), np.int8), array("f")

    def cosines(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """``(lines,)``: how near each is in meaning to a unit vector; 0 of those without a vector."""
        dead = self.lines.dead
        held = max(0, len(self._scales) - dead)
        own = np.zeros(len(self), np.float32)

        def fill(begin: int, end: int) -> None:
            whole = np.empty((_BLOCK, len(vector)), np.float32)
            for at in range(begin, end, _BLOCK):
                block = self._vectors[dead + at : dead + min(at + _BLOCK, end)]
                np.copyto(whole[: len(block)], block)
                np.dot(whole[: len(block)], vector, out=own[at : at + len(block)])

        half = held // 2 if held > _MANY else 0
        with ThreadPoolExecutor(1) as beside:  # numpy lets go of the interpreter meanwhile
            first = beside.submit(fill, 0, half) if half else None
            fill(half, held)
            if first:
                first.result()
        own[:held] *= np.frombuffer(self._scales, np.float32)[dead:]
        return own

    def alike(self, line: int, others: Sequence[int], least: float) -> list[int]:
        """Which of other lines, by their position in the list, mean the same as one; without a vector none does."""
        rows = self.lines.dead + np.array([line, *others], np.intp)
        there = np.flatnonzero(rows < len(self._scales))
        if not there.size or there[0]:
            return []
        vectors = self._vectors[rows[there]].astype(np.float32)
        norms = np.linalg.norm(vectors, axis=1)
        cosines = vectors[1:] @ vectors[0] / np.maximum(norms[1:] * norms[0], 1e-12)
        return [int(one) for one in there[1:][cosines >= least] - 1]


def best(scores: NDArray[np.float32], fits: NDArray[np.bool_], most: int) -> list[int]:
    """The best of the lines that fit, best first, of equals the latest."""
    lines = np.flatnonzero(fits)
    if len(lines) > most:
        some = scores[lines]
        lines = lines[some >= np.partition(some, -most)[-most] - _EQUAL]
    return [int(line) for line in lines[np.lexsort((-lines, -np.round(scores[lines].astype(np.float64), 5)))]][:most]
