"""A token's quota through fronts: counted once, by whoever leads."""

import asyncio
import time
from contextlib import asynccontextmanager

import grpc
import pytest

from orchestration.access.caller import Caller, Quota
from orchestration.access.errors import OverAllowance
from orchestration.access.gate import Access
from orchestration.access.quotas import BYTES, PERCEPTIONS
from orchestration.access.scopes import Scope
from orchestration.access.settings import AccessSettings, QuotaSettings
from orchestration.front.quotas import LeaderQuotas
from orchestration.gateway.server import GatewayServer
from orchestration.gateway.settings import GatewaySettings
from orchestration.pb.submind.v1 import perception_pb2_grpc
from tests.orchestration.access.conftest import bearer, keys, serve  # noqa: F401 - fixtures among them
from tests.orchestration.front.relaying import relaying
from tests.orchestration.gateway.conftest import part, perceived, request
from tests.orchestration.gateway.conftest import refusal as refused
from tests.orchestration.until import until

FRONT = (Scope.PERCEIVE, Scope.FORWARD)


@asynccontextmanager
async def fronting(leader, keys, token_file, quotas):  # noqa: F811
    """A front as ``submind serve`` has it, with the mind's file; a stub to call it by."""
    async with relaying(leader.target, upstream={"token_file": token_file}, ask_timeout=60) as way:
        await until(lambda: not way.relay.why)
        access = Access(AccessSettings(tokens_file=keys.path, quotas=quotas), mind="alpha", wall=time.time)
        access.quotas = LeaderQuotas(QuotaSettings(**quotas), time.monotonic, way.upstream)
        settings = GatewaySettings(listen="127.0.0.1:0", drain=0.0)
        server = GatewayServer(way.intake, {}, settings, access)
        port = await server.start()
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield perception_pb2_grpc.PerceptionServiceStub(channel), access
        await server.stop()


@pytest.fixture
def token_file(keys, tmp_path):  # noqa: F811
    path = tmp_path / "front"
    path.write_text(keys.make("front", *FRONT))
    return path


def ten(name):
    return [perceived(f"{name} {number}") for number in range(10)]


async def test_a_token_has_its_quota_once_through_two_fronts_and_the_host(serve, keys, token_file):  # noqa: F811
    quotas = {"perceptions_per_second": 1, "burst": 60}
    token, other = keys.make("sensor", Scope.PERCEIVE), keys.make("other", Scope.PERCEIVE)
    async with (
        serve(quotas=quotas) as leader,
        fronting(leader, keys, token_file, quotas) as (one, _),
        fronting(leader, keys, token_file, quotas) as (two, seen),
    ):
        began, taken = time.monotonic(), 0

        async def send(stub, name):
            nonlocal taken
            for number in range(12):
                code = await stub.Perceive(request(*ten(f"{name}{number}")), metadata=bearer(token)).code()
                assert code in {grpc.StatusCode.OK, grpc.StatusCode.RESOURCE_EXHAUSTED}
                taken += 10 * (code is grpc.StatusCode.OK)

        await asyncio.gather(send(one, "a"), send(two, "b"), send(leader.perception, "c"))
        assert 60 <= taken <= 60 + 10 + (time.monotonic() - began)
        failed = await refused(two.Perceive(request(*ten("d") * 2), metadata=bearer(token)))
        assert failed.quota == PERCEPTIONS
        assert failed.retry_after > 0
        assert seen.figures()[f"access_quota_refusals_total:{PERCEPTIONS}"] >= 1
        await two.Perceive(request(*ten("e")), metadata=bearer(other))  # has a quota of its own
        assert len(await leader.texts()) == taken + 10


async def test_an_upload_through_a_front_is_held_back_and_goes_on(serve, keys, token_file):  # noqa: F811
    quotas = {"perceptions_per_second": 40, "burst": 0.5}
    token = keys.make("sensor", Scope.PERCEIVE)
    async with serve(quotas=quotas) as leader, fronting(leader, keys, token_file, quotas) as (stub, access):
        upload, began = stub.PerceiveStream(metadata=bearer(token)), time.monotonic()
        for number in range(8):
            await upload.write(part(number + 1, *ten(number)))
        assert [(await upload.read()).batch for _ in range(8)] == list(range(1, 9))
        assert time.monotonic() - began >= (80 - 20) / 40  # and no sooner
        assert access.quotas.hits[PERCEPTIONS] >= 1
        upload.cancel()
        assert len(await leader.texts()) == 80


async def test_the_leader_is_asked_for_what_comes_next_as_well(serve, keys, token_file):  # noqa: F811
    quotas = {"perceptions_per_second": 400, "bytes_per_second": 1_000_000}
    caller = Caller("sensor", "token", frozenset())
    async with serve(quotas=quotas) as leader, relaying(leader.target, upstream={"token_file": token_file}) as way:
        at = [0.0]
        here = LeaderQuotas(QuotaSettings(**quotas), lambda: at[0], way.upstream)
        asked = lambda: leader.server.figures()["gateway_calls_total:calls"]  # noqa: E731
        for _ in range(101):
            await here.admit(caller, 1, 100)
        assert asked() == 1
        await here.admit(caller, 1, 100)
        assert asked() == 2
        at[0] = 1.5  # what was not used is not kept
        await here.admit(caller, 1, 100)
        assert asked() == 3
        own = Caller("narrow", "jwt", frozenset(), quota=Quota(bytes_per_second=10.0))
        await here.admit(own, 1, 100)
        with pytest.raises(OverAllowance, match=BYTES.replace(".", r"\.")):
            await here.admit(own, 1, 100)
        await here.admit(Caller("free", "token", frozenset(), quota=Quota(0, 0)), 1000, 10**9)
        assert asked() == 5


async def test_while_nobody_leads_a_front_counts_by_itself(serve, keys, token_file):  # noqa: F811
    caller = Caller("sensor", "token", frozenset())
    async with relaying("", hold=0.1) as way:
        here = LeaderQuotas(QuotaSettings(perceptions_per_second=10, burst=1), lambda: 0.0, way.upstream)
        await here.admit(caller, 10, 1)
        with pytest.raises(OverAllowance):
            await here.admit(caller, 1, 1)
        async with serve(quotas={"perceptions_per_second": 10}) as leader:
            way.upstream._shown = way.upstream._shown.model_copy(update={"token_file": token_file})
            way.elect(leader.target)
            await until(lambda: not way.relay.why)
            await here.admit(caller, 1, 1)


async def test_calls_that_come_together_are_not_refused_for_what_was_counted_ahead(serve, keys, token_file):  # noqa: F811
    quotas = {"perceptions_per_second": 100, "burst": 1}
    caller = Caller("sensor", "token", frozenset())
    async with serve(quotas=quotas) as leader, relaying(leader.target, upstream={"token_file": token_file}) as way:
        here = LeaderQuotas(QuotaSettings(**quotas), lambda: 0.0, way.upstream)
        await asyncio.gather(*(here.admit(caller, 1, 100) for _ in range(40)))
