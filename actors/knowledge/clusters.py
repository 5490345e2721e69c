"""Episodes that tell of the same thing: lines of a source in the same or like words, and when they came."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from actors.knowledge.fact import GISTS
from actors.knowledge.routines import Routine
from actors.knowledge.sentences import split_speaker
from actors.knowledge.settings import KnowledgeSettings
from environment.collections import Collection, RemoveDocument, WriteDocument
from environment.episodes.words import STOPWORDS, stem, stems
from environment.identity import derived
from environment.messages import Instant, Perception, PerceptionRef

_ALIKE = 0.4
"""Weight of the words that two wordings of one thing share, of those that either has."""
_BOUT = 1800.0
"""Seconds within which what comes again is the same coming."""
_TIMES, _WORDINGS, _TERMS, _TEXT = 96, 16, 24, 240
"""Times, wordings, words and characters of a cluster that are kept."""
_SPEAKERS, _NEARLY = 16, 0.9
_LEAST = 2
"""Words that tell something, of a line that is gathered."""
_COMMON = 512
"""Clusters of a source that have a word from which it is not looked up."""
_AHEAD = 1.1
_USUAL = 5
"""Lines with the same number before another one is odd."""
_ODD = 10
"""... and lines to one odd one, at least: else the number varies."""
_LASTING, _DAY = 56, 86_400.0
"""Days for which a cluster outlives its last line, at most: one for each time it came."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W_](?:[\w'’.:/-]*[^\W_])?")
_LABEL = 6
_DENIED, _DENIES = "not", re.compile(r"\b(?:no|not|never|cannot|without)\b|n['’]t\b", re.IGNORECASE)
_STOP = frozenset(stem(word) for word in STOPWORDS)


def telling(text: str) -> list[str]:
    """The words of a text that tell something, without its numbers; last of all that it denies, where it does."""
    found = [one for one in dict.fromkeys(stems(text)) if len(one) > 1 and not one[0].isdigit() and one not in _STOP]
    return found[: _TERMS - 1] + [_DENIED] * bool(_DENIES.search(text))


@dataclass(slots=True)
class EpisodeCluster:
    """Lines that tell of the same thing."""

    id: str
    """``r-`` and 20 hexadecimal digits: the key of the entity that its gist is about."""
    source: str
    text: str
    """The first of them, without who says it."""
    numbers: list[str | None]
    """Those of the first wording, None for one that varies."""
    terms: dict[str, int]
    """Its telling words, and in how many wordings each is; bounded."""
    trust: float
    """Of the least trusted line."""
    evidence: list[PerceptionRef]
    """The first, and the latest; bounded."""
    times: list[Instant]
    """When it came: the latest of them, where lines that follow each other closely came once; bounded."""
    wordings: list[str] = field(default_factory=list)
    """Marks of its templates; bounded."""
    odd: list[tuple[PerceptionRef, str]] = field(default_factory=list)
    """Lines that have another number than all others, and what they say; bounded."""
    lines: int = 1
    came: int = 1
    last: Instant = 0.0
    perceptions: list[PerceptionRef] = field(default_factory=list)
    """The one whose words are its text: it is forgotten with that."""
    by: dict[str, int] = field(default_factory=dict)
    """Of people, who said how often that it came; bounded."""
    gist: str = ""
    """Key of the fact that is its gist, while it has one."""
    routine: Routine | None = None
    """What that says."""

    @property
    def label(self) -> str:
        """The first words of its first line, without numbers that vary."""
        numbers = iter(self.numbers)
        told = _NUMBER.sub(lambda found: " " if next(numbers, None) is None else found[0], self.text)
        return " ".join(_WORD.findall(told)[:_LABEL])

    @property
    def shared(self) -> str:
        """The words of its first line that nearly all of its wordings have; its label where there is one wording."""
        if len(self.wordings) == 1:
            return self.label
        most = _NEARLY * max(self.terms.values())
        words = _WORD.findall(self.text)
        return " ".join(word for word in words if any(self.terms.get(stem, 0) >= most for stem in stems(word)))

    @property
    def core(self) -> list[str]:
        """The words that most of its wordings have."""
        return [term for term, count in self.terms.items() if 2 * count > len(self.wordings)]


CLUSTERS = Collection("clusters", EpisodeCluster)


def rarest(weights: Mapping[str, float]) -> set[str]:
    """The most telling words."""
    most = max(weights.values()) - 1e-9
    return {term for term, weight in weights.items() if weight >= most}


def _another(said: str, cluster: EpisodeCluster) -> bool:
    """Whether a line names another of its kind: another word stands right before one that both have ("north gate")."""
    line, first = stems(said), stems(cluster.text)
    before, known = dict(zip(first[1:], first, strict=False)), cluster.terms.keys() | _STOP
    return any(its not in known and before.get(word, "the") not in _STOP.union(line) for its, word in pairwise(line))


class EpisodeClusters:
    """All clusters, bounded: of the source that has most those go first that came least and longest ago.

    What changed is written by ``writes``.
    """

    def __init__(self, clusters: Mapping[str, EpisodeCluster], settings: KnowledgeSettings) -> None:
        self.settings = settings
        self.all = dict(clusters)
        self.moved: dict[str, None] = {}
        """Those that came since somebody last emptied this."""
        self._by_mark: dict[tuple[str, str], str] = {}
        self._having: dict[tuple[str, str], dict[str, None]] = {}
        self._changed: dict[str, None] = {}
        for one in self.all.values():
            self._by_mark.update(((one.source, known), one.id) for known in one.wordings)
            for term in one.terms:
                self._having.setdefault((one.source, term), {})[one.id] = None

    def meet(self, one: Perception, known: str) -> None:
        """A line came; ``known`` is the mark of its template."""
        text = (one.text or "")[: self.settings.longest]
        key = self._by_mark.get((one.source, known))
        cluster = self.all[key] if key is not None else None
        who, said = split_speaker(text, one.source)
        if cluster is None:
            terms = telling(said)
            if len(terms) < _LEAST or not self.settings.clusters:
                return
            cluster = self._nearest(one.source, terms, said) if who != one.source else None  # machines have one wording
            if cluster is None:
                self._begin(one, known, said[:_TEXT], terms)
                self._said_by(self.all[self._by_mark[one.source, known]], who)
                return
            self._word(cluster, known, terms)
        ref = PerceptionRef(one.id, one.time, one.source)
        if cluster.wordings[0] == known:
            self._compare(cluster, text, ref)
        if self._came(cluster, ref, one.trust):
            self._said_by(cluster, who)

    def _begin(self, one: Perception, known: str, said: str, terms: list[str]) -> None:
        ref = PerceptionRef(one.id, one.time, one.source)
        numbers: list[str | None] = list(_NUMBER.findall(said))
        key = derived(GISTS[:-1], one.id)
        made = EpisodeCluster(key, one.source, said, numbers, {}, one.trust, [ref], [one.time], last=one.time)
        made.perceptions = [ref]
        self.all[made.id] = made
        self._word(made, known, terms)
        self._changed[made.id] = self.moved[made.id] = None

    def _word(self, cluster: EpisodeCluster, known: str, terms: list[str]) -> None:
        """It is said in these words as well."""
        if len(cluster.wordings) >= _WORDINGS:
            self._by_mark.pop((cluster.source, cluster.wordings.pop(1)), None)
        cluster.wordings.append(known)
        self._by_mark[cluster.source, known] = cluster.id
        for term in terms:
            if term in cluster.terms or len(cluster.terms) < _TERMS:
                cluster.terms[term] = cluster.terms.get(term, 0) + 1
                self._having.setdefault((cluster.source, term), {})[cluster.id] = None

    @staticmethod
    def _said_by(cluster: EpisodeCluster, who: str) -> None:
        if who != cluster.source and (who in cluster.by or len(cluster.by) < _SPEAKERS):
            cluster.by[who] = cluster.by.get(who, 0) + 1

    def _came(self, cluster: EpisodeCluster, ref: PerceptionRef, trust: float) -> bool:
        """It came again; whether that is another time."""
        cluster.lines += 1
        cluster.trust = min(cluster.trust, trust)
        cluster.evidence.append(ref)
        if len(cluster.evidence) > self.settings.evidence:
            del cluster.evidence[1]
        if again := ref.time - cluster.last > _BOUT:
            cluster.came += 1
            cluster.times.append(ref.time)
            del cluster.times[:-_TIMES]
        cluster.last = max(cluster.last, ref.time)
        self._changed[cluster.id] = self.moved[cluster.id] = None
        return again

    def _compare(self, cluster: EpisodeCluster, text: str, ref: PerceptionRef) -> None:
        """Numbers that are always the same say something when once they are not."""
        said = text[text.find(cluster.text[:8]) :] if cluster.text[:8] in text else text
        found = _NUMBER.findall(said[:_TEXT])
        for n, (usual, number) in enumerate(zip(cluster.numbers, found, strict=False)):
            if usual is not None and usual != number:
                if cluster.lines >= _USUAL and len(cluster.odd) * _ODD < cluster.lines:
                    cluster.odd = [*cluster.odd[-3:], (ref, said[:_TEXT])]
                    return
                cluster.numbers[n] = None
                cluster.odd = []

    def weight(self, source: str, term: str, beside: EpisodeCluster | None = None) -> float:
        """How telling a word is in a source: in how few clusters it is, ``beside`` one that is not counted."""
        having = self._having.get((source, term), {})
        return math.log(1 + len(self.all) / (1 + len(having) - (beside is not None and beside.id in having)))

    def sharing(self, source: str, terms: list[str]) -> Iterator[tuple[float, EpisodeCluster]]:
        """Clusters of a source with weight of the words that they share with these; in no order that matters."""
        shared: dict[str, float] = {}
        for term in terms:
            having = self._having.get((source, term), {})
            if len(having) <= _COMMON:
                weight = self.weight(source, term)
                for key in having:
                    shared[key] = shared.get(key, 0.0) + weight
        for key, weight in shared.items():
            yield weight, self.all[key]

    def _nearest(self, source: str, terms: list[str], said: str) -> EpisodeCluster | None:
        """What a line says in other words: most of the same words, the most telling ones of either in both."""
        weights = {term: self.weight(source, term) for term in terms}
        best, whole = (_ALIKE, ""), sum(weights.values())
        for shared, cluster in self.sharing(source, terms):
            if shared < _ALIKE * whole or (_DENIED in weights) != (_DENIED in cluster.terms):
                continue
            core = {term: weights.get(term) or self.weight(source, term) for term in cluster.core}
            if not (core and (rarest(weights) <= core.keys() or rarest(core) <= weights.keys())):
                continue
            both = sum(weight for term, weight in core.items() if term in weights)
            alike = both / max(whole + sum(core.values()) - both, 1e-9)
            if (alike, cluster.id) > best and not _another(said, cluster):
                best = alike, cluster.id
        return self.all.get(best[1])

    def touch(self, cluster: EpisodeCluster) -> None:
        """Its gist changed."""
        self._changed[cluster.id] = None

    @property
    def full(self) -> bool:
        """Whether there are so many beyond the bound that it cannot wait."""
        return len(self.all) > _AHEAD * self.settings.clusters

    def trim(self) -> int:
        """Let go of those beyond the bound, of the source first that has most; how many."""
        beyond = len(self.all) - self.settings.clusters
        if beyond <= 0:
            return 0
        worth = sorted(self.all.values(), key=lambda c: (c.last + min(c.came, _LASTING) * _DAY, c.id))
        count: Counter[str] = Counter()
        order: list[tuple[int, EpisodeCluster]] = []
        for one in reversed(worth):
            count[one.source] += one.routine is None
            order.append((count[one.source] if one.routine is None else 0, one))
        order.sort(key=lambda each: each[0], reverse=True)
        for _, one in order[:beyond]:
            del self.all[one.id]
            self.moved.pop(one.id, None)
            self._changed[one.id] = None
            for known in one.wordings:
                self._by_mark.pop((one.source, known), None)
            for term in one.terms:
                having = self._having[one.source, term]
                having.pop(one.id, None)
                if not having:
                    del self._having[one.source, term]
        return beyond

    def writes(self) -> Iterator[WriteDocument | RemoveDocument]:
        """What changed since the last time."""
        for key in self._changed:
            one = self.all.get(key)
            yield CLUSTERS.write(key, one, time=one.last) if one else CLUSTERS.remove(key)
        self._changed = {}
