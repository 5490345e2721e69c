"""A gateway and a feed of one mind behind the same access, spoken to as anybody would."""

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import httpx
import pytest
import trustme

from actors.substrate.embedding import WordLlamaEmbedder
from environment.stores.sqlite import open_stores
from orchestration.access.gate import Access
from orchestration.access.scopes import Scope
from orchestration.access.settings import AccessSettings, TlsSettings
from orchestration.access.tokens import changing, new_token
from orchestration.feed.app import create_app
from orchestration.feed.server import FeedServer
from orchestration.feed.settings import FeedSettings
from orchestration.gateway.erasure import ForgettingService
from orchestration.gateway.intake import Intake
from orchestration.gateway.server import GatewayServer
from orchestration.gateway.services import all_handlers
from orchestration.gateway.settings import GatewaySettings, IntakeSettings
from orchestration.growth.admin import GrowthAdmin
from orchestration.growth.settings import GrowthSettings
from orchestration.view.mind import MindView
from orchestration.view.settings import TailSettings
from orchestration.view.tail import StreamTail
from tests.orchestration.gateway.conftest import Gateway

MIND = "alpha"
EVERYTHING = frozenset(Scope)


class NoNodes:
    """Where the mind lives nowhere, and orders are obeyed."""

    async def listed(self):
        return (), {}

    async def drain(self, node, *, undo):
        return None

    async def restart(self, name):
        return [name]


@dataclass
class Keys:
    """The tokens file of a test, and hands that change it."""

    path: Path

    def make(self, name, *scopes, mind=MIND, expires_in=None, **quota):
        """A token; with all scopes where none is named."""
        now = datetime.now(UTC)
        until = None if expires_in is None else now + timedelta(seconds=expires_in)
        with changing(self.path) as tokens:
            text, entry = new_token(name, mind, scopes or EVERYTHING, now=now, expires=until, **quota)
            tokens[mind, name] = entry
        return text

    def revoke(self, name, mind=MIND):
        with changing(self.path) as tokens:
            del tokens[mind, name]


@pytest.fixture
def keys(tmp_path):
    made = Keys(tmp_path / "tokens.yaml")
    with changing(made.path):
        pass
    return made


@dataclass
class Served(Gateway):
    """The gateway as its own tests have it, and the feed beside it."""

    access: Access
    feed: FeedServer
    http: httpx.AsyncClient
    nodes: NoNodes


@asynccontextmanager
async def serving(directory, settings, *, feed=None, gateway=None, verify=True):
    directory.mkdir(parents=True, exist_ok=True)
    stores = await open_stores(directory, MIND)
    access = Access(settings, mind=MIND, wall=time.time)
    access.share(stores)
    tail = StreamTail(stores.stream, TailSettings(fast=0.002, idle=0.02))
    intake = Intake(stores.perceptions, IntakeSettings(), time.time)
    view = MindView(stores, WordLlamaEmbedder(), mind=MIND, clock=time.time, wall=time.time)
    desk = GrowthAdmin(stores, GrowthSettings(), {"concern": "cognitive"}, time.time)
    nodes = NoNodes()
    chosen = GatewaySettings(**({"listen": "127.0.0.1:0", "drain": 0, "grace": 1} | (gateway or {})))
    handlers = all_handlers(view, tail, desk, nodes, forgetting=ForgettingService(stores, time.time))
    server = GatewayServer(intake, handlers, chosen, access)
    port = await server.start()
    chosen_feed = FeedSettings(**({"listen": "127.0.0.1:0", "grace": 1} | (feed or {})))
    app = create_app(view, intake, handlers, chosen_feed, access=access, version="1")
    feed_server = FeedServer(app, chosen_feed)
    await feed_server.start()
    keeping = asyncio.create_task(access.keep())
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
    http = httpx.AsyncClient(base_url=feed_server.url, timeout=60, trust_env=False, verify=verify)
    try:
        yield Served(
            stores, tail, view, intake, server, port, channel, [], stores.perceptions, access, feed_server, http, nodes
        )
    finally:
        keeping.cancel()
        await http.aclose()
        await channel.close()
        await server.stop()
        await feed_server.stop()
        await tail.close()
        await stores.close()


@pytest.fixture
def serve(tmp_path, keys):
    """``serve(**access settings)``: tokens are required, and looked at often."""

    def make(*, feed=None, gateway=None, verify=True, **settings):
        given = {"tokens_file": keys.path, "reload_every": 0.05} | settings
        return serving(tmp_path / "mind", AccessSettings(**given), feed=feed, gateway=gateway, verify=verify)

    return make


def bearer(token):
    """As gRPC metadata."""
    return (("authorization", f"Bearer {token}"),)


def header(token):
    """As an HTTP header."""
    return {"Authorization": f"Bearer {token}"}


class Authority:
    """Issues certificates, and writes them where a server or a client reads them."""

    def __init__(self, directory):
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._ca = trustme.CA(organization_name="submind tests")
        self.file = directory / "ca.pem"
        self._ca.cert_pem.write_to_path(self.file)

    def issue(self, name="server", *identities, **options):
        """Certificate chain and key of ``name``; what was there before is replaced."""
        issued = self._ca.issue_cert(*(identities or ("localhost", "127.0.0.1")), **options)
        chain, key = self._directory / f"{name}.pem", self._directory / f"{name}.key"
        chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(key)
        return chain, key

    def tls(self, *, mutual=False):
        """Settings of a server."""
        chain, key = self.issue()
        return TlsSettings(certificate=chain, key=key, client_ca=self.file if mutual else None)


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "pki")
