"""The directory of a mind: every process tells it where it is, and it tells all of them who is found where."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import structlog

from orchestration.links.addresses import Endpoint, machine_of
from orchestration.links.codec import encode
from orchestration.links.connection import FrameConnection, link_context
from orchestration.links.frames import Frame, Hosting, Listing, Order, Ping, Pong, Stop
from orchestration.links.listener import Listener
from orchestration.links.settings import LinkSettings

_log = structlog.get_logger(__name__)


class Directory:
    """Knows where each actor is, and has a line to it: asks how it is, tells it to stop. ``open`` and ``close``.

    Each process keeps one connection to the directory for as long as it lives; who lived in it is nowhere once that
    ends. What changes within one turn of the event loop is told together. ``host`` and ``credentials`` as for
    ``Links``. A process of which a later life has begun is told to stop when it comes, and so is ``outlived``,
    its name.
    """

    def __init__(
        self,
        directory: Path,
        settings: LinkSettings,
        *,
        credentials: bytes = b"",
        host: str = "",
        outlived: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.counters: defaultdict[str, float] = defaultdict(float)
        """Limits met, by metric name."""
        self.host = host
        context = link_context(machine_of(directory), settings, credentials)
        self._listener = Listener("~mind", directory, context, host, self._heard, self.counters, self._lost)
        self._endpoint: Endpoint | None = None
        self._at: dict[str, Endpoint] = {}
        self._line: dict[str, FrameConnection] = {}
        self._hosted: dict[FrameConnection, set[str]] = {}
        self._changed: set[str] = set()
        self._asked: dict[str, asyncio.Future[Pong]] = {}
        self._numbers: dict[str, int] = {}
        """Of processes, the number of the life that is to be found here."""
        self._late: dict[FrameConnection, str] = {}
        """Lines of processes of which a later life has begun, by their names; empty once that was told."""
        self._outlived = outlived

    @property
    def endpoint(self) -> Endpoint:
        """Where processes find it, once it is open."""
        if self._endpoint is None:
            raise RuntimeError("the directory is not open")
        return self._endpoint

    async def open(self) -> None:
        """Let processes in."""
        self._endpoint = await self._listener.open()

    async def close(self) -> None:
        """End every line."""
        await self._listener.close()

    def find(self, name: str) -> Endpoint | None:
        """Where an actor is; None while it is nowhere."""
        return self._at.get(name)

    async def ping(self, name: str, within: float) -> Pong | None:
        """How an actor is; None when it does not say in time, or is nowhere. Asked for one name once at a time."""
        line = self._line.get(name)
        if line is None:
            return None
        answer: asyncio.Future[Pong] = asyncio.get_running_loop().create_future()
        self._asked[name] = answer
        line.write(encode(Ping(name)))
        try:
            async with asyncio.timeout(within):
                return await answer
        except TimeoutError:
            return None
        finally:
            if self._asked.get(name) is answer:
                del self._asked[name]

    def forget(self, *names: str) -> None:
        """They do not live there any more, whatever is still open: a connection may be long in dying."""
        for name in names:
            if (line := self._line.get(name)) is not None:
                self._gone([name], line)

    def begin(self, process: str, number: int) -> None:
        """A life of a process begins: whoever is left of an earlier one is to stop, and is found here no more."""
        if process in self._numbers:
            for connection in [one for one, names in self._hosted.items() if process in names]:
                self._show_out(connection, self._hosted.pop(connection), process)
        self._numbers[process] = number

    def tell(self, order: Order) -> None:
        """Tell an actor, or a pack, what it is to do. Does nothing where it is nowhere."""
        if (line := self._line.get(order.to)) is not None:
            line.write(encode(order))

    def _heard(self, frame: Frame, connection: FrameConnection) -> None:
        if (late := self._late.get(connection)) is not None:
            if late:
                self._late[connection] = ""
                self._outlived(late)
            return
        match frame:
            case Hosting():
                self._hosting(frame, connection)
            case Pong(name) if name in self._asked:
                if not self._asked[name].done():
                    self._asked[name].set_result(frame)
            case Pong():
                return  # too late
            case _:
                _log.warning("frame_unasked", frame=type(frame).__name__)

    def _hosting(self, told: Hosting, connection: FrameConnection) -> None:
        if late := next((one for one in told.names if told.number and told.number < self._numbers.get(one, 0)), ""):
            self._show_out(connection, told.names, late)
            return
        known = self._hosted.get(connection)
        names = self._hosted.setdefault(connection, set())
        gone = names.difference(told.names) if told.whole else set(told.gone)
        names -= gone
        names |= set(told.names)
        self._gone(gone, connection)
        for name in told.names:
            self._line[name] = connection
            if self._at.get(name) != told.endpoint:
                self._at[name] = told.endpoint
                self._tell(name)
        if known is None:
            connection.write(encode(Listing(dict(self._at), whole=True)))

    def _show_out(self, connection: FrameConnection, names: Iterable[str], process: str) -> None:
        """It may have been asleep, or cut off: it is to end, and nobody finds it meanwhile. If it lives it answers."""
        self._late[connection] = process
        self._gone(names, connection)
        connection.write(encode(Ping(process)))
        connection.write(encode(Stop(process)))

    def _lost(self, connection: FrameConnection) -> None:
        self._late.pop(connection, None)
        self._gone(self._hosted.pop(connection, set()), connection)

    def _gone(self, names: Iterable[str], connection: FrameConnection) -> None:
        """They are not there any more; whoever bears such a name elsewhere by now stays."""
        for name in names:
            if self._line.get(name) is connection:
                del self._line[name], self._at[name]
                self._tell(name)

    def _tell(self, name: str) -> None:
        if not self._changed:
            asyncio.get_running_loop().call_soon(self._tell_all)
        self._changed.add(name)

    def _tell_all(self) -> None:
        data = encode(Listing({name: self._at.get(name) for name in self._changed}, whole=False))
        self._changed.clear()
        for connection in self._hosted:
            connection.write(data)
