"""A cable between a client and a server, which tests may pull out."""

import asyncio
from contextlib import suppress
from typing import Self


class Cable:
    """Listens on a port of its own and carries what comes there to ``endpoint``, and back."""

    def __init__(self, endpoint: str) -> None:
        host, _, port = endpoint.rpartition(":")
        self._to = (host, int(port))
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.plugged = True
        self.connections = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.pull()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def endpoint(self) -> str:
        assert self._server is not None
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def pull(self) -> None:
        """End all connections and take on no other."""
        self.plugged = False
        for writer in self._open:
            writer.transport.abort()

    def plug(self) -> None:
        self.plugged = True

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.plugged:
            writer.transport.abort()
            return
        self.connections += 1
        there, back = await asyncio.open_connection(*self._to)
        self._open |= {writer, back}
        for source, sink in ((reader, back), (there, writer)):
            task = asyncio.create_task(self._carry(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while chunk := await source.read(65_536):
                sink.write(chunk)
                await sink.drain()
        self._open.discard(sink)
        sink.transport.abort()
