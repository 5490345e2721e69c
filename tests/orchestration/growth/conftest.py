"""A desk as it is served: gRPC and HTTP on free ports over a real store, and what subminds propose beside it."""

from dataclasses import dataclass, field

import httpx
import pytest

from actors.substrate.embedding import WordLlamaEmbedder
from environment.population import growth_head
from environment.ports import Stores, WriteState
from environment.stores.sqlite import open_stores
from orchestration.client import MindClient
from orchestration.feed.app import create_app
from orchestration.feed.server import FeedServer
from orchestration.feed.settings import FeedSettings
from orchestration.gateway.intake import Intake
from orchestration.gateway.server import GatewayServer
from orchestration.gateway.services import all_handlers
from orchestration.gateway.settings import GatewaySettings
from orchestration.growth.admin import GrowthAdmin
from orchestration.growth.log import GrowthLog
from orchestration.growth.settings import GrowthSettings
from orchestration.view.mind import MindView
from orchestration.view.settings import TailSettings
from orchestration.view.tail import StreamTail
from tests.orchestration.growth.test_policy import CONFIGURED, LOOSE, NOON, division


@dataclass
class Desk:
    """What a test talks to."""

    stores: Stores
    target: str
    client: MindClient
    http: httpx.AsyncClient
    log: GrowthLog
    now: list[float]
    runs: list[bool]
    told: list[int] = field(default_factory=list)

    async def propose(self, submind="causes", growth="causes/1", **fields):
        """As the mind process would, which has an opening of its own."""
        proposal = division(submind, growth, **fields)
        return await self.log.consider(proposal, lambda member: [WriteState(member.name, b"first")])


@pytest.fixture
async def desk(tmp_path):
    stores, others = await open_stores(tmp_path, "alpha"), await open_stores(tmp_path, "alpha")
    now, runs, told = [NOON], [True], []
    bounds = GrowthSettings(**LOOSE, approval="divisions")

    async def tell():
        told.append(await growth_head(stores.collections))

    made = GrowthAdmin(stores, bounds, CONFIGURED, lambda: now[0], runs=lambda: runs[0], told=tell)
    tail = StreamTail(stores.stream, TailSettings())
    gateway = GatewaySettings(listen="127.0.0.1:0", drain=0.0, grace=1.0)
    intake = Intake(stores.perceptions, gateway.intake, lambda: now[0])
    view = MindView(stores, WordLlamaEmbedder(), mind="alpha", clock=lambda: now[0], wall=lambda: now[0])
    server = GatewayServer(intake, all_handlers(view, tail, made), gateway)
    port = await server.start()
    settings = FeedSettings(listen="127.0.0.1:0", grace=2, probe_every=0)
    feed = FeedServer(create_app(view, intake, all_handlers(view, tail, made), settings), settings)
    await feed.start()
    client = MindClient(f"127.0.0.1:{port}", retry_for=5.0)
    http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{feed.port}", timeout=60, trust_env=False)
    log = GrowthLog(others, bounds, CONFIGURED, lambda: now[0], await others.lead())
    try:
        yield Desk(stores, f"127.0.0.1:{port}", client, http, log, now, runs, told)
    finally:
        await http.aclose()
        await client.close()
        await feed.stop()
        await server.stop()
        await tail.close()
        await stores.close()
        await others.close()
