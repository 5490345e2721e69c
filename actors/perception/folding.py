"""Folding of repetition: one template from one source is one event, with a count and a rate.

A change of rate is an event of its own, and so is the silence of what used to come regularly.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from enum import StrEnum

import msgspec

from actors.perception.settings import FoldingSettings
from environment.messages import Instant

_SMOOTH = 0.2
_STEADY = 0.25


class Turn(StrEnum):
    """What the next line of a template is."""

    NEW = "new"
    """Never seen, or forgotten."""
    REPEAT = "repeat"
    """More of the same: counted, nothing to say."""
    SURGE = "surge"
    """More of the same, but much faster than before."""
    RETURN = "return"
    """Back after a silence that was spoken of."""


class Series(msgspec.Struct):
    """One template of one source."""

    source: str
    template: str
    first: Instant
    last: Instant
    count: int = 1
    in_window: int = 1
    window_start: Instant = 0.0
    usual: float = 0.0
    """Usual repeats per window, smoothed."""
    spoken: float = 0.0
    """Rate per window at which a surge was last spoken of."""
    interval: float = 0.0
    deviation: float = 0.0
    regular: int = 0
    silent: bool = False
    last_id: str = ""
    sample: str = ""
    trust: float = 0.5
    since: int = 0
    """Repeats folded since this was last spoken of."""


class Folding:
    """Remembers templates, least recently used first to go.

    Guarantee: memory is bounded by ``templates``; the cost of a line does not depend on how many came before.
    """

    def __init__(self, settings: FoldingSettings) -> None:
        self._settings = settings
        self._series: OrderedDict[tuple[str, str], Series] = OrderedDict()
        self._due: list[tuple[Instant, str, str]] = []
        self.folded = 0

    def known(self, source: str, template: str, time: Instant) -> bool:
        """Whether the line would most likely be folded: its embedding is then not needed."""
        series = self._series.get((source, template))
        return series is not None and time - series.last <= self._settings.forget_after

    def take(self, source: str, template: str, time: Instant) -> tuple[Turn, Series]:
        """Count one line."""
        key = (source, template)
        series = self._series.get(key)
        if series is None or time - series.last > self._settings.forget_after:
            series = Series(source, template, time, time, window_start=time)
            self._series[key] = series
            self._series.move_to_end(key)
            if len(self._series) > self._settings.templates:
                self._series.popitem(last=False)
            return Turn.NEW, series
        self._series.move_to_end(key)
        self.folded += 1
        series.count += 1
        series.since += 1
        self._learn_interval(series, time)
        if series.silent:
            series.silent = False
            return Turn.RETURN, series
        return (Turn.SURGE if self._surges(series, time) else Turn.REPEAT), series

    def silences(self, now: Instant) -> list[Series]:
        """Regular templates that stopped coming; each is named once."""
        found = []
        while self._due and self._due[0][0] <= now:
            _, source, template = heapq.heappop(self._due)
            series = self._series.get((source, template))
            if series is None or series.silent or series.regular < self._settings.regular:
                continue
            due = self._due_at(series)
            if due > now:
                heapq.heappush(self._due, (due, source, template))
            else:
                series.silent = True
                found.append(series)
        return found

    def _due_at(self, series: Series) -> Instant:
        return series.last + self._settings.silence * max(series.interval, 1.0)

    def _learn_interval(self, series: Series, time: Instant) -> None:
        gap = max(0.0, time - series.last)
        series.last = max(series.last, time)
        if series.count == 2:  # noqa: PLR2004  # the first interval there is
            series.interval = gap
            return
        off = abs(gap - series.interval)
        series.deviation += _SMOOTH * (off - series.deviation)
        series.interval += _SMOOTH * (gap - series.interval)
        steady = series.interval >= 1 and off <= _STEADY * series.interval
        was = series.regular
        series.regular = series.regular + 1 if steady else max(0, series.regular // 2)
        if was < self._settings.regular <= series.regular:
            heapq.heappush(self._due, (self._due_at(series), series.source, series.template))

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

    def dump(self) -> list[object]:
        """For a snapshot."""
        return [msgspec.to_builtins(s) for s in self._series.values()]

    def load(self, state: object) -> None:
        """From a snapshot."""
        for series in msgspec.convert(state, list[Series]):
            self._series[(series.source, series.template)] = series
            if series.regular >= self._settings.regular and not series.silent:
                heapq.heappush(self._due, (self._due_at(series), series.source, series.template))
