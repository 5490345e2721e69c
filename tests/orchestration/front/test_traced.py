"""The trace of a caller through a front: real servers, a real receiver of spans."""

import asyncio

import grpc
import pytest

from environment.identity import perception_id
from orchestration.gateway.intake import Intake
from orchestration.gateway.server import GatewayServer
from orchestration.gateway.settings import GatewaySettings
from orchestration.pb.submind.v1 import perception_pb2_grpc
from orchestration.telemetry.settings import TracingSettings
from orchestration.telemetry.tracing.ids import hex_trace
from orchestration.telemetry.tracing.intake_spans import IntakeSpans
from orchestration.telemetry.tracing.starting import begin
from tests.environment.stores.making import NOON
from tests.orchestration.front.relaying import relaying
from tests.orchestration.gateway.conftest import part, perceived, request, serve  # noqa: F401 - a fixture among them
from tests.servers.otlp import OtlpReceiver

CALLER, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
OTHER = "5bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def receiver():
    made = OtlpReceiver()
    yield made
    made.stop()


@pytest.mark.parametrize("traced", [True, False], ids=["a front that records", "one that does not"])
async def test_the_caller_s_trace_leads_over_the_front_to_what_the_leader_took_in(serve, receiver, traced):  # noqa: F811
    settings = TracingSettings(endpoint=receiver.endpoint, sample=1.0, every=0.05)
    host, front = begin(settings, "alpha", "host"), begin(settings, "alpha", "front")
    async with serve() as leader, relaying(leader.target, recorded=traced) as way:
        leader.intake.accepted = IntakeSpans(host).accepted
        own = IntakeSpans(front, relays=True).accepted if traced else None
        intake = Intake(way.relay, way.intake.settings, lambda: NOON, accepted=own)
        server = GatewayServer(intake, {}, GatewaySettings(listen="127.0.0.1:0", drain=0.0))
        port = await server.start()
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = perception_pb2_grpc.PerceptionServiceStub(channel)
            upload = stub.PerceiveStream(metadata=(("traceparent", f"00-{OTHER}-{SPAN}-01"),))
            await upload.write(part(1, perceived("by another")))
            await upload.read()
            await stub.Perceive(request(perceived("one")), metadata=(("traceparent", f"00-{CALLER}-{SPAN}-01"),))
            await stub.Perceive(request(perceived("of nobody")))
            upload.cancel()
        await server.stop()
    await asyncio.gather(asyncio.to_thread(host.close), asyncio.to_thread(front.close))

    taken = {span["trace"]: span for span in receiver.named("take in")}
    handed = {span["trace"]: span for span in receiver.named("hand on")}
    assert taken.keys() == {CALLER, OTHER}
    assert handed.keys() == ({CALLER, OTHER} if traced else set())
    for seq, trace in ((1, OTHER), (2, CALLER)):
        above = handed[trace]["id"] if traced else SPAN
        assert taken[trace]["parent"] == above
        assert not traced or handed[trace]["parent"] == SPAN
        thought = hex_trace(host.ids.of(perception_id(seq)))
        (accept,) = (span for span in receiver.trace(thought) if span["name"] == "accept")
        assert accept["links"] == [(trace, taken[trace]["id"])]
        assert taken[trace]["links"] == [(thought, accept["id"])]
        relays = [span for span in receiver.trace(thought) if span["name"] == "relay"]
        assert [span["parent"] for span in relays] == [accept["id"]] * traced
        assert all(span["links"] == [(trace, handed[trace]["id"])] for span in relays)
