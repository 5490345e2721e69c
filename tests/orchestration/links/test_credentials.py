"""Strangers at the port: nothing of theirs is believed, none of them stays, and nobody else is kept waiting."""

import asyncio
import secrets
import socket
import ssl
from contextlib import asynccontextmanager

import pytest

from orchestration.links.addresses import Endpoint
from orchestration.links.codec import encode
from orchestration.links.connection import call
from orchestration.links.credentials import contexts, new_credentials
from orchestration.links.frames import Batch
from tests.orchestration.links.processes import SETTINGS, Mesh, event, mail
from tests.orchestration.until import until

WHISPER = "what nobody else is to read"


def forged():
    """What would be heard, were it believed."""
    return encode(Batch("liar", "x", 1, [("peer", mail("forged"))]))


def hello():
    """What a client of TLS says first."""
    back, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(back, out, server_hostname="x").do_handshake()
    return out.read()


async def visit(endpoint, *sent, wait=60.0, tls=None):
    """What a stranger gets to see before it is shown out."""
    seen = b""
    try:
        reader, writer = await asyncio.open_connection(endpoint.host, endpoint.port, ssl=tls)
    except OSError:
        return seen
    try:
        for data in sent:
            writer.write(data)
        async with asyncio.timeout(wait):
            while data := await reader.read(1000):
                seen += data
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.transport.abort()
    return seen


STRANGERS = {
    "a frame": [forged()],
    "garbage": [secrets.token_bytes(500)],
    "a flood": [b"n" * 5_000_000],
    "a flood that begins like TLS": [b"\x16\x03\x01" + b"n" * 5_000_000],
    "half of a greeting": [hello()[:20]],
    "a greeting and no more": [hello()],
    "a greeting and a frame": [hello() + forged()],
    "silence": [],
}


@pytest.mark.parametrize("sent", STRANGERS.values(), ids=STRANGERS)
async def test_a_stranger_is_shown_out_and_nothing_of_it_is_heard(tmp_path, sent):
    async with Mesh(tmp_path, SETTINGS.model_copy(update={"handshake": 0.3})) as mesh:
        receiver, peer = await mesh.start("peer")
        await visit(receiver._endpoint, *sent)
        await visit(mesh.directory.endpoint, *sent)
        sender, _ = await mesh.start("me", machine="other", settings=SETTINGS)
        sender.outboxes.put("peer", event(1), 0.5)
        await until(lambda: peer.heard == ["1"])


def bare_tls():
    """One who looks at no certificate and shows none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def foreign_tls():
    """One who looks at no certificate and shows that of another run."""
    context = contexts(new_credentials()).calling
    context.verify_mode = ssl.CERT_NONE
    return context


def old_tls():
    """One of this run's who speaks an older TLS, which nobody does."""
    context = bare_tls()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


@pytest.mark.parametrize("tls", [bare_tls, foreign_tls, old_tls])
async def test_who_shows_no_certificate_or_another_is_not_heard(tmp_path, tls):
    async with Mesh(tmp_path) as mesh:
        receiver, peer = await mesh.start("peer")
        for endpoint in (receiver._endpoint, mesh.directory.endpoint):
            assert await visit(endpoint, forged(), tls=tls()) == b""
        assert not peer.heard
        assert mesh.directory.find("peer") is not None


async def test_nobody_of_one_run_believes_another(tmp_path):
    """Not even where an address of its own is another's by now."""
    async with Mesh(tmp_path) as mesh:
        receiver, peer = await mesh.start("peer")
        other = mesh.links("liar", machine="other", credentials=new_credentials())
        with pytest.raises(OSError, match="certificate"):
            await call(receiver._endpoint, other._context, lambda *_: None)
        assert not peer.heard


@asynccontextmanager
async def tapped(endpoint):
    """Another way to an endpoint, and all that passes on it to there and back."""
    there, back = bytearray(), bytearray()

    async def pass_on(reader, writer):
        inward = await asyncio.open_connection(endpoint.host, endpoint.port)

        async def copy(source, sink, tape):
            while data := await source.read(65536):
                tape.extend(data)
                sink.write(data)
            sink.close()

        await asyncio.gather(copy(reader, inward[1], there), copy(inward[0], writer, back), return_exceptions=True)

    tap = await asyncio.start_server(pass_on, "127.0.0.1", 0)
    try:
        yield Endpoint(endpoint.machine, endpoint.path, "127.0.0.1", tap.sockets[0].getsockname()[1]), there, back
    finally:
        tap.close()


async def test_who_listens_in_reads_nothing_and_has_nothing_to_say_again(tmp_path):
    async with Mesh(tmp_path) as mesh:
        receiver, peer = await mesh.start("peer")
        other = mesh.links("other", machine="other")
        async with tapped(receiver._endpoint) as (way, there, back):
            link = await call(way, other._context, lambda *_: None)
            link.write(encode(Batch("me", "a", 1, [("peer", mail(WHISPER))])))
            await until(lambda: peer.heard == [WHISPER])
            link.close()
            assert there
            assert back
            assert WHISPER.encode() not in there + back
            await visit(receiver._endpoint, bytes(there))
        assert peer.heard == [WHISPER]
        assert receiver.counters["messages_doubled_total"] == 0  # it did not even get as far as its number


async def test_of_too_many_strangers_the_oldest_goes(tmp_path):
    settings = SETTINGS.model_copy(update={"strangers": 3, "handshake": 60.0})
    async with Mesh(tmp_path, settings) as mesh:
        receiver, peer = await mesh.start("peer")
        where = (receiver._endpoint.host, receiver._endpoint.port)
        calls = [await asyncio.open_connection(*where) for _ in range(6)]
        await until(lambda: receiver.counters["limit_hits:strangers"] == 3)
        for reader, _ in calls[:3]:
            async with asyncio.timeout(60):
                assert await _is_over(reader)
        sender, _ = await mesh.start("me", machine="other")
        sender.outboxes.put("peer", event(1), 0.5)
        await until(lambda: peer.heard == ["1"])
        for _, writer in calls:
            writer.close()


async def _is_over(reader):
    try:
        return await reader.read(1) == b""
    except ConnectionError:
        return True


async def test_a_called_machine_that_never_answers_is_given_up(tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        async with Mesh(tmp_path, SETTINGS.model_copy(update={"handshake": 0.1})) as mesh:
            other = mesh.links("other", machine="other")
            nowhere = Endpoint("elsewhere", "", *silent.getsockname())
            with pytest.raises(TimeoutError):
                await call(nowhere, other._context, lambda *_: None)


def test_what_is_no_certificate_is_refused():
    with pytest.raises(ssl.SSLError):
        contexts(b"none")
