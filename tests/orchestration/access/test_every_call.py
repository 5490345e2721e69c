"""Every call that schema and application have, met with what does not hold; and every order written down."""

import grpc
import httpx
import pytest

from environment.population import growth_head
from orchestration.access.audit import NAME, read_audit
from orchestration.access.needs import ROUTES, RPCS
from orchestration.access.scopes import Free, Scope
from orchestration.feed.guard import EVENT_PATHS
from orchestration.shared_file import SharedFile
from tests.orchestration.access.conftest import MIND, bearer, header
from tests.orchestration.access.test_scopes import METHODS, _called, asked
from tests.orchestration.until import until

OPEN = {Free.OPEN, Free.PROBE}


@pytest.mark.parametrize("why", ["none", "unknown", "other mind", "expired", "revoked"])
async def test_a_token_that_does_not_hold_opens_nothing(serve, keys, why):
    token = {
        "none": lambda: "",
        "unknown": lambda: "submind_" + "x" * 43,
        "other mind": lambda: keys.make("theirs", mind="beta"),
        "expired": lambda: keys.make("old", expires_in=-1),
        "revoked": lambda: keys.make("gone"),
    }[why]()
    keys.make("other", Scope.WATCH)
    async with serve() as served:
        if why == "revoked":
            keys.revoke("gone", MIND)
            await until(lambda: served.access.figures()["access_tokens"] == 1)
        for name, method in METHODS.items():
            assert (await _called(served.channel, name, method, token))[0] == "UNAUTHENTICATED", name
        for (method, path), need in ROUTES.items():
            answer = await served.http.request(method, asked(path), headers=header(token) if token else {})
            assert (answer.status_code == 401) is (need not in OPEN), (method, path, answer.status_code)
        assert await served.stores.perceptions.head() == 0
        assert await growth_head(served.stores.collections) == 0


async def test_a_cookie_opens_what_its_token_does_and_only_to_the_page_itself(serve, keys):
    token = keys.make("page", Scope.WATCH, Scope.OPERATE)
    async with serve() as served, httpx.AsyncClient(base_url=served.feed.url, trust_env=False) as browser:
        assert (await browser.post("/v1/session", json={"token": token})).status_code == 200
        own = served.feed.url.rstrip("/")
        for (method, path), need in ROUTES.items():
            if path in EVENT_PATHS or path == "/v1/session":
                continue  # does not end; ends the log-in
            changes = method not in {"GET", "HEAD"}
            for origin, refused in ((None, {401}), ("https://evil.example", {403}), ("null", {403})):
                told = {} if origin is None else {"Origin": origin}
                answer = await browser.request(method, asked(path), headers=told)
                if changes or (origin is not None and path.startswith("/v1")):
                    assert answer.status_code in refused, (method, path, origin, answer.status_code)
            answer = await browser.request(method, asked(path), headers={"Origin": own})
            allowed = need is not Scope.PERCEIVE
            assert (answer.status_code not in {401, 403}) is allowed, (method, path, answer.status_code)


async def test_every_order_is_written_down_once_whatever_came_of_it(serve, keys, tmp_path):
    ops, reader = keys.make("ops"), keys.make("reader", Scope.WATCH)
    orders = [name for name, need in RPCS.items() if need is Scope.OPERATE]
    routes = [key for key, need in ROUTES.items() if need is Scope.OPERATE]
    async with serve() as served:
        served.access.audit._file = SharedFile(tmp_path / NAME, 1 << 20)
        for token in (ops, reader):
            for name in orders:
                await _called(served.channel, name, METHODS[name], token)
            for method, path in routes:
                await served.http.request(method, asked(path), headers=header(token), json={})
    lines = [(one["by"], one["action"], one["outcome"].startswith("refused")) for one in read_audit(tmp_path)]
    names = [name.rpartition("/")[2] for name in orders] + [f"{method} {asked(path)}" for method, path in routes]
    assert lines == [("ops", name, False) for name in names] + [("reader", name, True) for name in names]


async def test_reflection_and_the_watching_of_health_take_a_token(serve):
    async with serve() as served:
        for name in ("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "/grpc.health.v1.Health/Watch"):
            call = served.channel.stream_stream(name)()
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await call.read()
            assert failed.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_what_is_small_while_compressed_is_measured_as_it_is(serve, keys):
    token = keys.make("sender", Scope.PERCEIVE)
    limit = 1 << 20
    async with (
        serve(gateway={"message_bytes": limit}) as served,
        grpc.aio.insecure_channel(served.target, compression=grpc.Compression.Gzip) as channel,
    ):
        perceive = channel.unary_unary("/submind.v1.PerceptionService/Perceive")
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await perceive(b"\0" * (64 * limit), metadata=bearer(token))
        assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert await served.stores.perceptions.head() == 0
