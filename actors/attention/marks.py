"""What marks keep back: sources, templates and matters that somebody muted, but never what is critical."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from actors.attention.contest import source_of
from actors.effects import Effect
from actors.events import Marked, Muted
from actors.perception.wording import template
from environment.marks import FeedbackMark, MuteScope, mutes
from environment.messages import Instant, Thought, Trace

_TEMPLATE = 1000
"""Characters of a template by which it is known."""
_ALARMING = ("threat", "alarm")
_NEVER = float("-inf")
"""Not muted: event time may lie before 1970."""
_HUSHED = 4096
"""Traces of muted matters remembered at most."""


def template_of(thought: Thought) -> str:
    """What a thought has in common with others of its form."""
    return template(thought.text)[:_TEMPLATE]


class StandingMutes:
    """What is muted now; the same marks mute the same, in whatever order they come."""

    def __init__(self, marks: Sequence[FeedbackMark] = ()) -> None:
        self._hushed: OrderedDict[str, Instant] = OrderedDict()
        self.take(Marked(tuple(marks)))

    def take(self, event: Marked | Muted) -> list[Effect]:
        """All marks that there are; or traces of a muted matter, which are so no more where ``until`` is over."""
        if isinstance(event, Marked):
            self._sources = mutes(event.marks, MuteScope.SOURCE)
            self._templates = mutes(event.marks, MuteScope.TEMPLATE)
            return []
        for trace in event.traces:
            self._hushed[trace] = event.until
            self._hushed.move_to_end(trace)
        while len(self._hushed) > _HUSHED:
            self._hushed.popitem(last=False)
        return []

    def hold_back(self, trace: Trace, critical: float, now: Instant) -> bool:
        """Whether a trace is muted; ``critical`` log odds of threat and alarm together pass, and so do reminders."""
        thought = trace.thought
        until = [self._hushed.get(each, _NEVER) for each in (trace.id, *thought.parents)] if self._hushed else []
        until.append(self._sources.get(source_of(trace), _NEVER))
        if self._templates:
            until.append(self._templates.get(template_of(thought), _NEVER))
        alarm = sum(thought.evidence.get(part, 0.0) for part in _ALARMING)
        return max(until) > now and alarm < critical and "due" not in thought.insights
