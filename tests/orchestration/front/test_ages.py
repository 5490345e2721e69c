"""Callers with one long-lived connection come to gateways that were added since, and lose nothing by it."""

import asyncio
from contextlib import asynccontextmanager

import grpc
import pytest

from environment.messages import NewPerception
from orchestration.client import MindClient
from orchestration.pb.submind.v1 import mind_pb2, mind_pb2_grpc
from tests.environment.stores.making import NOON
from tests.orchestration.gateway.conftest import part, perceived, request, serving
from tests.orchestration.until import until
from tests.servers.front import pass_on

AGE = 0.4
"""Seconds; gRPC adds or takes a tenth."""


class Service:
    """What a Service of a cluster is to a connection: it goes to one of several servers, the one with the fewest."""

    def __init__(self):
        self.behind, self.opened, self._tasks = [], {}, set()

    def add(self, port):
        self.behind.append(port)
        self.opened[port] = 0

    async def meet(self, reader, writer):
        port = min(self.behind, key=lambda one: self.opened[one])
        self.opened[port] += 1
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)

        for pair in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(pass_on(*pair))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


@asynccontextmanager
async def two_gateways(tmp_path, age):
    """One behind the service, and one that a test adds: of one mind, as fronts are."""
    service = Service()
    async with serving(tmp_path, age=age) as one, serving(tmp_path, stores=one.stores, age=age) as two:
        server = await asyncio.start_server(service.meet, "127.0.0.1", 0)
        service.add(one.port)
        try:
            yield service, one, two, f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()


def calls(gateway, kind="calls"):
    return gateway.server.figures()[f"gateway_calls_total:{kind}"]


async def test_calls_over_one_channel_come_to_a_gateway_that_was_added(tmp_path):
    async with two_gateways(tmp_path, AGE) as (service, one, two, target), grpc.aio.insecure_channel(target) as channel:
        stub = mind_pb2_grpc.MindServiceStub(channel)
        await stub.GetStatus(mind_pb2.GetStatusRequest())
        service.add(two.port)

        for _ in range(500):
            await stub.GetStatus(mind_pb2.GetStatusRequest())  # and none fails
            if calls(two):
                break
            await asyncio.sleep(0.02)
        assert calls(one) > 0
        assert calls(two) > 0


async def test_an_upload_goes_on_elsewhere_and_everything_is_taken_in_once(tmp_path):
    async with two_gateways(tmp_path, AGE) as (service, one, two, target), MindClient(target) as mind:
        service.add(two.port)

        async def source():
            number = 0
            while calls(one, "streams") < 2 or calls(two, "streams") < 2:
                yield NewPerception("ops", NOON, NOON, text=f"{number}")
                number += 1
                await asyncio.sleep(0.005)

        receipts = [receipt async for receipt in mind.perceive_many(source(), batch=4)]
        assert [each.seq for each in receipts] == list(range(1, len(receipts) + 1))
        assert await one.texts() == [f"{n}" for n in range(len(receipts))]
        assert one.server.figures().get("gateway_refusals_total:Aged", 0) == 0


async def test_a_reader_goes_on_where_it_was(tmp_path):
    async with two_gateways(tmp_path, AGE) as (service, one, two, target), MindClient(target) as mind:
        service.add(two.port)
        read = []

        async def reading():
            async for entry in mind.watch(1):
                read.append(entry.seq)  # noqa: PERF401 - it is looked at meanwhile

        task = asyncio.create_task(reading())
        for seq in range(1, 2000):
            await one.think(seq)
            await asyncio.sleep(0.01)
            if calls(one, "watchers") > 1 and calls(two, "watchers") > 1:
                break
        await until(lambda: len(read) >= seq)
        task.cancel()
        assert read == list(range(1, seq + 1))


async def test_a_stock_upload_is_answered_all_it_sent_before_it_ends(tmp_path):
    async with serving(tmp_path, age=AGE) as gateway:
        assert (await gateway.perception.Perceive(request(perceived("a")))).receipts[0].seq == 1
        call = gateway.perception.PerceiveStream()
        await call.write(part(1, perceived("b")))
        assert (await call.read()).receipts[0].seq == 2
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await call.read()
        assert ended.value.code() is grpc.StatusCode.UNAVAILABLE
        assert "connect again" in ended.value.details()
        assert await gateway.texts() == ["a", "b"]
