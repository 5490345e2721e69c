"""Topics: regions of embedding space with a label, private to the submind that holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from actors.handover import Holding
from actors.settings import TopicSettings
from environment.messages import Vector

_TERMS_PER_TOPIC = 24
_LABEL_TERMS = 3
_MERGE_EVERY = 16
_ROWS = 4


class Centre:
    """The running mean of the vectors of a stream: what they have in common says nothing about any of them."""

    def __init__(self, dim: int, memory: int) -> None:
        self.mean: Vector = np.zeros(dim, np.float32)
        self.seen = 0
        self._memory = memory

    def learn(self, vector: Vector) -> None:
        """Move the mean towards ``vector``; the last ``memory`` or so count."""
        self.seen = min(self.seen + 1, self._memory)
        self.mean += (vector - self.mean) / np.float32(self.seen)

    def remove(self, vector: Vector) -> Vector:
        """``(dim,) float32``, L2-normalised, without the common part; unchanged while too little has been seen."""
        if self.seen < 8:  # noqa: PLR2004  # a mean of fewer is mostly the vectors themselves
            return vector
        rest = vector - self.mean
        norm = float(np.sqrt(rest @ rest))
        return rest / np.float32(norm) if norm > 1e-6 else vector  # noqa: PLR2004  # numerically nothing left


@dataclass(slots=True)
class Topic:
    """One region, its centroid kept in the matrix of ``Topics``."""

    key: str
    traffic: int = 0
    terms: Counter[str] = field(default_factory=Counter)
    label: str = ""


class Topics:
    """Online clustering by cosine to running-mean centroids.

    Guarantee: at most ``capacity`` topics; a new one beyond that takes the place of the one used least and longest ago.
    """

    def __init__(self, dim: int, settings: TopicSettings) -> None:
        self._settings = settings
        self._centre = Centre(dim, settings.memory)
        self.dim = dim
        self._capacity = settings.capacity
        self._matrix: Vector = np.empty((0, dim), np.float32)  # grows with the topics: most subminds hold few
        self._topics: list[Topic] = []
        self._last_use: list[int] = []
        self._made = 0
        self._prefix = "k"
        self._uses = 0
        self.merged: list[tuple[str, str]] = []
        """(gone, kept) topic keys since the owner last looked; the owner moves connections along and clears it."""
        self.dropped: list[str] = []
        """Keys that had to make room, as above."""

    def configure(self, settings: TopicSettings) -> None:
        """The next vector is placed by other settings; capacity and memory do not change."""
        self._settings = settings

    def __len__(self) -> int:
        return len(self._topics)

    @property
    def labels(self) -> tuple[str, ...]:
        """Busiest first."""
        return tuple(t.label for t in sorted(self._topics, key=lambda t: -t.traffic))

    def label(self, key: str) -> str:
        """What people call the topic; the key itself when it is gone."""
        return next((t.label for t in self._topics if t.key == key), key)

    def centred(self, vector: Vector) -> Vector:
        """The vector as this submind compares it."""
        return self._centre.remove(vector)

    def assign(self, vector: Vector, terms: Iterable[str]) -> Topic:
        """The topic of a vector: nearest centroid at cosine >= ``threshold``, else a new one."""
        self._uses += 1
        self._centre.learn(vector)
        centred = self._centre.remove(vector)
        index = self._nearest(centred)
        if index is None:
            index = self._new(centred)
        topic = self._topics[index]
        topic.traffic += 1
        self._last_use[index] = self._uses
        rate = np.float32(1 / min(topic.traffic, self._settings.memory))
        row = self._matrix[index]
        row += (centred - row) * rate
        row /= np.float32(max(float(np.sqrt(row @ row)), 1e-6))
        self._relabel(topic, terms)
        if self._uses % _MERGE_EVERY == 0:
            return self._merge(index)
        return topic

    def nearest(self, vector: Vector) -> Topic | None:
        """The topic a vector belongs to, learning nothing."""
        index = self._nearest(self._centre.remove(vector))
        return None if index is None else self._topics[index]

    def nearness(self, vector: Vector) -> float:
        """Cosine of a vector to the nearest centroid; -1 without topics."""
        if not self._topics:
            return -1.0
        return float((self._matrix[: len(self._topics)] @ self._centre.remove(vector)).max())

    @property
    def keys(self) -> frozenset[str]:
        """The names of its topics."""
        return frozenset(topic.key for topic in self._topics)

    @property
    def common(self) -> tuple[Vector, int]:
        """The running mean that centring removes, and how many vectors are behind it."""
        return self._centre.mean.copy(), self._centre.seen

    def holdings(self) -> tuple[Holding, ...]:
        """Every topic as it would be handed over."""
        return tuple(
            Holding(t.key, t.label, self._matrix[i].copy(), t.traffic, dict(t.terms.most_common(_TERMS_PER_TOPIC)))
            for i, t in enumerate(self._topics)
        )

    def release(self, keys: Collection[str]) -> None:
        """Let go of topics that another has from now on."""
        stay = [i for i, topic in enumerate(self._topics) if topic.key not in keys]
        self._matrix[: len(stay)] = self._matrix[stay]
        self._topics = [self._topics[i] for i in stay]
        self._last_use = [self._last_use[i] for i in stay]

    def begin(self, prefix: str, mean: Vector, seen: int) -> None:
        """Before anything was met: name own topics by a prefix of their own, and centre as another did."""
        self._prefix = prefix
        self._centre.mean, self._centre.seen = mean.astype(np.float32), seen

    def take(self, holdings: Sequence[Holding]) -> dict[str, str]:
        """Take over topics; under which key each is held now: its own, or that of a topic it grew together with.

        Busiest first; a full table makes room for them as for any new topic, and ``dropped`` says what had to go.
        """
        keys: dict[str, str] = {}
        for holding in sorted(holdings, key=lambda h: (-h.traffic, h.key)):
            scores = self._matrix[: len(self._topics)] @ holding.centroid
            nearest = int(scores.argmax()) if len(scores) else 0
            full = len(self._topics) >= self._settings.capacity
            if len(scores) and scores[nearest] > (self._settings.crowded if full else self._settings.merge):
                topic = self._topics[nearest]
                share = np.float32(holding.traffic / max(1, topic.traffic + holding.traffic))
                row = self._matrix[nearest] * (1 - share) + holding.centroid * share
                self._matrix[nearest] = row / np.float32(max(float(np.sqrt(row @ row)), 1e-6))
            else:
                nearest = self._new(holding.centroid, holding.key)
                topic = self._topics[nearest]
                topic.label = holding.label
            topic.traffic += holding.traffic
            topic.terms.update(holding.terms)
            self._uses += 1
            self._last_use[nearest] = self._uses
            keys[holding.key] = topic.key
        return keys

    def _nearest(self, centred: Vector) -> int | None:
        if not self._topics:
            return None
        scores = self._matrix[: len(self._topics)] @ centred
        index = int(scores.argmax())
        full = len(self._topics) >= self._settings.capacity
        return index if scores[index] >= (self._settings.crowded if full else self._settings.threshold) else None

    def _new(self, centred: Vector, key: str = "") -> int:
        self._made += 1
        topic = Topic(key or f"{self._prefix}{self._made}")
        if len(self._topics) < self._settings.capacity:
            self._topics.append(topic)
            self._last_use.append(self._uses)
            index = len(self._topics) - 1
        else:
            uses = zip(self._topics, self._last_use, strict=True)
            index = min([(topic.traffic > 1, last, i) for i, (topic, last) in enumerate(uses)])[2]
            self.dropped.append(self._topics[index].key)
            self._topics[index] = topic
        if index == len(self._matrix):
            self._make_room(index + 1)
        self._matrix[index] = centred
        return index

    def _make_room(self, rows: int) -> None:
        wider = np.empty((min(max(_ROWS, 1 << (rows - 1).bit_length()), self._capacity), self.dim), np.float32)
        wider[: len(self._matrix)] = self._matrix
        self._matrix = wider

    def _merge(self, index: int) -> Topic:
        """Join the topic at ``index`` with its nearest when they have grown together; the topic it is now part of."""
        scores = self._matrix[: len(self._topics)] @ self._matrix[index]
        scores[index] = -1
        other = int(scores.argmax())
        if len(self._topics) == 1 or scores[other] <= self._settings.merge:
            return self._topics[index]
        keep, gone = (index, other) if self._topics[index].traffic >= self._topics[other].traffic else (other, index)
        kept, lost = self._topics[keep], self._topics[gone]
        share = lost.traffic / (kept.traffic + lost.traffic)
        row = self._matrix[keep] * (1 - share) + self._matrix[gone] * share
        self._matrix[keep] = row / max(float(np.sqrt(row @ row)), 1e-6)
        kept.traffic += lost.traffic
        self._last_use[keep] = max(self._last_use[keep], self._last_use[gone])
        self._relabel(kept, lost.terms)
        self.merged.append((lost.key, kept.key))
        last = len(self._topics) - 1
        self._topics[gone], self._last_use[gone] = self._topics[last], self._last_use[last]
        self._matrix[gone] = self._matrix[last]
        del self._topics[last], self._last_use[last]
        return kept

    def _relabel(self, topic: Topic, terms: Iterable[str]) -> None:
        counts = topic.terms
        counts.update(terms)
        if len(counts) > 2 * _TERMS_PER_TOPIC:
            topic.terms = Counter(dict(counts.most_common(_TERMS_PER_TOPIC)))
        if topic.traffic & (topic.traffic - 1) == 0 or not topic.label:  # at every doubling: labels settle
            best = sorted(topic.terms.items(), key=lambda item: (-item[1], item[0]))[:_LABEL_TERMS]
            topic.label = ", ".join(term for term, _ in best) or topic.key

    def dump(self) -> SavedTopics:
        """For a snapshot."""
        return SavedTopics(
            mean=self._centre.mean.tobytes(),
            seen=self._centre.seen,
            made=self._made,
            prefix=self._prefix,
            uses=self._uses,
            matrix=self._matrix[: len(self._topics)].tobytes(),
            topics=[
                (t.key, t.traffic, dict(t.terms.most_common(_TERMS_PER_TOPIC)), t.label, last)
                for t, last in zip(self._topics, self._last_use, strict=True)
            ],
        )

    def load(self, saved: SavedTopics) -> None:
        """From a snapshot; of more topics than there is room for the latest used stay.

        Topics of another embedder mean nothing here and are left behind.
        """
        self._made, self._prefix = saved.made, saved.prefix
        if len(saved.mean) != self._centre.mean.nbytes:
            self.dropped = [key for key, *_ in saved.topics]
            return
        self._centre.mean = np.frombuffer(saved.mean, np.float32).copy()
        self._centre.seen, self._uses = saved.seen, saved.uses
        rows = np.frombuffer(saved.matrix, np.float32).reshape(-1, self.dim)
        stay = sorted(sorted(range(len(rows)), key=lambda i: -saved.topics[i][-1])[: self._capacity])
        self._matrix = rows[stay]
        self._topics = [
            Topic(saved.topics[i][0], saved.topics[i][1], Counter(saved.topics[i][2]), saved.topics[i][3]) for i in stay
        ]
        self._last_use = [saved.topics[i][-1] for i in stay]
        self.dropped = [key for i, (key, *_) in enumerate(saved.topics) if i not in set(stay)]


class SavedTopics(msgspec.Struct):
    """What a snapshot holds of them."""

    mean: bytes
    seen: int
    made: int
    uses: int
    matrix: bytes
    topics: list[tuple[str, int, dict[str, int], str, int]]
    prefix: str = "k"
