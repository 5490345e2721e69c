"""How long a perception takes on its way: to be read, to be a trace, and to be conscious."""

import asyncio
from collections.abc import Callable

import structlog

from actors.effects import Commit, Effect, Send
from actors.events import Event, Perceived, Post, Posted
from environment.errors import SubliminalError
from environment.latest import Latest
from environment.messages import EntryKind, Instant, StreamEntry
from environment.ports import PerceptionLog, WriteEntries
from orchestration.telemetry import names

_log = structlog.get_logger(__name__)
_WAITING = 4096
Observe = Callable[[str, float], None]
"""Takes a duration in seconds, by the name of its metric."""


class TimedReads:
    """An ``Observer`` of a perceptual submind: the age of perceptions when they are read, and when they are traces.

    Traces of perceptions that were folded for a while before there was a percept are left out: they take long on
    purpose.
    """

    def __init__(self, observe: Observe, wall: Callable[[], Instant]) -> None:
        self._observe = observe
        self._wall = wall
        self._waiting = Latest[str, Instant](_WAITING)

    def reads(self) -> None:
        pass

    def handle(self, event: Event, work: Callable[[], list[Effect]]) -> list[Effect]:
        effects = work()
        match event:
            case Perceived(perceptions):
                wall = self._wall()
                for perception in perceptions:
                    self._observe(names.READ_SECONDS, max(0.0, wall - perception.received))
                self._wait({each.id: each.received for each in perceptions}, effects)
            case Posted(_, ids):
                wall = self._wall()
                for name in ids:
                    received = self._waiting.pop(name, None)
                    if received is not None:
                        self._observe(names.TRACE_SECONDS, max(0.0, wall - received))
        return effects

    def sent(self) -> None:
        pass

    def _wait(self, received: dict[str, Instant], effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Send) and isinstance(effect.event, Post):
                for thought in effect.event.thoughts:
                    focus = thought.perceptions[0].id if thought.perceptions else ""
                    if focus in received:
                        self._waiting[thought.id] = received[focus]


class TimedAppends:
    """An ``Observer`` of the stream: the age of a perception when the thought that focuses on it is conscious."""

    def __init__(self, observe: Observe, wall: Callable[[], Instant], log: PerceptionLog) -> None:
        self._observe = observe
        self._wall = wall
        self._log = log
        self._unsent: list[StreamEntry] = []
        self._asking: set[asyncio.Task[None]] = set()

    def reads(self) -> None:
        pass

    def handle(self, event: Event, work: Callable[[], list[Effect]]) -> list[Effect]:  # noqa: ARG002 - an Observer's
        effects = work()
        for effect in effects:
            if isinstance(effect, Commit) and isinstance(effect.write, WriteEntries):
                self._unsent += [entry for entry in effect.write.entries if entry.kind is not EntryKind.SEGUE]
        return effects

    def sent(self) -> None:
        if self._unsent:
            entries, self._unsent = self._unsent, []
            task = asyncio.get_running_loop().create_task(self._ask(entries, self._wall()), name="ages")
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def _ask(self, entries: list[StreamEntry], wall: Instant) -> None:
        """When they were received only the log knows; a few entries an hour ask it."""
        wanted = [entry.perceptions[0].id for entry in entries if entry.perceptions]
        try:
            found = await self._log.get(wanted)
        except SubliminalError as error:
            _log.debug("age_unknown", reason=str(error))
            return
        for perception in found.values():
            self._observe(names.STREAM_SECONDS, max(0.0, wall - perception.received))
