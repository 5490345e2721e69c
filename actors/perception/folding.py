"""Folding of repetition: one template from one source is one event, with a count and a rate.

A change of rate is an event of its own, and so is the silence of what used to come regularly.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import StrEnum
from hashlib import blake2b

import msgspec

from actors.perception.rhythm import Rhythm, Watch
from actors.perception.settings import FoldingSettings
from environment.latest import Latest
from environment.messages import Instant


class Turn(StrEnum):
    """What the next line of a template is."""

    NEW = "new"
    """Never seen, or it had to make room."""
    AGAIN = "again"
    """Begins anew after so long that it counts as new."""
    HABIT = "habit"
    """So again, as it does time after time."""
    REPEAT = "repeat"
    """More of the same: counted, nothing to say."""
    SURGE = "surge"
    """More of the same, but much faster than before."""
    RETURN = "return"
    """Back after a silence that was spoken of."""


_FEW, _WEEK = 3.5, 7 * 86_400.0
"""Beginnings of a template, in any source, from which the next is a habit; each counts half a week later."""
_SHORT = 32
"""Bytes of a digest in hexadecimal: a template no longer than that is kept as it is."""


def mark(template: str) -> str:
    """What a template is known by: itself, or its digest where that is shorter."""
    if len(template) <= _SHORT and template.isascii():
        return template
    return blake2b(template.encode(errors="surrogatepass"), digest_size=_SHORT // 2).hexdigest()


class Series(msgspec.Struct, omit_defaults=True):
    """One template of one source."""

    source: str
    template: str
    """Its mark."""
    rhythm: Rhythm
    count: int = 1
    in_window: int = 1
    window_start: Instant = 0.0
    usual: float = 0.0
    """Usual repeats per window, smoothed."""
    spoken: float = 0.0
    """Rate per window at which a surge was last spoken of."""
    last_id: str = ""
    sample: str = ""
    trust: float = 0.5
    since: int = 0
    """Repeats folded since this was last spoken of."""


class Folding:
    """Remembers templates by their marks, least recently used first to go.

    Guarantee: memory is bounded by ``templates``, however long they are; the cost of a line does not depend on how many
    came before.
    """

    def __init__(self, settings: FoldingSettings) -> None:
        self._settings = settings
        self._series: OrderedDict[tuple[str, str], Series] = OrderedDict()
        self._watch = Watch(settings.regular, settings.silence)
        self._begun: Latest[str, tuple[float, Instant]] = Latest(settings.templates)
        """How often each template began, as of the latest time, and when that was."""
        self.folded = 0
        self.forgotten = 0
        """Templates that had to make room."""

    def __len__(self) -> int:
        return len(self._series)

    def known(self, source: str, template: str, time: Instant) -> bool:
        """Whether the line would most likely be folded: its embedding is then not needed."""
        series = self._series.get((source, template))
        return series is not None and time - series.rhythm.last <= self._settings.forget_after

    def take(self, source: str, template: str, time: Instant) -> tuple[Turn, Series, float]:
        """Count one line; what it is, its series, and the seconds since the one before."""
        key = (source, template)
        series = self._series.get(key)
        gap = 0.0 if series is None else max(0.0, time - series.rhythm.last)
        if series is None or gap > self._settings.forget_after:
            again = Turn.AGAIN if self._begins(template, time) < _FEW else Turn.HABIT
            return Turn.NEW if series is None else again, self._begin(key, time), gap
        self._series.move_to_end(key)
        self.folded += 1
        series.count += 1
        series.since += 1
        back = self._watch.beat(key, series.rhythm, time)
        surges = self._surges(series, time)
        return (Turn.RETURN if back else Turn.SURGE if surges else Turn.REPEAT), series, gap

    def silences(self, now: Instant) -> list[Series]:
        """Regular templates that stopped coming; each is named once."""
        return [self._series[key] for key in self._watch.silences(now, self._rhythm)]

    def due(self) -> Instant | None:
        """Event time before which no silence is found."""
        return self._watch.due()

    def _begins(self, template: str, time: Instant) -> float:
        before, last = self._begun.get(template, (0.0, time))
        self._begun[template] = (1.0 + before * 0.5 ** (max(0.0, time - last) / _WEEK), time)
        return self._begun[template][0]

    def _begin(self, key: tuple[str, str], time: Instant) -> Series:
        series = Series(*key, Rhythm(time), window_start=time)
        self._watch.forget(key)
        self._series[key] = series
        self._series.move_to_end(key)
        if len(self._series) > self._settings.templates:
            self._watch.forget(self._series.popitem(last=False)[0])
            self.forgotten += 1
        return series

    def _rhythm(self, key: tuple[str, str]) -> Rhythm | None:
        series = self._series.get(key)
        return None if series is None else series.rhythm

    def _surges(self, series: Series, time: Instant) -> bool:
        window = self._settings.window
        passed = (time - series.window_start) / window
        if passed >= 1:
            series.usual += 0.3 * (series.in_window - series.usual)
            series.usual *= 0.7 ** min(50, int(passed) - 1)
            series.spoken = max(series.spoken * 0.5 ** min(50, int(passed)), series.usual)
            series.window_start, series.in_window = time, 1
            return False
        series.in_window += 1
        bar = self._settings.surge * max(series.usual, series.spoken, 1.0)
        if series.in_window < max(self._settings.least, bar):
            return False
        series.spoken = float(series.in_window)
        return True

    def dump(self) -> SavedFolding:
        """For a snapshot."""
        return SavedFolding(list(self._series.values()), self._watch.latest, self.folded, self.forgotten, self._begun)

    def load(self, saved: SavedFolding) -> None:
        """From a snapshot."""
        self._watch.latest, self.folded, self.forgotten = saved.latest, saved.folded, saved.forgotten
        self._begun.update(saved.begun)
        for series in saved.series[-self._settings.templates :]:
            series.template = mark(series.template)
            self._series[(series.source, series.template)] = series
            self._watch.restore((series.source, series.template), series.rhythm)


class SavedFolding(msgspec.Struct):
    """What a snapshot holds of it."""

    series: list[Series]
    latest: Instant
    folded: int
    forgotten: int
    begun: dict[str, tuple[float, Instant]] = {}
