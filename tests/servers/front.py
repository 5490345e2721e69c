"""A TLS front before a server that speaks plainly, as load balancers are: with a certificate of one's choice."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import trustme


@asynccontextmanager
async def front(certificate: trustme.LeafCert, port: int) -> AsyncIterator[int]:
    """The port of a front that shows ``certificate`` and passes everything on to ``port``, both on the loopback."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    passing: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", port)
            for task in (pass_on(reader, behind_writer), pass_on(behind_reader, writer)):
                passing.add(asyncio.ensure_future(task))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in passing:
            task.cancel()
        await asyncio.gather(*passing, return_exceptions=True)


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Write what is read, until either end is gone."""
    try:
        while part := await reader.read(65_536):
            writer.write(part)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.transport.abort()
