"""A gateway as it is served: a real server on a free port, real stores."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import grpc
import pytest
from google.rpc import error_details_pb2
from google.rpc.status_pb2 import Status

from actors.substrate.embedding import WordLlamaEmbedder
from environment.ports import Stores, WriteEntries
from environment.stores.sqlite import open_stores
from orchestration.gateway.erasure import ForgettingService
from orchestration.gateway.intake import Intake
from orchestration.gateway.server import GatewayServer
from orchestration.gateway.services import all_handlers
from orchestration.gateway.settings import GatewaySettings, IntakeSettings
from orchestration.pb.submind.v1 import (
    consciousness_pb2,
    consciousness_pb2_grpc,
    environment_pb2_grpc,
    mind_pb2_grpc,
    perception_pb2,
    perception_pb2_grpc,
)
from orchestration.schema.methods import METHODS
from orchestration.view.mind import MindView, ViewContext
from orchestration.view.settings import TailSettings
from orchestration.view.tail import StreamTail
from tests.environment.stores.making import NOON, entry

NAMES = {one.service for one in METHODS.values()} - {"submind.v1.GrowthService", "submind.v1.NodeService"}
"""What a gateway offers where nobody is given to order growth and nodes."""


class Held:
    """The real log, whose commits wait until they ``may`` begin and may ``go``, and fail with what ``fails`` has."""

    ahead = 1

    def __init__(self, log):
        self.log = log
        self.may, self.go = asyncio.Event(), asyncio.Event()
        self.may.set()
        self.go.set()
        self.fails = []
        self.commits = []
        """How many perceptions each had."""
        self.made = 0

    def prepare(self, batch):
        return self.log.prepare(batch)

    async def append_batches(self, batches):
        self.commits.append(sum(map(len, batches)))
        await self.may.wait()
        if self.fails and (failure := self.fails.pop(0)) is not None:
            raise failure
        receipts = await self.log.append_batches(batches)
        self.made += 1
        await self.go.wait()
        return receipts


@dataclass
class Gateway:
    """What a test talks to. The stubs are the generated ones: what any client uses."""

    stores: Stores
    tail: StreamTail
    view: MindView
    intake: Intake
    server: GatewayServer
    port: int
    channel: grpc.aio.Channel
    now: list[float]
    log: Held

    @property
    def target(self):
        return f"127.0.0.1:{self.port}"

    @property
    def perception(self):
        return perception_pb2_grpc.PerceptionServiceStub(self.channel)

    @property
    def consciousness(self):
        return consciousness_pb2_grpc.ConsciousnessServiceStub(self.channel)

    @property
    def environment(self):
        return environment_pb2_grpc.EnvironmentServiceStub(self.channel)

    @property
    def mind(self):
        return mind_pb2_grpc.MindServiceStub(self.channel)

    async def think(self, first, count=1, **changes):
        entries = tuple(replace(entry(first + n), **changes) for n in range(count))
        await self.stores.commit([WriteEntries(entries)])

    def watch(self, from_seq=0, **filters):
        return self.consciousness.Watch(consciousness_pb2.WatchRequest(from_seq=from_seq, **filters))

    async def texts(self):
        return [one.text for one in await self.stores.perceptions.read(0, 100_000)]


@asynccontextmanager
async def serving(
    directory,
    *,
    stores=None,
    log=Held,
    intake=None,
    access=None,
    desk=None,
    nodes=None,
    age=0.0,
    words=None,
    goals=(),
    **settings,
):
    stores = stores or await open_stores(directory, "alpha", busy_timeout=1.0)
    now = [NOON]
    clock = lambda: now[0]  # noqa: E731
    tail = StreamTail(stores.stream, TailSettings(fast=0.002, idle=0.02))
    given = {"listen": "127.0.0.1:0", "drain": 0.0, "grace": 1.0, "retry_after": 0.05}
    chosen = GatewaySettings(**(given | settings), intake=intake or IntakeSettings())
    held = log(stores.perceptions)
    taken = Intake(held, chosen.intake, clock)
    around = ViewContext(version="1.2.3", limit_hits=taken.limit_hits, words=words, goals=goals)
    view = MindView(stores, WordLlamaEmbedder(), mind="alpha", clock=clock, wall=clock, surroundings=around)
    offered = all_handlers(view, tail, desk, nodes, forgetting=ForgettingService(stores, clock))
    server = GatewayServer(taken, offered, chosen, access, age=age)
    port = await server.start()
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
    try:
        yield Gateway(stores, tail, view, taken, server, port, channel, now, held)
    finally:
        await channel.close()
        await server.stop()
        await tail.close()
        await stores.close()


@pytest.fixture
async def gateway(tmp_path):
    async with serving(tmp_path) as opened:
        yield opened


@pytest.fixture
def serve(tmp_path):
    return lambda **options: serving(tmp_path, **options)


def perceived(text="hello", **fields):
    """A perception on the wire."""
    given = {"source": "ops"} | ({} if fields.keys() & {"telemetry", "image"} else {"text": text})
    return perception_pb2.Perception(**(given | fields))


def request(*perceptions):
    return perception_pb2.PerceiveRequest(perceptions=perceptions)


def part(number, *perceptions):
    return perception_pb2.PerceiveStreamRequest(batch=number, perceptions=perceptions)


class Details:
    """The rich details of a failed call."""

    def __init__(self, error):
        self.code = error.code()
        self.text = error.details()
        raw = dict(error.trailing_metadata()).get("grpc-status-details-bin", b"")
        self.status = Status.FromString(raw)

    def _of(self, kind):
        found = kind()
        return next((found for detail in self.status.details if detail.Unpack(found)), None)

    @property
    def fields(self):
        bad = self._of(error_details_pb2.BadRequest)
        return {one.field: one.description for one in bad.field_violations} if bad else {}

    @property
    def retry_after(self):
        retry = self._of(error_details_pb2.RetryInfo)
        return retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9 if retry else None

    @property
    def quota(self):
        failure = self._of(error_details_pb2.QuotaFailure)
        return failure.violations[0].subject if failure else None


async def refusal(call):
    """How a call that must fail failed."""
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    return Details(failed.value)
