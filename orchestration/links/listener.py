"""Where a process takes connections in: a Unix socket for its own machine, a port for the others of its run."""

import asyncio
import socket
import ssl
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakSet

import structlog

from orchestration.links.addresses import Endpoint, socket_path
from orchestration.links.connection import FrameConnection, LinkContext
from orchestration.links.frames import Frame

_log = structlog.get_logger(__name__)


@dataclass(eq=False, repr=False)
class Listener:
    """Takes connections in. ``close`` when done.

    ``host``: the address of this machine that others of the run reach it at; empty where it listens for none. A port
    is opened only with that and the credentials of the run.
    """

    _process: str
    _directory: Path
    _context: LinkContext
    _host: str
    _on_frame: Callable[[Frame, FrameConnection], None]
    _counters: MutableMapping[str, float]
    _on_lost: Callable[[FrameConnection], None] | None = None

    def __post_init__(self) -> None:
        self._path = socket_path(self._directory, self._process)
        self._server: asyncio.Server | None = None
        self._inode: int | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._connections: WeakSet[FrameConnection] = WeakSet()
        self._strangers: dict[asyncio.Task[None], None] = {}

    async def open(self) -> Endpoint:
        """Take the socket over from whoever had it before, and say where this process is found."""
        self._unlink()
        self._server = await asyncio.get_running_loop().create_unix_server(self._made, self._path)
        self._inode = self._there()
        if not self._host or self._context.tls is None:
            return Endpoint(self._context.machine, self._path)
        ((family, _, _, _, address), *_) = await asyncio.get_running_loop().getaddrinfo(self._host, 0)
        listening = socket.create_server(address, family=family)
        listening.setblocking(False)
        self._accepting = asyncio.create_task(self._accept(listening, self._context.tls.called), name="accept")
        return Endpoint(self._context.machine, self._path, self._host, listening.getsockname()[1])

    async def close(self) -> None:
        """Let nobody in any more and end every connection."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        for task in (*self._strangers, *([self._accepting] if self._accepting else [])):
            task.cancel()
        for connection in tuple(self._connections):
            connection.close()
        if self._there() == self._inode:  # whoever took it over is found there now
            self._unlink()

    def _unlink(self) -> None:
        Path(self._path).unlink(missing_ok=True)

    def _there(self) -> int | None:
        """Which socket is found at the path; None where none is."""
        with suppress(FileNotFoundError):
            return Path(self._path).stat().st_ino
        return None

    def _made(self) -> FrameConnection:
        connection = FrameConnection(self._context.settings.frame_bytes, self._on_frame, self._on_lost)
        self._connections.add(connection)
        return connection

    async def _accept(self, listening: socket.socket, tls: ssl.SSLContext) -> None:
        loop, settings = asyncio.get_running_loop(), self._context.settings
        with listening:
            while True:
                try:
                    sock, peer = await loop.sock_accept(listening)
                except OSError:  # no descriptor is free, say: another time
                    await asyncio.sleep(settings.retry)
                    continue
                task = asyncio.create_task(self._admit(sock, str(peer), tls), name="stranger")
                self._strangers[task] = None
                task.add_done_callback(lambda done: self._strangers.pop(done, None))
                if len(self._strangers) > settings.strangers:
                    self._counters["limit_hits:strangers"] += 1
                    oldest = next(iter(self._strangers))
                    del self._strangers[oldest]
                    oldest.cancel()

    async def _admit(self, sock: socket.socket, peer: str, tls: ssl.SSLContext) -> None:
        """Have who called prove that it is of this run, before anything else is heard of it."""
        loop, patience = asyncio.get_running_loop(), self._context.settings.handshake
        try:
            await loop.connect_accepted_socket(self._made, sock, ssl=tls, ssl_handshake_timeout=patience)
        except OSError as error:
            _log.warning("stranger_refused", peer=peer, reason=str(error))
