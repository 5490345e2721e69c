"""Inhibition of return: what has just been conscious is suppressed for a while, and so are its paraphrases."""

from __future__ import annotations

from collections import OrderedDict

import msgspec
import numpy as np

from actors.attention.settings import AttentionSettings
from environment.messages import Instant, ThoughtKind, Trace, Vector
from environment.severity import salience_of

_REMEMBERED = 4096


class _Seen(msgspec.Struct):
    at: Instant
    version: int
    newest: Instant
    """Event time of the latest thing it rested on."""


class Inhibition:
    """Remembers a bounded number of conscious thoughts."""

    def __init__(self, dim: int, settings: AttentionSettings) -> None:
        self._settings = settings
        self._rows = np.zeros((settings.inhibition_memory, dim), np.float32)
        self._times = np.zeros(settings.inhibition_memory)
        self._count = 0
        self._last: OrderedDict[str, _Seen] = OrderedDict()
        self.strength = settings.inhibition

    def configure(self, settings: AttentionSettings) -> None:
        """Judge by other settings; what widened it stays, in proportion."""
        factor = self.strength / self._settings.inhibition if self._settings.inhibition else 1.0
        self._settings = settings
        self.widen(factor)

    def suppressed(self, trace: Trace, now: Instant) -> bool:
        """True when the trace, or another about the same, was conscious and nothing changed since.

        A revision is a change once the refractory time is over, unless what is new in it was conscious in other words;
        a new thought about the same perception is one only when it rests on something that happened later.
        """
        last = self._last.get(trace.id)
        newest = max((p.time for p in trace.thought.perceptions), default=trace.thought.time)
        if last is None and trace.conscious is not None:  # so long ago that nobody knows as which version: as this one
            last = self._note(trace.id, _Seen(now, trace.version, newest))
        if last is not None:
            if trace.version <= last.version or now - last.at < self._settings.refractory:
                return True
            return newest > last.newest and self._told(trace, newest)
        if trace.thought.kind is ThoughtKind.RESULT and salience_of(trace.level.value) >= self._settings.break_in:
            return False  # an answer to somebody is about what was just conscious, and is awaited
        return self._told(trace, newest)

    def _told(self, trace: Trace, newest: Instant) -> bool:
        """Whether something about the same was conscious that rested on nothing older."""
        about = (*trace.thought.parents, *(p.id for p in trace.thought.perceptions[:1]))
        return any(seen is not None and newest <= seen.newest for seen in map(self._last.get, about))

    def loss(self, vector: Vector, now: Instant) -> float:
        """Share of salience lost to likeness with recent conscious thoughts, 0..``strength``; less for older ones."""
        filled = min(self._count, len(self._rows))
        if not filled:
            return 0.0
        above = self._settings.inhibited_above
        like = np.maximum(0.0, self._rows[:filled] @ vector - above) / max(1e-6, 1.0 - above)
        fresh = 0.5 ** (np.maximum(0.0, now - self._times[:filled]) / self._settings.inhibition_half_life)
        return self.strength * float((like * fresh).max())

    def widen(self, factor: float) -> None:
        """Make likeness cost ``factor`` times what the settings say, up to all."""
        self.strength = min(1.0, self._settings.inhibition * factor)

    def remember(self, trace: Trace, now: Instant) -> None:
        """The trace has become conscious."""
        self._rows[self._count % len(self._rows)] = trace.thought.vector
        self._times[self._count % len(self._rows)] = now
        self._count += 1
        newest = max((p.time for p in trace.thought.perceptions), default=trace.thought.time)
        for i in (trace.id, *trace.thought.parents, *(p.id for p in trace.thought.perceptions[:1])):
            before = self._last.get(i)
            version = trace.version if i == trace.id else before.version if before else 0
            self._note(i, _Seen(now, version, newest))

    def _note(self, name: str, seen: _Seen) -> _Seen:
        self._last[name] = seen
        self._last.move_to_end(name)
        while len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)
        return seen

    def dump(self) -> SavedInhibition:
        """For a snapshot."""
        return SavedInhibition(self._rows.tobytes(), self._times.tolist(), self._count, list(self._last.items()))

    def load(self, saved: SavedInhibition) -> None:
        """From a snapshot."""
        rows = np.frombuffer(saved.rows, np.float32)
        if rows.size == self._rows.size:  # else the embedder or the settings changed: likeness starts afresh
            self._rows, self._count = rows.reshape(self._rows.shape).copy(), saved.count
            self._times = np.asarray(saved.times)
        self._last = OrderedDict(saved.last)


class SavedInhibition(msgspec.Struct):
    """What a snapshot holds of it."""

    rows: bytes
    times: list[Instant]
    count: int
    last: list[tuple[str, _Seen]]
