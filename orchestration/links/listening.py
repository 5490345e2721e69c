"""The doors of a process: a Unix socket for its own machine, a port for the others of its run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from pathlib import Path

from orchestration.links.addresses import Endpoint, socket_path
from orchestration.links.connection import Connection, Here
from orchestration.links.frames import Frame


class Doors:
    """Takes connections in. ``close`` when done.

    ``host``: the address of this machine that others of the run reach it at; empty where it listens for none. A port
    is opened only with that and a secret.
    """

    def __init__(
        self,
        process: str,
        directory: Path,
        here: Here,
        host: str,
        on_frame: Callable[[Frame, Connection], None],
        counters: MutableMapping[str, float],
        on_lost: Callable[[Connection], None] | None = None,
    ) -> None:
        self._path = socket_path(directory, process)
        self._here = here
        self._host = host if here.secret else ""
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._counters = counters
        self._servers: list[asyncio.Server] = []
        self._socket: int | None = None
        self._connections: set[Connection] = set()
        self._strangers: dict[Connection, None] = {}

    async def open(self) -> Endpoint:
        """Take the socket over from whoever had it before, and say where this process is found."""
        loop = asyncio.get_running_loop()
        self._unlink()
        self._servers.append(await loop.create_unix_server(self._accept, self._path))
        self._socket = self._there()
        if not self._host:
            return Endpoint(self._here.machine, self._path)
        server = await loop.create_server(self._accept_stranger, self._host, 0)
        self._servers.append(server)
        return Endpoint(self._here.machine, self._path, self._host, server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Let nobody in any more and end every connection."""
        if not self._servers:
            return
        for server in self._servers:
            server.close()
        self._servers.clear()
        for connection in tuple(self._connections):
            connection.close()
        if self._there() == self._socket:  # whoever took it over is found there now
            self._unlink()

    def _there(self) -> int | None:
        """Which socket is found at the path; None where none is."""
        with suppress(FileNotFoundError):
            return Path(self._path).stat().st_ino
        return None

    def _unlink(self) -> None:
        with suppress(FileNotFoundError):
            Path(self._path).unlink()

    def _accept(self) -> Connection:
        connection = Connection(self._here, self._on_frame, self._lost)
        self._connections.add(connection)
        return connection

    def _accept_stranger(self) -> Connection:
        connection = self._accept()
        self._strangers[connection] = None
        connection.met.add_done_callback(lambda _: self._strangers.pop(connection, None))
        if len(self._strangers) > self._here.settings.strangers:
            self._counters["limit_hits:strangers"] += 1
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.abort()
        return connection

    def _lost(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if self._on_lost is not None:
            self._on_lost(connection)
