"""All the mail of one process: where it listens, what it sends, what it receives, and its line to the directory."""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import structlog

from orchestration.backoff import backoff
from orchestration.links.addresses import AddressBook, Endpoint, machine_of
from orchestration.links.codec import encode
from orchestration.links.connection import FrameConnection, call, link_context
from orchestration.links.frames import Frame, Hosting, Listing, Roster
from orchestration.links.inbox import HostedActor, Inbox
from orchestration.links.listener import Listener
from orchestration.links.outboxes import Outboxes
from orchestration.links.settings import LinkSettings

_log = structlog.get_logger(__name__)


class Links:
    """What a process that actors live in has in common with the others of its mind. ``open``, then ``close``.

    The process has one socket, whoever lives in it. It says so to the directory, and keeps a line to it by which it
    learns where everybody else is, is asked how its actors are, and is told to stop them. A line that breaks is made
    anew, with growing pauses.

    ``process`` names it, uniquely on its machine; ``life`` tells one life of it from another. ``host``: the address
    of this machine that others of the run reach it at, with the ``credentials`` of the run; without either it neither
    calls nor hears another machine. ``number``: which of the run's lives this is, where they are counted.
    """

    def __init__(
        self,
        process: str,
        life: str,
        directory: Endpoint,
        place: Path,
        settings: LinkSettings,
        chance: random.Random,
        *,
        credentials: bytes = b"",
        host: str = "",
        number: int = 0,
    ) -> None:
        self.counters: defaultdict[str, float] = defaultdict(float)
        """Drops and the like, by metric name."""
        self.book = AddressBook()
        self.enlisted: Callable[[Roster], None] | None = None
        """Is told by the directory who lives in this process, where that may change."""
        self._context = context = link_context(machine_of(place), settings, credentials)
        self._directory = directory
        self._number = number
        self._chance = chance
        self._inbox = inbox = Inbox(self.counters)
        self.outboxes = Outboxes(process, life, self.book, context, chance, self.counters, inbox)
        """What waits to be sent."""
        self._listener = Listener(process, place, context, host, inbox.receive, self.counters, inbox.lost)
        self._endpoint: Endpoint | None = None
        self._line: FrameConnection | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._broken = asyncio.Event()
        self._untold: set[str] = set()
        """Who has moved in or out since the directory was told; meaningless before it was told anything."""
        self._told: FrameConnection | None = None
        """The line on which it knows who lives here."""

    async def open(self) -> None:
        """Take mail in, and find others as soon as the directory is reached."""
        self._endpoint = await self._listener.open()
        self._keeping = asyncio.create_task(self._keep_line(), name="line")

    async def close(self) -> None:
        """Take no more mail in; who lived here is found nowhere any more. What waits to be sent is given up."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        await self.outboxes.close()
        if self._line is not None:
            self._line.close()
        await self._listener.close()

    def register(self, name: str, hosted: HostedActor) -> None:
        """An actor lives here from now on: mail for it is handed to it."""
        self._inbox.hosted[name] = hosted
        self._moved(name)

    def forget(self, name: str) -> None:
        """An actor lives here no more."""
        self._inbox.forget(name)
        self._moved(name)

    def relieved(self, name: str) -> None:
        """An actor of this process that had no room has some again."""
        self._inbox.relieved(name)
        self.outboxes.route([name])

    def _moved(self, name: str) -> None:
        self.outboxes.route([name])
        if self._told is not None:
            if not self._untold:
                asyncio.get_running_loop().call_soon(self._say)
            self._untold.add(name)

    def _say(self) -> None:
        """Tell the directory who lives here: what changed in this turn of the event loop, on a new line everybody."""
        untold, self._untold = self._untold, set()
        if self._line is None or not self._line.open or self._endpoint is None:
            return
        here = self._inbox.hosted
        if self._told is not self._line:
            self._told = self._line
            self._line.write(encode(Hosting(self._endpoint, tuple(here), whole=True, number=self._number)))
        elif untold:
            came, gone = tuple(untold & here.keys()), tuple(untold - here.keys())
            self._line.write(encode(Hosting(self._endpoint, came, gone)))

    async def _keep_line(self) -> None:
        attempt, settings = 0, self._context.settings
        while True:
            self._broken.clear()
            try:
                self._line = await call(self._directory, self._context, self._heard, lambda _: self._broken.set())
            except OSError as error:
                if attempt == 0:
                    _log.warning("directory_unreachable", reason=str(error))
                await asyncio.sleep(backoff(attempt, settings.retry, settings.retry_most, self._chance))
                attempt += 1
            else:
                attempt = 0
                self._say()
                await self._broken.wait()

    def _heard(self, frame: Frame, connection: FrameConnection) -> None:
        if isinstance(frame, Listing):
            self.outboxes.readdress(self.book.learn(frame.entries, whole=frame.whole))
        elif isinstance(frame, Roster) and self.enlisted is not None:
            self.enlisted(frame)
        else:
            self._inbox.receive(frame, connection)
