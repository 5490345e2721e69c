"""Looking at what an actor does, from around its core: nothing of it where nobody looks."""

from collections.abc import Callable, Sequence
from typing import Protocol

from actors.core import Core, Description
from actors.effects import Divide, Effect, Embed, Generate, Note, Read, Retire, Settled
from actors.events import Event
from actors.shell import Driver
from environment.messages import Instant, Perception


class Observer(Protocol):
    """Sees an actor work. May add to effects what nobody acts upon; none of these may fail or wait."""

    def reads(self) -> None:
        """Perceptions are about to be embedded for the core."""

    def handle(self, event: Event, work: Callable[[], list[Effect]]) -> list[Effect]:
        """Have the core handle an event; its effects."""

    def sent(self) -> None:
        """A step was committed, and a message of it leaves."""


class ObservedCore:
    """A core that is looked at."""

    def __init__(self, core: Core, observer: Observer) -> None:
        self._core = core
        self._observer = observer
        self.name, self.saved = core.name, getattr(core, "saved", None)

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        return self._observer.handle(event, lambda: self._core.handle(event, now))

    def texts(self, perceptions: Sequence[Perception]) -> list[str]:
        self._observer.reads()
        return self._core.texts(perceptions)

    def describe(self) -> Description:
        return self._core.describe()

    def snapshot(self) -> bytes:
        return self._core.snapshot()

    def restore(self, state: bytes) -> None:
        self._core.restore(state)


class ObservedDriver:
    """The driver of one whose core is looked at."""

    def __init__(self, driver: Driver, observer: Observer) -> None:
        self._driver = driver
        self._observer = observer
        self.generate: Callable[[str, Generate | Embed], None] = driver.generate
        self.read: Callable[[str, Read], None] = driver.read
        self.note: Callable[[str, Note], None] = driver.note
        self.propose: Callable[[str, Divide | Retire | Settled], None] = driver.propose

    def send(self, sender: str, to: str, event: Event, priority: float) -> None:
        self._observer.sent()
        self._driver.send(sender, to, event, priority)
