"""The text interpreter: lines, messages and articles into appraised, folded events."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from actors.perception.appraisal import NO_THREATS, Appraiser, SavedAppraiser, Threats
from actors.perception.folding import Folding, SavedFolding, Series, Turn, mark
from actors.perception.percept import Percept, ref
from actors.perception.settings import PerceptionSettings
from actors.perception.severity import ERROR, severity
from actors.perception.wording import clean, read, segments, span, telling, template
from actors.running import FadingCounts
from actors.substrate.sentences import numbered
from environment.logs.records import unframed
from environment.messages import Instant, Perception, PerceptionRef, Vector

_VECTORS = 1024
_SAMPLE = 200
"""Bytes of a line by which its series is called."""
_SURPRISE_SURGE = 0.5
_SURPRISE_SILENCE = 0.4
_HABIT = 0.5
"""What is left of what begins anew time after time."""


class TextInterpreter:
    """Segments, folds, appraises.

    Guarantee: a flood of equal lines yields one percept when it begins and a few more as its rate multiplies;
    a line unlike them is appraised as if they had not come.
    """

    def __init__(self, dim: int, settings: PerceptionSettings, threats: Threats = NO_THREATS) -> None:
        self.saved = _Saved
        self._settings = settings
        self._appraiser = Appraiser(dim, settings.appraisal, threats)
        self._folding = Folding(settings.folding)
        self._terms = FadingCounts(settings.appraisal.words)
        self._vectors: OrderedDict[str, NDArray[np.float16]] = OrderedDict()
        self._dim = dim
        self._cut = 0
        self._pieces: dict[str, tuple[tuple[str, str], ...]] = {}
        """Raw text to (segment, mark) pairs: what ``texts`` has read, ``interpret`` need not read again."""

    def texts(self, perceptions: Sequence[Perception]) -> list[str]:
        self._pieces = {p.text: self._read(p.text) for p in perceptions if p.text}
        return [
            piece
            for p in perceptions
            for piece, mask in self._pieces.get(p.text or "", ())
            if not self._folding.known(p.source, mask, p.time)
        ]

    def interpret(self, perception: Perception, vectors: Mapping[str, Vector]) -> list[Percept]:
        percepts = []
        raw = perception.text or ""
        if len(raw) > self._settings.segment * self._settings.segments:
            self._cut += 1
        pieces = self._pieces.get(raw)
        for i, (piece, mask) in enumerate(self._read(raw) if pieces is None else pieces):
            turn, series, gap = self._folding.take(perception.source, mask, perception.time)
            if turn is Turn.REPEAT:
                self._appraiser.repeated(perception.source)
                self._cite(series, perception, piece)
                continue
            percept = self._percept(perception, piece, str(i) if i else "", turn, series, gap, vectors)
            series.since = 0
            if series.count > 1:  # most never come again, and nobody will speak of their silence
                series.sample = ""
                self._cite(series, perception, piece)
            percepts.append(percept)
        return percepts

    @staticmethod
    def _cite(series: Series, perception: Perception, piece: str) -> None:
        """Keep what is said of it should it fall silent."""
        series.last_id = perception.id
        if not series.sample:
            series.trust = perception.trust
            series.sample = piece.encode(errors="replace")[:_SAMPLE].decode(errors="ignore")

    def quiet(self, now: Instant) -> list[Percept]:
        found = []
        for series in self._folding.silences(now):
            sample = clean(series.sample, 120)
            rhythm = series.rhythm
            source = clean(series.source, 80)
            text = f"{source} went silent: no more “{sample}”, which came every {span(rhythm.interval)}"
            found.append(
                Percept(
                    text=text,
                    vector=self._remembered(series),
                    time=rhythm.last + rhythm.interval,
                    salience=0.5 + 0.5 * _SURPRISE_SILENCE,
                    perceptions=(PerceptionRef(series.last_id, rhythm.last, series.source),),
                    trust=series.trust,
                    part=f"silence/{series.count}",
                    terms=telling(read(series.sample).terms, self._terms, self._settings.terms),
                    insights=("silence",),
                )
            )
        return found

    def due(self) -> Instant | None:
        return self._folding.due()

    def figures(self) -> Mapping[str, float]:
        return {
            "perceptions_folded_total": float(self._folding.folded),
            "limit_hits:segments": float(self._cut),
            "limit_hits:templates": float(self._folding.forgotten),
        }

    def _read(self, raw: str) -> tuple[tuple[str, str], ...]:
        """(segment, mark of its template) pairs of a raw text."""
        size, raw = self._settings.segment, unframed(raw)
        parts = (raw,) if len(raw) <= size else segments(raw, size, self._settings.segments)
        return tuple((piece, mark(template(piece))) for part in parts if (piece := clean(part, size)))

    def _percept(
        self,
        perception: Perception,
        piece: str,
        part: str,
        turn: Turn,
        series: Series,
        gap: float,
        vectors: Mapping[str, Vector],
    ) -> Percept:
        wording = read(piece)
        vector = self._vector(series, vectors.get(piece))
        again = turn is Turn.AGAIN and severity(piece) >= ERROR
        surprise = _SURPRISE_SURGE if again or turn in {Turn.SURGE, Turn.RETURN} else 0.0
        appraisal = self._appraiser.appraise(piece, wording.words, vector, perception.source, perception.time, surprise)
        every = (*numbered(piece, self._terms.get), *wording.terms)
        terms = telling(every, self._terms, self._settings.terms)
        self._terms.add(every)
        text, insights = piece, tuple[str, ...]()
        if turn is Turn.SURGE:
            rate = f"×{series.in_window} in {span(perception.time - series.window_start)}"
            text, insights = f"{piece} ({rate})", (rate,)
        elif turn is Turn.RETURN:
            text, insights = f"{piece} (back after {span(gap)} of silence)", ("back",)
        elif again:
            text, insights = f"{piece} (again after {span(gap)})", ("again",)
        return Percept(
            text=text,
            vector=vector,
            time=perception.time,
            salience=appraisal.salience * (_HABIT if turn is Turn.HABIT else 1.0),
            perceptions=(ref(perception),),
            trust=perception.trust,
            part=part,
            terms=terms,
            emotions=appraisal.emotions,
            evidence=appraisal.parts,
            insights=insights,
            count=series.since + 1,
        )

    def _vector(self, series: Series, vector: Vector | None) -> Vector:
        """The embedding of a line, or for more of the same that of the first, however they were batched."""
        key = f"{series.source}\0{series.template}"
        if vector is None or (series.count > 1 and key in self._vectors):
            return self._remembered(series)
        self._vectors[key] = vector.astype(np.float16)
        self._vectors.move_to_end(key)
        if len(self._vectors) > _VECTORS:
            self._vectors.popitem(last=False)
        return vector

    def _remembered(self, series: Series) -> Vector:
        known = self._vectors.get(f"{series.source}\0{series.template}")
        return np.zeros(self._dim, np.float32) if known is None else known.astype(np.float32)

    def dump(self) -> dict[str, object]:
        return {
            "appraiser": self._appraiser.dump(),
            "folding": self._folding.dump(),
            "cut": self._cut,
            "terms": self._terms.dump(),
            "vectors": {k: v.tobytes() for k, v in self._vectors.items()},
        }

    def load(self, saved: _Saved) -> None:
        self._appraiser.load(saved.appraiser)
        self._folding.load(saved.folding)
        self._cut = saved.cut
        self._terms.load(saved.terms)
        for key, vector in saved.vectors.items():
            if len(vector) == 2 * self._dim:  # else of another embedder
                source, _, known = key.partition("\0")
                self._vectors[f"{source}\0{mark(known)}"] = np.frombuffer(vector, np.float16)


class _Saved(msgspec.Struct):
    appraiser: SavedAppraiser
    folding: SavedFolding
    cut: int
    terms: dict[str, int]
    vectors: dict[str, bytes]
