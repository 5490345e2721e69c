"""Who may come in, health, reflection, and how the server starts and stops."""

import asyncio

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from orchestration.access.errors import BadCredentials
from orchestration.access.needs import RPCS
from orchestration.access.tokens import read_token
from orchestration.gateway import auth
from orchestration.gateway.errors import CannotListen, UnsafeListen
from orchestration.pb.submind.v1 import consciousness_pb2, mind_pb2
from orchestration.schema.methods import METHODS
from tests.orchestration.gateway.conftest import NAMES, part, perceived, refusal, request

TOKEN = "correct-horse-battery"  # noqa: S105 - of this test alone


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    return path


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "192.0.2.1", "example.org"])  # noqa: S104 - what is refused
async def test_without_a_token_only_loopback(serve, host):
    with pytest.raises(UnsafeListen, match="--token-file"):
        async with serve(listen=f"{host}:0"):
            pass


async def test_a_token_opens_other_interfaces_and_is_then_required_of_every_shape_of_call(serve, token_file):
    async with serve(listen="0.0.0.0:0", token_file=token_file) as gateway:
        calls = [
            lambda **extra: gateway.perception.Perceive(request(perceived()), **extra),
            lambda **extra: gateway.consciousness.Watch(consciousness_pb2.WatchRequest(), **extra).read(),
            lambda **extra: gateway.perception.PerceiveStream(**extra).read(),
            lambda **extra: gateway.mind.GetStatus(mind_pb2.GetStatusRequest(), **extra),
        ]
        for shown in (None, "", "Bearer", "Bearer wrong-horse-battery", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN):
            metadata = (("authorization", shown),) if shown is not None else ()
            for call in calls:
                failed = await refusal(call(metadata=metadata))
                assert failed.code is grpc.StatusCode.UNAUTHENTICATED
                assert "Bearer" in failed.text
        assert await gateway.texts() == []
        right = (("authorization", f"bearer {TOKEN}"),)
        await gateway.perception.Perceive(request(perceived()), metadata=right)
        stream = gateway.perception.PerceiveStream(metadata=right)
        await stream.write(part(1, perceived()))
        assert (await stream.read()).batch == 1
        stream.cancel()
        health = health_pb2_grpc.HealthStub(gateway.channel)  # a probe has no token
        answer = await health.Check(health_pb2.HealthCheckRequest())
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize(
    "content", ["", "short", "with some spaces in it", "caf\u00e9 caf\u00e9 caf\u00e9", "a\nb" * 20]
)
def test_a_token_that_is_none_is_refused(tmp_path, content):
    path = tmp_path / "token"
    path.write_text(content, "utf-8")
    with pytest.raises(BadCredentials, match="16"):
        read_token(path)


@pytest.mark.parametrize(
    ("listen", "host", "port", "loopback"),
    [
        ("127.0.0.1:50051", "127.0.0.1", 50051, True),
        ("localhost:0", "localhost", 0, True),
        ("[::1]:80", "::1", 80, True),
        ("127.8.8.8:1", "127.8.8.8", 1, True),
        ("0.0.0.0:1", "0.0.0.0", 1, False),  # noqa: S104 - only parsed
        ("[::]:1", "::", 1, False),
        ("localhost.evil.example:1", "localhost.evil.example", 1, False),
    ],
)
def test_addresses(listen, host, port, loopback):
    assert auth.split_listen(listen) == (host, port)
    assert auth.is_loopback(host) is loopback


@pytest.mark.parametrize("listen", ["", "50051", ":50051", "127.0.0.1", "host:port", "host:70000", "::1:50051"])
def test_what_is_no_address_is_refused_with_the_form(listen):
    with pytest.raises(UnsafeListen, match="write"):
        auth.split_listen(listen)


async def test_an_address_that_is_taken_is_named(serve, gateway):
    with pytest.raises(CannotListen, match="another program"):
        async with serve(listen=gateway.target):
            pass


async def test_a_stock_reflection_client_finds_every_method_and_its_messages(gateway):
    def look():
        with grpc.insecure_channel(gateway.target) as channel:
            database = ProtoReflectionDescriptorDatabase(channel)
            offered = {name.split("/")[1] for name in RPCS} - {"submind.v1.GrowthService", "submind.v1.NodeService"}
            assert set(database.get_services()) == offered
            pool = DescriptorPool(database)
            return {name: pool.FindServiceByName(name) for name in NAMES}

    found = await asyncio.to_thread(look)
    methods = {name: sorted(method.name for method in service.methods) for name, service in found.items()}
    schema = METHODS.values()
    assert methods == {name: sorted(one.name for one in schema if one.service == name) for name in NAMES}
    perceive = found["submind.v1.PerceptionService"].methods_by_name["Perceive"]
    assert perceive.input_type.fields_by_name["perceptions"].message_type.full_name == "submind.v1.Perception"


async def test_health_says_not_serving_before_the_server_goes(serve):
    async with serve(drain=0.3) as gateway:
        health = health_pb2_grpc.HealthStub(gateway.channel)
        for name in ("", *NAMES):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        stop = asyncio.ensure_future(gateway.server.stop())
        await asyncio.sleep(0.05)
        answer = await health.Check(health_pb2.HealthCheckRequest())
        assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING
        await gateway.perception.Perceive(request(perceived("while it drains")))
        await stop
        await gateway.server.stop()
        failed = await refusal(gateway.perception.Perceive(request(perceived("too late"))))
        assert failed.code is grpc.StatusCode.UNAVAILABLE
        assert await gateway.texts() == ["while it drains"]


async def test_a_request_id_of_the_caller_is_kept_only_if_it_is_fit_for_a_log(gateway):
    guard = gateway.server._guard

    class Context:
        def __init__(self, value):
            self.value = value

        def invocation_metadata(self):
            return (("x-request-id", self.value),)

    assert guard.request_id(Context("abc-1")) == "abc-1"
    for unfit in ("x" * 65, "", "a\x1b[2J", b"raw"):
        assert guard.request_id(Context(unfit)).startswith("r-")
