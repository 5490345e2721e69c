"""The text interpreter: lines, messages and articles into appraised, folded events."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from actors.perception.appraisal import Appraisal, Appraiser
from actors.perception.folding import Folding, Series, Turn
from actors.perception.percept import Percept, ref
from actors.perception.running import FadingCounts
from actors.perception.settings import PerceptionSettings
from actors.perception.wording import Wording, clean, rarest, read, segments, template
from environment.messages import Instant, Perception, PerceptionRef, Vector

_VECTORS = 1024
_SURPRISE_SURGE = 0.5
_SURPRISE_SILENCE = 0.4


class TextInterpreter:
    """Segments, folds, appraises.

    Guarantee: a flood of equal lines yields one percept when it begins and a few more as its rate multiplies;
    a line unlike them is appraised as if they had not come.
    """

    def __init__(self, dim: int, settings: PerceptionSettings) -> None:
        self._settings = settings
        self._appraiser = Appraiser(dim, settings.appraisal)
        self._folding = Folding(settings.folding)
        self._terms = FadingCounts(settings.appraisal.words)
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._dim = dim
        self._cut = 0

    def texts(self, perceptions: Sequence[Perception]) -> list[str]:
        wanted = []
        for perception in perceptions:
            for piece in self._pieces(perception):
                if not self._folding.known(perception.source, template(piece), perception.time):
                    wanted.append(piece)  # noqa: PERF401  # two loops deep
        return wanted

    def interpret(self, perception: Perception, vectors: Mapping[str, Vector]) -> list[Percept]:
        percepts = []
        for i, piece in enumerate(self._pieces(perception)):
            turn, series = self._folding.take(perception.source, template(piece), perception.time)
            if turn is Turn.REPEAT:
                series.last_id = perception.id
                continue
            percept = self._percept(perception, piece, str(i) if i else "", turn, series, vectors)
            series.last_id, series.sample, series.trust, series.since = perception.id, piece[:200], perception.trust, 0
            percepts.append(percept)
        return percepts

    def quiet(self, now: Instant) -> list[Percept]:
        found = []
        for series in self._folding.silences(now):
            sample = clean(series.sample, 120)
            text = f"{series.source} went silent: no more “{sample}”, which came every {_span(series.interval)}"
            focus = PerceptionRef(series.last_id, series.last, series.source)
            terms = rarest(read(series.sample).terms, self._terms, self._settings.terms)
            found.append(
                Percept(
                    text=text,
                    vector=self._remembered(series),
                    time=series.last + series.interval,
                    salience=0.5 + 0.5 * _SURPRISE_SILENCE,
                    perceptions=(focus,),
                    trust=series.trust,
                    part=f"silence/{series.count}",
                    terms=terms,
                    insights=("silence",),
                )
            )
        return found

    def figures(self) -> Mapping[str, float]:
        return {"perceptions_folded_total": float(self._folding.folded), "limit_hits:segments": float(self._cut)}

    def _pieces(self, perception: Perception) -> list[str]:
        raw = perception.text or ""
        limit = self._settings.segment * self._settings.segments
        if len(raw) > limit:
            self._cut += 1
        if len(raw) <= self._settings.segment:
            piece = clean(raw, self._settings.segment)
            return [piece] if piece else []
        return [
            p
            for s in segments(raw, self._settings.segment, self._settings.segments)
            if (p := clean(s, self._settings.segment))
        ]

    def _percept(
        self, perception: Perception, piece: str, part: str, turn: Turn, series: Series, vectors: Mapping[str, Vector]
    ) -> Percept:
        wording = read(piece)
        vector = self._vector(series, vectors.get(piece))
        surprise = _SURPRISE_SURGE if turn in {Turn.SURGE, Turn.RETURN} else 0.0
        appraisal = self._appraise(piece, wording, vector, surprise)
        terms = rarest(wording.terms, self._terms, self._settings.terms)
        self._terms.add(wording.terms)
        text = piece
        insights: tuple[str, ...] = ()
        if turn is Turn.SURGE:
            rate = f"×{series.in_window} in {_span(perception.time - series.window_start)}"
            text, insights = f"{piece} ({rate})", (rate,)
        elif turn is Turn.RETURN:
            text, insights = f"{piece} (back after {_span(perception.time - series.last)} of silence)", ("back",)
        return Percept(
            text=text,
            vector=vector,
            time=perception.time,
            salience=appraisal.salience,
            perceptions=(ref(perception),),
            trust=perception.trust,
            part=part,
            terms=terms,
            emotions={
                "valence": round(appraisal.valence, 3),
                "intensity": round(appraisal.parts.get("emotion", 0.0), 3),
            },
            insights=insights,
            count=series.since + 1,
        )

    def _vector(self, series: Series, vector: Vector | None) -> Vector:
        """The embedding, or for a line that was expected to fold, that of the one before."""
        if vector is None:
            return self._remembered(series)
        key = f"{series.source}\0{series.template}"
        self._vectors[key] = vector
        self._vectors.move_to_end(key)
        if len(self._vectors) > _VECTORS:
            self._vectors.popitem(last=False)
        return vector

    def _remembered(self, series: Series) -> Vector:
        known = self._vectors.get(f"{series.source}\0{series.template}")
        return np.zeros(self._dim, np.float32) if known is None else known

    def _appraise(self, piece: str, wording: Wording, vector: Vector, surprise: float) -> Appraisal:
        return self._appraiser.appraise(piece, wording.words, vector, surprise)

    def dump(self) -> dict[str, object]:
        return {
            "appraiser": self._appraiser.dump(),
            "folding": self._folding.dump(),
            "terms": self._terms.dump(),
            "vectors": {k: v.astype(np.float16).tobytes() for k, v in self._vectors.items()},
        }

    def load(self, state: dict[str, object]) -> None:
        saved = msgspec.convert(state, _Saved)
        self._appraiser.load(saved.appraiser)
        self._folding.load(saved.folding)
        self._terms.load(saved.terms)
        for key, vector in saved.vectors.items():
            self._vectors[key] = np.frombuffer(vector, np.float16).astype(np.float32)


class _Saved(msgspec.Struct):
    appraiser: dict[str, object]
    folding: list[object]
    terms: dict[str, int]
    vectors: dict[str, bytes]


def _span(seconds: float) -> str:
    """A duration as people say it."""
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"
