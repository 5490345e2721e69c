"""What marks keep back, lower and raise: what somebody muted or found useful or not, but never what is critical."""

import math
from collections import OrderedDict
from collections.abc import Sequence

from actors.attention.contest import origin_of
from actors.attention.settings import AttentionSettings
from actors.attention.taste import Taste, opinions, template_of
from actors.effects import Effect
from actors.events import Marked, Muted
from environment.marks import FeedbackMark, MuteScope, mutes
from environment.messages import Instant, Thought, Trace
from environment.severity import Severity, salience_of, severity

_NEVER = float("-inf")
"""Not muted: event time may lie before 1970."""
_HUSHED = 4096
"""Traces of muted matters remembered at most."""


class StandingMutes:
    """What is muted now; the same marks mute the same, in whatever order they come."""

    def __init__(self, marks: Sequence[FeedbackMark] = ()) -> None:
        self._hushed: OrderedDict[str, Instant] = OrderedDict()
        self._learn(tuple(marks))

    def _learn(self, marks: tuple[FeedbackMark, ...]) -> None:
        self._marks = marks
        self._sources = mutes(marks, MuteScope.SOURCE)
        self._templates = mutes(marks, MuteScope.TEMPLATE)
        self._taste = Taste(marks)
        self.said = {trace: wanted for mark, wanted in opinions(marks) for trace in mark.traces}
        """By trace: 1 where somebody found useful what rests on it, 0 where not."""

    def take(self, event: Marked | Muted) -> list[Effect]:
        """All marks that there are; or traces of a muted matter, which are so no more where ``until`` is over."""
        if isinstance(event, Marked):
            if event.marks != self._marks:  # mostly they are told again
                self._learn(event.marks)
            return []
        for trace in event.traces:
            self._hushed[trace] = event.until
            self._hushed.move_to_end(trace)
        while len(self._hushed) > _HUSHED:
            self._hushed.popitem(last=False)
        return []

    def hold_back(self, trace: Trace, now: Instant) -> bool:
        """Whether a trace is muted; what is critical passes, and so do reminders."""
        thought = trace.thought
        until = [self._hushed.get(each, _NEVER) for each in (trace.id, *thought.parents)] if self._hushed else []
        until.append(self._sources.get(origin_of(trace), _NEVER))
        if self._templates:
            until.append(self._templates.get(template_of(thought.text), _NEVER))
        return max(until) > now and not critical(thought) and "due" not in thought.insights

    def weighed(self, thought: Thought, level: float, settings: AttentionSettings) -> float:
        """A level with log odds for what the like of it was marked as: what is critical loses nothing by it.

        Nor does it lift what is of no worth by itself: else who finds much useful hears more routine.
        """
        shift = self._taste.shift(thought, settings.taste)
        barred = salience_of(level) < settings.worth if shift > 0 else critical(thought)
        return level if barred else lifted(level, shift)


def lifted(level: float, shift: float) -> float:
    """A level with so many log odds more."""
    return 1 / (1 + (1 - level) / level * math.exp(-shift)) if shift and 0 < level < 1 else level


def critical(thought: Thought) -> bool:
    """Whether nothing that anybody wants may lower it."""
    return severity(salience_of(thought.salience), thought.evidence) is Severity.CRITICAL
