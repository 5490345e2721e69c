"""A server under attack: whatever is done to it is refused or bounded, and whoever may come is served all the while."""

import asyncio
import json
import os
import resource
import socket
import ssl
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import grpc
import httpx
import pytest

from environment.messages import NewPerception
from orchestration.client import ClientSettings, Credentials, MindClient
from tests.orchestration.access.conftest import bearer, header

ROOT = Path(__file__).parents[3]
HOST = "127.0.0.1"
SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""The first frame of HTTP/2."""
IDLE = min(10_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 1000)
"""Ten thousand, where the system lets a process hold as many open files."""


class Standing:
    """The server, and its legitimate clients: one that tells it something and one that asks, without pause."""

    def __init__(self, directory, authority, token, *, tls):
        self.directory, self.authority, self.token, self.tls = directory, authority, token, tls
        self.told = self.answered = 0
        self.failures = []

    async def start(self, settings):
        (self.directory / "access.json").write_text(json.dumps(settings, default=str))
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.orchestration.access.standing", str(self.directory), cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        ports = await self._said("grpc")
        self.grpc, self.http = ports["grpc"], ports["http"]
        self.url = f"{'https' if self.tls else 'http'}://{HOST}:{self.http}"
        self.clients = [asyncio.create_task(self._tell()), asyncio.create_task(self._ask())]

    async def _said(self, key):
        while line := await asyncio.wait_for(self.process.stdout.readline(), 60):
            with suppress(ValueError):
                said = json.loads(line)
                if key in said:
                    return said
        raise AssertionError("the server ended")

    async def figures(self):
        self.process.stdin.write(b"\n")
        return await self._said("access_tokens")

    def credentials(self, token=None, authority=None, **shown):
        given = {"ca_file": (authority or self.authority).file, **shown} if self.tls else {}
        return Credentials(ClientSettings(**given), token=token or self.token)

    def own(self):
        """The certificate of a legitimate client."""
        chain, key = self.authority.issue("client", "client@submind.test")
        return {"cert_file": chain, "key_file": key} if self.tls else {}

    def context(self, **shown):
        context = ssl.create_default_context(cafile=self.authority.file)
        if shown:
            context.load_cert_chain(shown["cert_file"], shown["key_file"])
        return context

    async def _tell(self):
        own = self.own()
        while True:  # a connection of its own each time: that is what would be refused first
            async with MindClient(
                f"{HOST}:{self.grpc}", credentials=self.credentials(**own), retry_for=30, timeout=60
            ) as mind:
                try:
                    await mind.perceive([NewPerception(source="web", time=0.0, received=0.0, text=f"n {self.told}")])
                    self.told += 1
                except Exception as error:  # noqa: BLE001 - whatever it is, it must not be
                    self.failures.append(f"gRPC: {error!r}")
            await asyncio.sleep(0.05)

    async def _ask(self):
        context = self.context(**self.own()) if self.tls else True
        while True:
            async with httpx.AsyncClient(base_url=self.url, verify=context, timeout=60, trust_env=False) as http:
                for again in (True, True, False):  # as clients do
                    try:
                        answer = await http.get("/v1/status", headers=header(self.token))
                        assert answer.status_code == 200, answer.text
                        self.answered += 1
                        break
                    except (httpx.HTTPError, AssertionError) as error:
                        if not again:
                            self.failures.append(f"HTTP: {error!r}")
            await asyncio.sleep(0.05)

    async def served_meanwhile(self):
        """Wait until both clients were served once more from now on."""
        told, answered = self.told, self.answered
        async with asyncio.timeout(150):
            while self.told < told + 2 or self.answered < answered + 2:
                assert self.failures == []
                await asyncio.sleep(0.05)
        assert self.failures == []

    async def stop(self):
        for client in self.clients:
            client.cancel()
        await asyncio.gather(*self.clients, return_exceptions=True)
        self.process.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), 60)
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def standing(tmp_path, keys, authority, *, tls, feed=None):
    token = keys.make("all")
    server = Standing(tmp_path, authority, token, tls=tls)
    access = {"tokens_file": keys.path, "reload_every": 0.1}
    if tls:
        access["tls"] = authority.tls(mutual=True).model_dump()
    await server.start(
        {
            "access": access,
            "gateway": {"handshake": 2, "idle_connection": 5},
            "feed": {"header_timeout": 2, "handshake": 2} | (feed or {}),
        }
    )
    try:
        await server.served_meanwhile()
        yield server
        await server.served_meanwhile()
    finally:
        await server.stop()


async def opened(port, count, first=b""):
    """So many connections that were accepted, each having sent ``first``."""
    found, loop = [], asyncio.get_running_loop()
    for number in range(count):
        sock = socket.socket()
        sock.setblocking(False)
        try:
            async with asyncio.timeout(60):
                await loop.sock_connect(sock, (HOST, port))
                if first:
                    await loop.sock_sendall(sock, first)
        except (OSError, TimeoutError):
            sock.close()
            continue
        found.append(sock)
        if number % 50 == 0:
            await asyncio.sleep(0.01)
    return found


def hung_up(sock):
    """Whether the server has closed this connection; what it said before is read away."""
    try:
        while sock.recv(65536):
            pass
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        return True
    return True


async def until_hung_up(socks, seconds=120.0):
    left = list(socks)
    async with asyncio.timeout(seconds):
        while left := [sock for sock in left if not hung_up(sock)]:  # noqa: ASYNC110 - they do not say when
            await asyncio.sleep(0.2)
    for sock in socks:
        sock.close()


@pytest.mark.timeout(300)
async def test_who_speaks_no_tls_to_ports_of_tls_or_says_nothing_is_hung_up_on(tmp_path, keys, authority):
    async with standing(tmp_path, keys, authority, tls=True) as server:
        plain = await opened(server.grpc, 20, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        plain += await opened(server.http, 20, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        plain += [*await opened(server.grpc, 50), *await opened(server.http, 50)]
        await until_hung_up(plain)


@pytest.mark.timeout(300)
async def test_heads_without_end_and_heads_that_never_end(tmp_path, keys, authority):
    async with standing(tmp_path, keys, authority, tls=False) as server:
        async with grpc.aio.insecure_channel(
            f"{HOST}:{server.grpc}", options=[("grpc.max_metadata_size", 1 << 20)]
        ) as channel:
            call = channel.unary_unary("/submind.v1.MindService/GetStatus")
            for large in (("x-large", "a" * 200_000), *bearer("a" * 200_000)):
                with pytest.raises(grpc.aio.AioRpcError) as failed:
                    await call(b"", metadata=(large,), timeout=60)
                assert failed.value.code() in {grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE}
        async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
            with suppress(httpx.TransportError):  # hung up on while it was still sending: as good
                assert (await http.get("/healthz", headers={"x-large": "a" * 200_000})).status_code in {400, 431}
        await server.served_meanwhile()

        # Slow loris: a byte of the head now and then, and the head of HTTP/2 without an end.
        slow = await opened(server.http, 300, b"GET /v1/status HTTP/1.1\r\nHost: x\r\n")
        begun = b"\x00\x00\x01\x01\x00\x00\x00\x00\x01\x82"  # HEADERS without END_HEADERS
        dripping = await opened(server.grpc, 300, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SETTINGS + begun)
        for _ in range(5):
            for sock in slow:
                with suppress(OSError):
                    sock.send(b"X")
            await asyncio.sleep(0.5)
        await server.served_meanwhile()
        await until_hung_up(slow)
        await until_hung_up(dripping)
        figures = await server.figures()
        assert figures["feed.header_timeout"] >= 300


@pytest.mark.timeout(400)
async def test_ten_thousand_who_say_nothing(tmp_path, keys, authority):
    async with standing(tmp_path, keys, authority, tls=False) as server:
        idle = await opened(server.http, IDLE)
        assert len(idle) == IDLE
        await server.served_meanwhile()
        await until_hung_up(idle)
        figures = await server.figures()
        # A slow machine may never have so many open at once that more are refused: each is hung up on in time.
        assert figures.get("feed.connections", 0) + figures["feed.header_timeout"] >= IDLE // 2
        idle = await opened(server.grpc, IDLE)
        assert len(idle) == IDLE
        await server.served_meanwhile()
        await until_hung_up(idle)
