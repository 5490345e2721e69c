"""Noticing a core that does not come to an end with an event, naming it, and interrupting it."""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import ParamSpec, TypeVar

import structlog

from actors.core import Core, Description
from actors.effects import Effect
from actors.events import Event
from environment.messages import Instant, Perception

_log = structlog.get_logger(__name__)
P = ParamSpec("P")
T = TypeVar("T")


class CoreStuck(RuntimeError):
    """A core was interrupted: it took longer over one event than ``supervision.stuck_after``."""

    def __init__(self, name: str, after: float) -> None:
        super().__init__(name, after)
        self.name = name
        self.after = after

    def __str__(self) -> str:
        return f"{self.name} took longer than {self.after:g} s over one event"


class Overdue:
    """Watches the cores of this process from a thread of its own, while the main thread is in their hands.

    Guarantee: a core that is interrupted raises ``CoreStuck`` where it is, and nobody else ever does. Code that holds
    the interpreter and never lets go cannot be interrupted: then nobody in this process answers its supervisor, which
    ends the process. Only in the main thread; elsewhere nothing is watched.
    """

    def __init__(self, after: float) -> None:
        self._after = after
        self._busy = ""
        self._since = 0.0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._before: object = None

    def start(self) -> None:
        """Begin to watch."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._before = signal.signal(signal.SIGALRM, self._interrupt)
        self._thread = threading.Thread(target=self._watch, name="overdue", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch no more. May be called twice."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            with suppress(TypeError):
                signal.signal(signal.SIGALRM, self._before or signal.SIG_DFL)  # type: ignore[arg-type]  # what it was

    def call(self, name: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do some work of a core. Raises ``CoreStuck`` when it takes too long."""
        self._since = time.monotonic()
        self._busy = name
        try:
            return work(*args, **kwargs)
        finally:
            self._busy = ""

    def _watch(self) -> None:
        while not self._ended.wait(self._after / 4):
            name, since = self._busy, self._since
            if name and time.monotonic() - since >= self._after:
                _log.error("core_stuck", submind=name, seconds=round(time.monotonic() - since, 1))
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """In the main thread, wherever that is: by now perhaps with another core, or with none."""
        if self._busy and time.monotonic() - self._since >= self._after:
            raise CoreStuck(self._busy, self._after)


class WatchedCore:
    """A core whose work is watched."""

    def __init__(self, core: Core, overdue: Overdue) -> None:
        self._core = core
        self._overdue = overdue
        self.name, self.saved = core.name, getattr(core, "saved", None)

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        return self._overdue.call(self.name, self._core.handle, event, now)

    def texts(self, perceptions: Sequence[Perception]) -> list[str]:
        return self._overdue.call(self.name, self._core.texts, perceptions)

    def describe(self) -> Description:
        return self._core.describe()

    def snapshot(self) -> bytes:
        return self._overdue.call(self.name, self._core.snapshot)

    def restore(self, state: bytes) -> None:
        self._overdue.call(self.name, self._core.restore, state)
