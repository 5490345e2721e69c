"""A feed as it is served: uvicorn on a free port, real stores, a real intake."""

import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import httpx
import pytest
import structlog

from actors.substrate.embedding import WordLlamaEmbedder
from environment.ports import Stores, WriteReport
from environment.stores.sqlite import open_stores
from orchestration.access.gate import Access
from orchestration.access.settings import AccessSettings
from orchestration.feed.app import create_app
from orchestration.feed.server import FeedServer
from orchestration.feed.settings import FeedSettings
from orchestration.gateway.intake import Intake
from orchestration.gateway.services import all_handlers
from orchestration.gateway.settings import IntakeSettings
from orchestration.view.mind import MindView, ViewContext
from orchestration.view.settings import TailSettings
from orchestration.view.status import MindState, ProcessState
from orchestration.view.tail import StreamTail
from tests.environment.stores.making import NOON, report


@dataclass
class Feed:
    """What a test talks to."""

    stores: Stores
    tail: StreamTail
    server: FeedServer
    client: httpx.AsyncClient
    intake: Intake
    now: list[float]

    @property
    def app(self):
        return self.server._app

    @property
    def context(self):
        return self.app.state.feed


@asynccontextmanager
async def serving(
    directory,
    *,
    stores=None,
    age=0.0,
    token=None,
    access=None,
    intake=None,
    process=MindState.RUNNING,
    view=None,
    words=None,
    **settings,
):
    own = stores is None
    stores = stores or await open_stores(directory, "alpha")
    now = [NOON]
    clock = lambda: now[0]  # noqa: E731
    tail = StreamTail(stores.stream, TailSettings(fast=0.002, idle=0.02))
    taken = Intake(stores.perceptions, intake or IntakeSettings(), clock)
    view = MindView(
        stores,
        WordLlamaEmbedder(),
        view,
        mind="alpha",
        clock=clock,
        wall=clock,
        surroundings=ViewContext(
            version="1.2.3", process=lambda: ProcessState(process, NOON, reason="killed"), words=words
        ),
    )
    chosen = FeedSettings(listen="127.0.0.1:0", grace=2, probe_every=0, **settings)
    if token is not None:
        (directory / "token").write_text(token)
        access = Access(AccessSettings(), mind="alpha", wall=time.time, operator_token=directory / "token")
    app = create_app(view, taken, all_handlers(view, tail), chosen, access=access, version="1.2.3", age=age)
    server = FeedServer(app, chosen)
    await server.start()
    await stores.commit([WriteReport(replace(report("causes"), at=NOON))])
    client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", timeout=60, trust_env=False)
    try:
        yield Feed(stores, tail, server, client, taken, now)
    finally:
        await client.aclose()
        await server.stop()
        await tail.close()
        await taken.close()
        if own:
            await stores.close()


@pytest.fixture(scope="session", autouse=True)
def plain_logs():
    """Tracebacks as they are logged in service; the default for a terminal draws every local variable."""
    plain = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
    structlog.configure(processors=plain)
    yield
    structlog.reset_defaults()


@pytest.fixture
async def feed(tmp_path):
    async with serving(tmp_path) as opened:
        yield opened


@pytest.fixture
def serve(tmp_path):
    return lambda **options: serving(tmp_path, **options)
