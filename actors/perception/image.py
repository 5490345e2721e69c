"""The image interpreter: what can be said of an image without a model, and how it differs from the one before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from actors.image_features import TOO_LONG, TOO_MUCH, ImageFeatures, digest
from actors.perception.appraisal import NO_THREATS, Appraiser, SavedAppraiser, Threats
from actors.perception.percept import Percept, ref
from actors.perception.rhythm import Rhythm, Watch
from actors.perception.settings import PerceptionSettings
from actors.perception.wording import clean, read, span, telling
from actors.running import FadingCounts, Habit
from environment.messages import Instant, Perception, PerceptionRef, Vector

_SAME = 0.03
"""Change below which two images are the same to the eye."""
_USUAL = 1.5
_SMOOTH = 0.2
_PATIENCE = 600.0
"""Seconds after which a source that always changes is told again."""
_MEMORY = 86400.0
_SURPRISE = 0.4
_UNREADABLE = 0.3
_SILENCE = 0.7
_CONFIDENCE, _CONFIDENCE_UNREADABLE = 0.8, 0.2
_CAPTIONS = ("caption", "alt")


class _View(msgspec.Struct):
    """What a source showed last."""

    rhythm: Rhythm
    bits: bytes = b""
    grid: bytes = b""
    caption: str = ""
    usual: float = 0.0
    """Change from one image to the next, smoothed."""
    told: Instant = 0.0
    """When it was last told of."""
    words: str = ""
    """How it was last told of."""
    vector: bytes = b""
    """Embedding of that, float16."""
    last: tuple[str, Instant, float] = ("", 0.0, 0.0)
    """Id, time and trust of the latest."""
    since: int = 0
    """Images since it was last told of."""
    unreadable: Habit = msgspec.field(default_factory=Habit)


class ImageInterpreter:
    """Tells the first image of a source, those that differ from the one before, and those it cannot read.

    Guarantee: memory is bounded by ``series``; never raises for any bytes; images that look like the one before are
    folded, and a source that changes all the time is told only when it changes more than usual, or every ten minutes.
    """

    def __init__(self, dim: int, settings: PerceptionSettings, threats: Threats = NO_THREATS) -> None:
        self.saved = _Saved
        self._nothing: Vector = np.zeros(dim, np.float32)
        self._settings = settings
        self._appraiser = Appraiser(dim, settings.appraisal, threats)
        self._terms = FadingCounts(settings.appraisal.words)
        self._views: OrderedDict[str, _View] = OrderedDict()
        self._looks: OrderedDict[bytes, ImageFeatures] = OrderedDict()
        """By digest of the bytes: what was ``seen``, or what ``texts`` has looked at."""
        self._watch = Watch(settings.folding.regular, settings.folding.silence)
        self._folded = self._refused = self._forgotten = self._slow = self._heavy = 0

    def seen(self, looks: Mapping[bytes, ImageFeatures]) -> None:
        for key, seen in looks.items():
            self._remember(key, seen)

    def texts(self, perceptions: Sequence[Perception]) -> list[str]:
        return [self._text(p, self._look(p)) for p in perceptions if p.image is not None]

    def interpret(self, perception: Perception, vectors: Mapping[str, Vector]) -> list[Percept]:
        if perception.image is None:
            return []
        seen = self._look(perception)
        text = self._text(perception, seen)
        vector = vectors.get(text, self._nothing)
        view = self._views.get(perception.source)
        gap = 0.0
        if view is None:
            view = self._begin(perception)
        else:
            self._views.move_to_end(perception.source)
            silence = perception.time - view.rhythm.last
            gap = silence if self._watch.beat((perception.source, ""), view.rhythm, perception.time) else 0.0
        view.since += 1
        view.last = (perception.id, perception.time, perception.trust)
        if seen.problem:
            return self._unreadable(perception, view, seen, text, vector)
        changed = seen.change(ImageFeatures("", "", view.bits, view.grid)) if view.bits else None
        percepts = []
        if gap or self._differs(changed, view, perception):
            percepts.append(self._percept(perception, view, text, vector, changed, gap))
            view.told, view.words, view.vector = perception.time, seen.words, vector.astype(np.float16).tobytes()
            view.since = 0
        else:
            self._folded += 1
        if changed is not None:
            view.usual += _SMOOTH * (changed - view.usual)
        view.bits, view.grid, view.caption = seen.bits, seen.grid, _caption(perception)
        return percepts

    def quiet(self, now: Instant) -> list[Percept]:
        return [self._silence(source) for source, _ in self._watch.silences(now, self._rhythm)]

    def due(self) -> Instant | None:
        return self._watch.due()

    def figures(self) -> Mapping[str, float]:
        return {
            "perceptions_folded_total": float(self._folded),
            "images_unreadable_total": float(self._refused),
            "limit_hits:series": float(self._forgotten),
            "limit_hits:image_seconds": float(self._slow),
            "limit_hits:image_memory": float(self._heavy),
        }

    def _look(self, perception: Perception) -> ImageFeatures:
        data = perception.image.data if perception.image is not None else b""
        key = digest(data)
        seen = self._looks.get(key)
        if seen is None:
            from actors.perception.image_decoding import look  # noqa: PLC0415  # Pillow only where nobody looked before

            seen = look(data, self._settings.image_pixels)
            self._remember(key, seen)
        return seen

    def _remember(self, key: bytes, seen: ImageFeatures) -> None:
        self._looks[key] = seen
        if len(self._looks) > max(self._settings.batch, self._settings.images):
            self._looks.popitem(last=False)

    def _text(self, perception: Perception, seen: ImageFeatures) -> str:
        source, caption = clean(perception.source, 80), _caption(perception)
        return f"{source}: “{caption}” ({seen.words})" if caption else f"{source}: {seen.words}"

    def _begin(self, perception: Perception) -> _View:
        view = _View(Rhythm(perception.time))
        self._views[perception.source] = view
        if len(self._views) > self._settings.series:
            self._watch.forget((self._views.popitem(last=False)[0], ""))
            self._forgotten += 1
        return view

    def _rhythm(self, key: tuple[str, str]) -> Rhythm | None:
        view = self._views.get(key[0])
        return None if view is None else view.rhythm

    def _differs(self, changed: float | None, view: _View, perception: Perception) -> bool:
        """Whether it is worth telling after the one before."""
        if changed is None or _caption(perception) != view.caption:
            return True
        return changed >= _SAME and (changed >= _USUAL * view.usual or perception.time - view.told >= _PATIENCE)

    def _silence(self, source: str) -> Percept:
        view = self._views[source]
        last, time, trust = view.last
        shown, every = clean(source, 80), span(view.rhythm.interval)
        what = f"; the last was {view.words}" if view.words else ""
        return Percept(
            text=f"{shown} went silent: no more images, which came every {every}{what}",
            vector=np.frombuffer(view.vector, np.float16).astype(np.float32) if view.vector else self._nothing,
            time=view.rhythm.last + view.rhythm.interval,
            salience=_SILENCE,
            perceptions=(PerceptionRef(last, time, source),),
            trust=trust,
            part=f"silence/{view.rhythm.silences}",
            terms=(shown.lower(), "image"),
            insights=("silence",),
        )

    def _unreadable(
        self, perception: Perception, view: _View, seen: ImageFeatures, text: str, vector: Vector
    ) -> list[Percept]:
        self._refused += 1
        self._slow += seen.problem == TOO_LONG
        self._heavy += seen.problem == TOO_MUCH
        if not view.unreadable.worth(perception.time, _MEMORY):
            return []
        count, view.since = view.since, 0
        return [
            Percept(
                text=text,
                vector=vector,
                time=perception.time,
                salience=_UNREADABLE,
                perceptions=(ref(perception),),
                trust=perception.trust,
                part="unreadable",
                terms=(clean(perception.source, 80).lower(), "image"),
                insights=(seen.problem,),
                confidence=_CONFIDENCE_UNREADABLE,
                count=count,
            )
        ]

    def _percept(
        self, perception: Perception, view: _View, text: str, vector: Vector, changed: float | None, gap: float
    ) -> Percept:
        wording = read(text)
        unusual = max(0.0, (changed or 0.0) - view.usual)
        appraisal = self._appraiser.appraise(
            text, wording.words, vector, perception.source, perception.time, _SURPRISE * min(1.0, 2 * unusual)
        )
        terms = telling(wording.terms, self._terms, self._settings.terms)
        self._terms.add(wording.terms)
        insights: tuple[str, ...] = ()
        if changed is not None:
            insight = f"changed {100 * changed:.0f} %" if changed >= _SAME else "unchanged"
            text, insights = f"{text}, {insight} since the one before", (insight,)
        if gap:
            text, insights = f"{text} (back after {span(gap)} of silence)", (*insights, "back")
        return Percept(
            text=text,
            vector=vector,
            time=perception.time,
            salience=appraisal.salience,
            perceptions=(ref(perception),),
            trust=perception.trust,
            terms=terms,
            emotions=appraisal.emotions,
            evidence=appraisal.parts,
            insights=insights,
            confidence=_CONFIDENCE,
            count=view.since,
        )

    def dump(self) -> dict[str, object]:
        return {
            "appraiser": self._appraiser.dump(),
            "terms": self._terms.dump(),
            "views": list(self._views.items()),
            "latest": self._watch.latest,
            "counts": [self._folded, self._refused, self._forgotten, self._slow, self._heavy],
        }

    def load(self, saved: _Saved) -> None:
        self._appraiser.load(saved.appraiser)
        self._terms.load(saved.terms)
        self._views = OrderedDict(saved.views)
        self._watch.latest = saved.latest
        for source, view in self._views.items():
            if len(view.vector) != self._nothing.nbytes // 2:  # of another embedder
                view.vector = b""
            self._watch.restore((source, ""), view.rhythm)
        self._folded, self._refused, self._forgotten, self._slow, self._heavy = saved.counts


class _Saved(msgspec.Struct):
    appraiser: SavedAppraiser
    terms: dict[str, int]
    views: list[tuple[str, _View]]
    latest: Instant
    counts: tuple[int, int, int, int, int]


def _caption(perception: Perception) -> str:
    """What the sender says it shows."""
    return next((clean(perception.labels[k], 300) for k in _CAPTIONS if perception.labels.get(k)), "")
