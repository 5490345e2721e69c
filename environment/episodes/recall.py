"""Finding what was perceived: by words, by meaning, by time and by who said it, in one ranking."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from environment.episodes.index import Episode, EpisodeIndex, best
from environment.episodes.when import Period, event_in, period
from environment.episodes.words import STOPWORDS, compounds, stems, telling
from environment.messages import Instant, PerceptionRef

_MEANING, _BESIDE = 0.5, 0.2
"""What meaning counts beside words, both as z-scores; and in it a line right before or after."""
_TIME = 2.0
"""What it counts to be of the time that is asked for, in standard deviations of words."""
_GUESSED = 1.0
"""... where that is the time of what happened before or after it."""
_PURSUED = 1.0
"""What it counts to bear on what the mind pursues, times the weight of that, in standard deviations of words."""
_EVENT_WORD = 0.5
"""What a word of that counts: it tells when, and what is looked for need not have it."""
_EVENTS, _TELLS = 8, 0.5
"""Lines that are looked at for what happened, and how much of its words, by rarity, one has to have."""
_ALIKE = 0.95
"""Cosine from which two lines say the same."""
_SPARE = 5
"""How many times as many are looked at as are asked for, as some say the same."""
_FELT = 2.0
"""Standard deviations of meaning from which it is a reason by itself."""
_DAY = 86_400.0
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[\w'’-]+")


@dataclass(frozen=True, slots=True)
class Quotation:
    """What somebody said, and where that stands."""

    text: str
    perception: PerceptionRef


@dataclass(frozen=True, slots=True)
class Recollection:
    """An episode that was found, and why."""

    text: str
    perception: PerceptionRef
    trust: float
    """0..1, of its source."""
    score: float
    """In standard deviations; comparable within one answer alone."""
    words: tuple[str, ...] = ()
    """What it has of the words that were asked for."""
    near: tuple[str, ...] = ()
    """Further ones that stand beside it."""
    meaning: float = 0.0
    """Cosine to what was asked, -1..1."""
    when: str = ""
    """The words for a time that it is of."""
    who: str = ""
    """The one asked about, where they say it themselves."""
    goal: str = ""
    """Of what the mind pursues that which it bears on most, and comes earlier by."""
    also: int = 0
    """How many others say the same, and are left out."""
    counted: int = 0
    """How many of these are only counted: they came between the first and the last that are alike."""
    around: tuple[Quotation, ...] = ()
    """What was said right before and after it."""


@dataclass(frozen=True, slots=True)
class RecallFilters:
    """Which episodes count; None lets everything through."""

    source: str | None = None
    since: Instant | None = None
    """Event time, inclusive."""
    until: Instant | None = None
    """Event time, exclusive."""
    budget: int = 0
    """Most characters of all that is told, what stands around included; 0: any number."""


@dataclass(frozen=True, slots=True)
class Cue:
    """What is looked for, read off its words."""

    terms: Mapping[str, str]
    """Each stem with the word that it is of."""
    gist: str
    """What is to be embedded: the telling words, without who is asked about, as their names are near everything they
    are called in."""
    people: frozenset[str]
    """Terms that are names of who said something."""
    period: Period | None

    @classmethod
    def of(cls, text: str, index: EpisodeIndex, now: Instant) -> Cue:
        """Read a question or a few words, asked at ``now``."""
        time = period(text, now)
        rest = text.replace(time.said, " ") if time else text
        time = time or _beside_event(text, index)
        words = [word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(rest)]
        told = [word for word in words if word.casefold() not in STOPWORDS]
        terms = {term: word for word in told for term in [*stems(word), *compounds(word)]}
        people = frozenset(term for term in terms if index.speaks(term))
        gist = " ".join(word for word in told if not people.issuperset(stems(word)))
        return cls(terms, gist, people, time)


def _beside_event(text: str, index: EpisodeIndex) -> Period | None:
    """The time before or after what a text names: that of the line that tells of it, where one surely does."""
    named = event_in(text)
    if named is None:
        return None
    side, event = named
    said = [word for word in _WORD.findall(event) if word.casefold() not in STOPWORDS]
    terms = {term: 1.0 for word in said for term in stems(word)}
    least = _TELLS * sum(map(index.rarity, terms))
    found = (one for one in index.find(terms, _EVENTS) if not one.episode.id)
    told = next((one for one in found if sum(map(index.rarity, sorted(one.own))) >= least), None)
    if told is None:
        return None
    since, until = (-math.inf, told.episode.time) if side == "before" else (told.episode.time, math.inf)
    return Period(f"{side} {event}", since, until, event)


def recall(
    index: EpisodeIndex,
    cue: Cue,
    vector: NDArray[np.float32] | None,
    k: int,
    filters: RecallFilters | None = None,
    pursued: Mapping[str, float] | None = None,
) -> list[Recollection]:
    """The ``k`` episodes that best fit, best first, each once and with its reasons; fewer where nothing else fits.

    ``vector``: of the cue's gist. Words and meaning are added as z-scores over all that is kept, time on top, and what
    bears on goals, which are ``pursued`` with weights: these only say which comes first of what fits.
    """
    filters = filters or RecallFilters()
    if not len(index):
        return []
    times = index.times()
    beside = set(stems(cue.period.event)) if cue.period else set()
    words = index.scores({term: _EVENT_WORD if term in beside else 1.0 for term in cue.terms})
    cosines = index.cosines(vector) if vector is not None and vector.any() else np.zeros(len(index), np.float32)
    meaning = _standard(index.lines.with_neighbours(cosines, _BESIDE))
    near = _nearness(cue.period, times)
    guessed = cue.period is not None and cue.period.event != ""
    score = _standard(words) + _MEANING * meaning + (_GUESSED if guessed else _TIME) * near
    bearing = {goal: weight * index.having(telling(goal)) for goal, weight in (pursued or {}).items()}
    if bearing:
        score += _PURSUED * np.max(list(bearing.values()), axis=0)
    fits = ((words > 0) | (meaning >= _FELT) | ((near == 1) & (not guessed))) & _passing(index, times, filters)
    found: list[Recollection] = []
    rows: list[int] = []
    said: dict[str, int] = {}
    for line in best(score, fits, _SPARE * k):
        text = _NUMBER.sub("#", index.episode(line).text.casefold())
        twin = said.get(text, next(iter(index.alike(line, rows, _ALIKE)), None))
        if twin is not None:
            found[twin] = replace(found[twin], also=found[twin].also + 1)
        elif len(found) == k:
            break
        else:
            said[text] = len(rows)
            rows.append(line)
            one = _told(index, cue, line, float(score[line]), float(cosines[line]), near[line] == 1)
            lifting = {goal: float(weights[line]) for goal, weights in bearing.items() if weights[line] > 0}
            found.append(replace(one, goal=max(lifting, key=lifting.__getitem__, default="")))
    return _within(found, filters.budget)


def _standard(values: NDArray[np.float32]) -> NDArray[np.float32]:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def _nearness(asked: Period | None, times: NDArray[np.float64]) -> NDArray[np.float32]:
    """1 within the period, less outside: what happened is told of later as well, the longer ago the vaguer."""
    if asked is None:
        return np.zeros(len(times), np.float32)
    away = np.maximum(np.maximum(asked.since - times, times - asked.until), 0.0)
    width = asked.until - asked.since
    if asked.event:
        return np.asarray(away == 0, np.float32)
    reach = 3 * min(max(width, 60.0), 7 * _DAY) if math.isfinite(width) else 7 * _DAY
    return np.nan_to_num(np.exp(-away / reach)).astype(np.float32)


def _passing(index: EpisodeIndex, times: NDArray[np.float64], filters: RecallFilters) -> NDArray[np.bool_]:
    passing = np.ones(len(times), np.bool_)
    if filters.since is not None:
        passing &= times >= filters.since
    if filters.until is not None:
        passing &= times < filters.until
    if filters.source is not None:
        passing &= index.of_source(filters.source)
    return passing


def _told(index: EpisodeIndex, cue: Cue, line: int, score: float, cosine: float, timed: bool) -> Recollection:
    match = index.match(line, score, set(cue.terms))
    one = match.episode
    return Recollection(
        text=one.text,
        perception=one.ref,
        trust=one.trust,
        score=score,
        words=_words(cue, match.own),
        near=_words(cue, match.near),
        meaning=cosine,
        also=one.counted,
        counted=one.counted,
        when=cue.period.said if cue.period and timed else "",
        who=" ".join(_words(cue, cue.people & one.voice)),
        around=tuple(_quoted(index.episode(other)) for other in index.lines.neighbours(line)),
    )


def _quoted(episode: Episode) -> Quotation:
    return Quotation(episode.text, episode.ref)


def _words(cue: Cue, terms: frozenset[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for term, word in cue.terms.items() if term in terms))


def _within(found: Sequence[Recollection], budget: int) -> list[Recollection]:
    """What fits a budget of characters: hits before what stands around them, of a best one that is longer the begin."""
    if not budget or not found:
        return list(found)
    kept = [replace(found[0], text=found[0].text[:budget])]
    left = budget - len(kept[0].text)
    for one in found[1:]:
        if len(one.text) <= left:
            kept.append(one)
            left -= len(one.text)
    for at, one in enumerate(kept):
        cost = sum(len(beside.text) for beside in one.around)
        kept[at] = one if cost <= left else replace(one, around=())
        left -= cost if cost <= left else 0
    return kept
