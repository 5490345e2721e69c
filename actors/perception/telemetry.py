"""The telemetry interpreter: named numbers into changes worth words, each with its figures."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from actors.perception.deviations import Alarm, Deviation, Deviations, Reading, Return
from actors.perception.naming import figure, listed, ratio, spoken
from actors.perception.percept import Percept
from actors.perception.rhythm import Rhythm, Watch
from actors.perception.settings import PerceptionSettings
from actors.perception.wording import clean, read, span
from environment.messages import Instant, Perception, PerceptionRef, Vector

_LARGEST = 1e150
"""Numbers beyond this would overflow when they are compared; they are counted and left out."""
_CITED = 4
_ASPECT = 0.5
"""Weight of what happens beside what it happens to, in a vector."""
_ALARM, _WORSE, _PLENTY = 0.7, 0.25, 20.0
"""Salience of an alarm at the bar, what it has more at most, and the nats beyond the bar for that."""
_TOGETHER, _ALSO = 3.0, 0.6
"""Intervals within which another alarm of a source goes with the one before, and the share that is worth."""
_YOUNG = 0.5
"""The share that a drift is worth on the first day of a series: others recall it, by itself it is seldom told."""
_HOUR = 3600.0
_SILENCE, _RETURN = 0.7, 0.45
_RISING, _FALLING, _RESTLESS, _STILL = "rising higher", "falling lower", "restless, swinging", "stuck, not moving"
_SILENT, _BACK = "silent, no readings", "readings are back"
_ASPECTS = (_RISING, _FALLING, _RESTLESS, _STILL, _SILENT, _BACK)


class _Series(msgspec.Struct):
    source: str
    metric: str
    name: str
    unit: str
    rhythm: Rhythm
    deviations: Deviations
    vector: bytes = b""
    """Embedding of source and name, float16; empty while unknown."""
    last: Reading | None = None

    @property
    def key(self) -> tuple[str, str]:
        return (self.source, self.metric)

    @property
    def words(self) -> str:
        return _words(self.source, self.name)


class TelemetryInterpreter:
    """Tells when a (source, metric) series leaves its usual, falls silent, and is back.

    Guarantee: memory is bounded by ``series``; the cost of a number does not depend on how many came before. What
    happens to several series of one perception is one percept; of what happens to others of the source meanwhile only
    the first stands out.
    """

    def __init__(self, dim: int, settings: PerceptionSettings) -> None:
        self.saved = _Saved
        self._dim = dim
        self._settings = settings
        self._series: OrderedDict[tuple[str, str], _Series] = OrderedDict()
        self._watch = Watch(settings.folding.regular, settings.folding.silence)
        self._aspects: dict[str, bytes] = {}
        self._alarmed: OrderedDict[str, Instant] = OrderedDict()
        """By source, the event time of its latest alarm."""
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
        resumed: list[tuple[_Series, Reading]] = []
        alarmed: list[tuple[_Series, Alarm]] = []
        returned: list[tuple[_Series, Return]] = []
        for metric, value in (perception.telemetry or {}).items():
            if not abs(value) <= _LARGEST:
                self._refused += 1
                continue
            self._readings += 1
            series = self._series.get((perception.source, metric))
            if series is None:
                series = self._begin(perception, metric)
            else:
                self._series.move_to_end(series.key)
                if self._watch.beat(series.key, series.rhythm, perception.time) and series.last is not None:
                    resumed.append((series, series.last))
            if not series.vector:
                series.vector = _packed(vectors.get(series.words))
            series.last = Reading(float(value), perception.time, perception.id, perception.trust)
            change = series.deviations.take(series.last, -math.log(self._settings.false_alarms))
            if isinstance(change, Alarm):
                alarmed.append((series, change))
            elif change is not None:
                returned.append((series, change))
        told = (
            self._resumed(perception, resumed) if resumed else None,
            self._returned(perception, returned) if returned else None,
            self._alarm(perception, alarmed) if alarmed else None,
        )
        return [percept for percept in told if percept is not None]

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
        deviations = Deviations(self._settings.readings)
        series = _Series(perception.source, metric, name, unit, Rhythm(perception.time), deviations)
        self._series[series.key] = series
        if len(self._series) > self._settings.series:
            self._watch.forget(self._series.popitem(last=False)[0])
            self._forgotten += 1
        return series

    def _rhythm(self, key: tuple[str, str]) -> Rhythm | None:
        series = self._series.get(key)
        return None if series is None else series.rhythm

    def _resumed(self, perception: Perception, resumed: list[tuple[_Series, Reading]]) -> Percept:
        series = [each for each, _ in resumed]
        before = max((last for _, last in resumed), key=lambda last: last.time)
        names = listed([f"{s.name} ({_value(s)})" for s in series])
        gap = span(max(0.0, perception.time - before.time))
        text = f"{_shown(perception.source)}: readings of {names} are back after {gap} of silence"
        focus = Reading(0.0, perception.time, perception.id, perception.trust)
        return self._percept(text, series, (focus, before), _BACK, _RETURN, "resumed")

    def _returned(self, perception: Perception, returned: list[tuple[_Series, Return]]) -> Percept:
        series = [each for each, _ in returned]
        first = min((change.first for _, change in returned), key=lambda reading: reading.time)
        began = list({change.began.id: change.began for _, change in returned}.values())
        names = listed([f"{s.name} is back at {_value(s)}" for s in series])
        lasted = span(max(0.0, first.time - min(reading.time for reading in began)))
        text = f"{_shown(perception.source)}: {names} after {lasted}"
        return self._percept(text, series, (first, *began), _BACK, _RETURN, f"back/{series[0].metric}")

    def _silence(self, source: str, silent: list[_Series]) -> Percept:
        """One percept for all that a source stopped telling."""
        latest = sorted((s.last for s in silent if s.last is not None), key=lambda r: (-r.time, r.id))
        names = listed([f"{s.name} (last {_value(s)})" for s in silent])
        every = max(s.rhythm.interval for s in silent)
        text = f"{_shown(source)} went silent: no more readings of {names}, which came every {span(every)}"
        part = f"silence/{silent[0].metric}/{silent[0].rhythm.silences}"
        percept = self._percept(text, silent, latest, _SILENT, _SILENCE, part)
        return replace(percept, time=latest[0].time + every)

    def _alarm(self, perception: Perception, alarmed: list[tuple[_Series, Alarm]]) -> Percept:
        """One percept for all that left their usual at once, the least expected first."""
        alarmed.sort(key=lambda each: (-each[1].surprise, each[0].metric))
        series, worst = [each for each, _ in alarmed], alarmed[0][1]
        beyond = worst.surprise + math.log(self._settings.false_alarms)
        salience = (_ALARM + _WORSE * min(1.0, beyond / _PLENTY)) * (_YOUNG if worst.young else 1.0)
        before = self._alarmed.get(perception.source)
        if before is not None and perception.time - before <= _TOGETHER * series[0].rhythm.interval:
            salience *= _ALSO
        self._alarmed[perception.source] = perception.time
        self._alarmed.move_to_end(perception.source)
        if len(self._alarmed) > self._settings.series:
            self._alarmed.popitem(last=False)
        text = f"{_shown(perception.source)}: {listed([_told(*each) for each in alarmed])}"
        part = f"{worst.kind.name.lower()}/{series[0].metric}"
        percept = self._percept(text, series, (worst.reading,), _aspect(worst), salience, part)
        return replace(percept, insights=(worst.kind.value, ratio(worst.usual, worst.now)))

    def _percept(
        self,
        text: str,
        series: Sequence[_Series],
        readings: Sequence[Reading],
        aspect: str,
        salience: float,
        part: str,
    ) -> Percept:
        """Of what happened to some series of one source; the first reading is the focus."""
        cited = {r.id: PerceptionRef(r.id, r.time, series[0].source) for r in readings}
        return Percept(
            text=text,
            vector=self._vector(series, aspect),
            time=readings[0].time,
            salience=salience,
            perceptions=tuple(cited.values())[:_CITED],
            trust=min(r.trust for r in readings),
            part=part,
            terms=self._terms(series, readings[0].time),
            insights=(part.partition("/")[0],),
            count=len(series),
        )

    def _terms(self, series: Iterable[_Series], time: Instant) -> tuple[str, ...]:
        """Source, names, and their telling words; not what other sources call theirs, unless one of them alarmed too.

        That two rooms have a temperature is no connection; that two rise within the hour may be one.
        """
        first = list(series)[:_CITED]
        source, others = first[0].source, set[str]()
        if not any(other != source and abs(time - at) <= _HOUR for other, at in self._alarmed.items()):
            elsewhere = (s for s in self._series.values() if s.source != source)
            others = {word for s in elsewhere for word in (s.name.lower(), *s.words.lower().split())}
        named = [term.lower() for s in first for term in (s.name, *read(s.words).terms)]
        told = [_shown(source).lower(), *(term for term in named if term not in others)]
        return tuple(dict.fromkeys(told))[: self._settings.terms]

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
            "aspects": self._aspects,
            "alarmed": list(self._alarmed.items()),
            "counts": [self._readings, self._forgotten, self._refused],
        }

    def load(self, saved: _Saved) -> None:
        self._watch.latest = saved.latest
        for series in saved.series:
            if len(series.vector) != 2 * self._dim:  # of another embedder
                series.vector = b""
            self._series[series.key] = series
            self._watch.restore(series.key, series.rhythm)
        self._aspects = {text: v for text, v in saved.aspects.items() if len(v) == 2 * self._dim}
        self._alarmed = OrderedDict(saved.alarmed)
        self._readings, self._forgotten, self._refused = saved.counts


class _Saved(msgspec.Struct):
    series: list[_Series]
    latest: Instant
    aspects: dict[str, bytes]
    alarmed: list[tuple[str, Instant]]
    counts: tuple[int, int, int]


def _told(series: _Series, alarm: Alarm) -> str:
    """What happened, with its figures."""
    usual, now = figure(alarm.usual, series.unit), figure(alarm.now, series.unit)
    higher = alarm.now > alarm.usual
    at_this_time = " at this time" if alarm.seasonal else ""
    match alarm.kind:
        case Deviation.JUMP:
            return f"{series.name} {'rose' if higher else 'fell'} to {now} (usually {usual}{at_this_time})"
        case Deviation.LASTING:
            return f"{series.name} stays {'high' if higher else 'low'} at {now} (usually {usual}{at_this_time})"
        case Deviation.DRIFT:
            return f"{series.name} is slowly {'rising' if higher else 'falling'}: {now}, from {usual}"
        case Deviation.RESTLESS:
            return f"{series.name} is restless, moving by {now} at a time (usually {usual})"
        case Deviation.STILL:
            return f"{series.name} hardly moves from {_value(series)}, by {now} at a time (usually {usual})"


def _aspect(alarm: Alarm) -> str:
    moving = {Deviation.RESTLESS: _RESTLESS, Deviation.STILL: _STILL}
    return moving.get(alarm.kind, _RISING if alarm.now > alarm.usual else _FALLING)


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
