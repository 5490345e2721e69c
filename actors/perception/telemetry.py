"""The telemetry interpreter: named numbers into changes worth words, each with its figures."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from actors.perception.levels import Change, Deviation, Levels, Reading
from actors.perception.naming import figure, listed, ratio, spoken
from actors.perception.percept import Percept, ref
from actors.perception.rhythm import Rhythm, Watch
from actors.perception.settings import PerceptionSettings
from actors.perception.wording import clean, read, span
from actors.running import Habit, RunningRank
from environment.messages import Instant, Perception, PerceptionRef, Vector

_LARGEST = 1e150
"""Numbers beyond this would overflow when they are compared; they are counted and left out."""
_PLENTY = 1000.0
"""Deviations beyond which more say nothing more: a constant that moves is that far off."""
_DOUBT = 20
"""Changes of which the first ranks are not taken at their word."""
_CITED = 4
_ASPECT = 0.5
"""Weight of what happens beside what it happens to, in a vector."""
_SALIENCE = {Deviation.SHIFT: (0.5, 0.45), Deviation.DRIFT: (0.45, 0.45), Deviation.SPIKE: (0.4, 0.45)}
"""(Least, span over the percentile of its surprise): shifts last, spikes pass."""
_SILENCE, _RETURN, _FIRST = 0.7, 0.45, 0.15
_RISING, _FALLING, _SPIKE = "rising higher", "falling lower", "sudden spike"
_SILENT, _BACK, _FIRST_SEEN = "silent, no readings", "readings are back", "first readings"
_ASPECTS = (_RISING, _FALLING, _SPIKE, _SILENT, _BACK, _FIRST_SEEN)


class _Series(msgspec.Struct):
    source: str
    metric: str
    name: str
    unit: str
    rhythm: Rhythm
    levels: Levels
    vector: bytes = b""
    """Embedding of source and name, float16; empty while unknown."""
    last: Reading | None = None
    since: int = 0
    """Readings since it was last spoken of."""

    @property
    def key(self) -> tuple[str, str]:
        return (self.source, self.metric)

    @property
    def words(self) -> str:
        return _words(self.source, self.name)


class TelemetryInterpreter:
    """Tells level shifts, drifts, spikes, silences and returns of every (source, metric) series, and its first reading.

    Guarantee: memory is bounded by ``series`` and ``readings``; the cost of a number does not depend on how many came
    before; steady, noisy and periodic series grow silent. One perception yields at most ``segments`` changes, the
    least expected ones.
    """

    def __init__(self, dim: int, settings: PerceptionSettings) -> None:
        self.saved = _Saved
        self._dim = dim
        self._settings = settings
        self._series: OrderedDict[tuple[str, str], _Series] = OrderedDict()
        self._watch = Watch(settings.folding.regular, settings.folding.silence)
        self._ranks = RunningRank(settings.appraisal.rank_window)
        self._aspects: dict[str, bytes] = {}
        self._news: OrderedDict[str, Habit] = OrderedDict()
        """By source, how often it brought a series never seen."""
        self._readings = 0
        self._forgotten = 0
        self._refused = 0

    def texts(self, perceptions: Sequence[Perception]) -> list[str]:
        wanted = [text for text in _ASPECTS if text not in self._aspects]
        for perception in perceptions:
            for metric in perception.telemetry or ():
                series = self._series.get((perception.source, metric))
                if series is None:
                    wanted.append(_words(perception.source, spoken(metric)[0]))
                elif not series.vector:
                    wanted.append(series.words)
        return list(dict.fromkeys(wanted))

    def interpret(self, perception: Perception, vectors: Mapping[str, Vector]) -> list[Percept]:
        self._learn_aspects(vectors)
        new: list[_Series] = []
        back: list[_Series] = []
        changed: list[tuple[_Series, Change]] = []
        gap = 0.0
        for metric, value in (perception.telemetry or {}).items():
            if not abs(value) <= _LARGEST:
                self._refused += 1
                continue
            self._readings += 1
            series = self._series.get((perception.source, metric))
            if series is None:
                series = self._begin(perception, metric)
                new.append(series)
            else:
                self._series.move_to_end(series.key)
                silence = perception.time - series.rhythm.last
                if self._watch.beat(series.key, series.rhythm, perception.time):
                    back.append(series)
                    gap = max(gap, silence)
            if not series.vector:
                series.vector = _packed(vectors.get(series.words))
            series.last = Reading(float(value), perception.time, perception.id, perception.trust)
            series.since += 1
            change = series.levels.take(series.last)
            if change is not None:
                changed.append((series, change))
        return [*self._first(perception, new), *self._returned(perception, back, gap), *self._changed(changed)]

    def quiet(self, now: Instant) -> list[Percept]:
        by_source: dict[str, list[_Series]] = {}
        for key in self._watch.silences(now, self._rhythm):
            by_source.setdefault(key[0], []).append(self._series[key])
        return [self._silence(source, silent) for source, silent in by_source.items()]

    def due(self) -> Instant | None:
        return self._watch.due()

    def figures(self) -> Mapping[str, float]:
        return {
            "telemetry_readings_total": float(self._readings),
            "telemetry_series": float(len(self._series)),
            "limit_hits:series": float(self._forgotten),
            "limit_hits:telemetry_value": float(self._refused),
        }

    def _begin(self, perception: Perception, metric: str) -> _Series:
        name, unit = spoken(metric)
        levels = Levels(shift=self._settings.shift, size=self._settings.readings)
        series = _Series(perception.source, metric, name, unit, Rhythm(perception.time), levels)
        self._series[series.key] = series
        if len(self._series) > self._settings.series:
            self._watch.forget(self._series.popitem(last=False)[0])
            self._forgotten += 1
        return series

    def _rhythm(self, key: tuple[str, str]) -> Rhythm | None:
        series = self._series.get(key)
        return None if series is None else series.rhythm

    def _first(self, perception: Perception, new: list[_Series]) -> list[Percept]:
        if not new:
            return []
        habit = self._news.setdefault(perception.source, Habit())
        self._news.move_to_end(perception.source)
        if len(self._news) > self._settings.series:
            self._news.popitem(last=False)
        if not habit.worth(perception.time, math.inf):
            return []
        names = listed([f"{s.name} ({_value(s)})" for s in new])
        return [
            Percept(
                text=f"{_shown(perception.source)}: first readings of {names}",
                vector=self._vector(new, _FIRST_SEEN),
                time=perception.time,
                salience=_FIRST,
                perceptions=(ref(perception),),
                trust=perception.trust,
                part="first",
                terms=self._terms(new),
                insights=("first readings",),
                count=len(new),
            )
        ]

    def _returned(self, perception: Perception, back: list[_Series], gap: float) -> list[Percept]:
        if not back:
            return []
        names = listed([f"{s.name} ({_value(s)})" for s in back])
        return [
            Percept(
                text=f"{_shown(perception.source)}: readings of {names} are back after {span(gap)} of silence",
                vector=self._vector(back, _BACK),
                time=perception.time,
                salience=_RETURN,
                perceptions=(ref(perception),),
                trust=perception.trust,
                part="back",
                terms=self._terms(back),
                insights=("back",),
                count=len(back),
            )
        ]

    def _silence(self, source: str, silent: list[_Series]) -> Percept:
        """One percept for all that a source stopped telling."""
        latest = sorted((s.last for s in silent if s.last is not None), key=lambda r: (-r.time, r.id))
        cited = {r.id: PerceptionRef(r.id, r.time, source) for r in latest}
        names = listed([f"{s.name} (last {_value(s)})" for s in silent])
        every = max(s.rhythm.interval for s in silent)
        return Percept(
            text=f"{_shown(source)} went silent: no more readings of {names}, which came every {span(every)}",
            vector=self._vector(silent, _SILENT),
            time=latest[0].time + every,
            salience=_SILENCE,
            perceptions=tuple(cited.values())[:_CITED],
            trust=min(r.trust for r in latest),
            part=f"silence/{silent[0].metric}/{silent[0].rhythm.silences}",
            terms=self._terms(silent),
            insights=("silence",),
            count=len(silent),
        )

    def _changed(self, changed: list[tuple[_Series, Change]]) -> list[Percept]:
        ranked = []
        for series, change in changed:
            surprise = math.log1p(min(change.deviations, _PLENTY)) / math.log2(1 + change.times)
            ranked.append((self._ranks.surely(surprise, _DOUBT), series, change))
        ranked.sort(key=lambda item: (-item[0], item[1].metric))
        most = self._settings.segments
        beyond = len(ranked) - most
        percepts = [self._change(rank, series, change) for rank, series, change in ranked[:most]]
        if beyond > 0:
            also = f"and {beyond} more readings of {_shown(changed[0][0].source)} changed"
            percepts[0] = replace(percepts[0], insights=(*percepts[0].insights, also))
        return percepts

    def _change(self, rank: float, series: _Series, change: Change) -> Percept:
        least, most = _SALIENCE[change.kind]
        cited = {r.id: PerceptionRef(r.id, r.time, series.source) for r in change.readings}
        count, series.since = series.since, 0
        insights = [change.kind.value, ratio(change.before, change.after)]
        if change.times > 1:
            insights.append(f"{change.times} times lately")
        return Percept(
            text=f"{_shown(series.source)}: {series.name} {_told(series, change)}",
            vector=self._vector([series], _aspect(change)),
            time=change.readings[0].time,
            salience=least + most * rank,
            perceptions=tuple(cited.values())[:_CITED],
            trust=min(r.trust for r in change.readings),
            part=f"{change.kind.name.lower()}/{series.metric}",
            terms=self._terms([series]),
            insights=tuple(insights),
            count=count,
        )

    def _terms(self, series: Iterable[_Series]) -> tuple[str, ...]:
        """Source, names, and their telling words."""
        first = list(series)[:_CITED]
        names = [s.name.lower() for s in first]
        words = [w for s in first for w in read(s.words).terms]
        return tuple(dict.fromkeys([_shown(first[0].source).lower(), *names, *words]))[: self._settings.terms]

    def _learn_aspects(self, vectors: Mapping[str, Vector]) -> None:
        if len(self._aspects) < len(_ASPECTS):
            self._aspects.update((a, _packed(vectors[a])) for a in _ASPECTS if a in vectors)

    def _vector(self, series: Iterable[_Series], aspect: str) -> Vector:
        """``(dim,) float32``, L2-normalised: what it is about, and what happened to it."""
        total = np.zeros(self._dim, np.float32)
        for one in list(series)[:_CITED]:
            total += _unpacked(one.vector, self._dim)
        norm = float(np.sqrt(total @ total))
        if norm > 0:
            total /= np.float32(norm)
        total += np.float32(_ASPECT) * _unpacked(self._aspects.get(aspect, b""), self._dim)
        norm = float(np.sqrt(total @ total))
        return total / np.float32(norm) if norm > 0 else total

    def dump(self) -> dict[str, object]:
        return {
            "series": list(self._series.values()),
            "latest": self._watch.latest,
            "ranks": self._ranks.dump(),
            "aspects": self._aspects,
            "news": list(self._news.items()),
            "counts": [self._readings, self._forgotten, self._refused],
        }

    def load(self, saved: _Saved) -> None:
        self._watch.latest = saved.latest
        for series in saved.series:
            if len(series.vector) != 2 * self._dim:  # of another embedder
                series.vector = b""
            self._series[series.key] = series
            self._watch.restore(series.key, series.rhythm)
        self._ranks.load(saved.ranks)
        self._aspects = {text: v for text, v in saved.aspects.items() if len(v) == 2 * self._dim}
        self._news = OrderedDict(saved.news)
        self._readings, self._forgotten, self._refused = saved.counts


class _Saved(msgspec.Struct):
    series: list[_Series]
    latest: Instant
    ranks: list[float]
    aspects: dict[str, bytes]
    news: list[tuple[str, Habit]]
    counts: tuple[int, int, int]


def _told(series: _Series, change: Change) -> str:
    """What happened, with its figures."""
    before, after = figure(change.before), figure(change.after, series.unit)
    over = span(change.readings[0].time - change.since)
    if change.kind is Deviation.SPIKE:
        verb = "spiked to" if change.after > change.before else "dipped to"
        return f"{verb} {after}, then {figure(change.before, series.unit)}"
    text = f"{'rose' if change.after > change.before else 'fell'} from {before} to {after} over {over}"
    if change.origin is not None:
        ago = span(change.readings[0].time - change.origin.time)
        text += f" ({figure(change.origin.value, series.unit)} {ago} ago)"
    return text


def _aspect(change: Change) -> str:
    if change.kind is Deviation.SPIKE:
        return _SPIKE
    return _RISING if change.after > change.before else _FALLING


def _value(series: _Series) -> str:
    return figure(series.last.value, series.unit) if series.last is not None else "?"


def _shown(source: str) -> str:
    return clean(source, 80)


def _words(source: str, name: str) -> str:
    return f"{spoken(source)[0]} {name}"


def _packed(vector: Vector | None) -> bytes:
    return b"" if vector is None else vector.astype(np.float16).tobytes()


def _unpacked(data: bytes, dim: int) -> Vector:
    return np.frombuffer(data, np.float16).astype(np.float32) if data else np.zeros(dim, np.float32)
