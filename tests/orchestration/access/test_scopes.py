"""Every call has a scope, and takes it."""

import re
from importlib import import_module
from pathlib import Path

import grpc
import pytest
from google.protobuf.message_factory import GetMessageClass

from orchestration.access.caller import ANYBODY
from orchestration.access.needs import ROUTES, RPCS, need_of_route
from orchestration.access.scopes import Free, Scope
from orchestration.feed.guard import EVENT_PATHS
from orchestration.pb.submind.v1 import perception_pb2
from tests.orchestration.access.conftest import bearer, header
from tests.orchestration.gateway.conftest import perceived

PROTOS = Path(__file__).parents[3] / "proto" / "submind" / "v1"
METHODS = {
    f"/{service.full_name}/{method.name}": method
    for file in sorted(PROTOS.glob("*.proto"))
    for service in import_module(f"orchestration.pb.submind.v1.{file.stem}_pb2").DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
"""Of every file of the schema, whether the product reads it or not."""


def asked(path):
    """A path with something in the place of its fields."""
    return re.sub(r"\{\w+\}", "g-1", path)


def routes(app):
    """Every method and template that the application answers, however its routers are nested."""
    found, left = set(), list(app.routes)
    while left:
        route = left.pop()
        found |= {(method, route.path) for method in getattr(route, "methods", None) or () if method != "HEAD"}
        left += getattr(getattr(route, "original_router", None), "routes", ())
    return found


def test_every_method_of_the_schema_stands_in_the_table_and_nothing_else_of_ours():
    assert METHODS.keys() == {name for name in RPCS if name.startswith("/submind.")}
    assert all(isinstance(RPCS[name], Scope) for name in METHODS)


async def test_every_route_stands_in_the_table_and_the_other_way_round(serve):
    async with serve() as served:
        found = routes(served.feed._app)
    assert ("POST", "/v1/growth/{proposal}/approve") in found
    assert found == ROUTES.keys()


def test_a_request_is_matched_as_it_is_routed():
    assert need_of_route("GET", "/v1/connections/history") is Scope.WATCH
    assert need_of_route("HEAD", "/v1/status") is Scope.WATCH
    assert need_of_route("POST", "/v1/growth/g-12/approve") is Scope.OPERATE
    assert need_of_route("GET", "/v1/explain/e-1") is Scope.WATCH
    for stranger in ("/v1", "/v1/", "/v1/nothing", "/v1/status/", "/metrics/", "/v1/growth/g-1/approve"):
        assert need_of_route("GET", stranger) is Scope.OPERATE, stranger
    assert need_of_route("PUT", "/v1/nothing") is Scope.OPERATE
    assert need_of_route("GET", "/static/app.js") is Free.OPEN
    assert need_of_route("DELETE", "/") is Free.TOKEN


@pytest.mark.parametrize("scope", list(Scope))
async def test_a_token_of_one_scope_opens_what_takes_it_and_nothing_else_over_grpc(serve, keys, scope):
    token = keys.make("one", scope)
    async with serve() as served:
        for name, method in METHODS.items():
            code, details = await _called(served.channel, name, method, token, 0.3 if RPCS[name] is scope else 60)
            if RPCS[name] is scope:
                assert code not in {"UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED"}, (name, code)
            else:
                assert code == "PERMISSION_DENIED", (name, code)
                assert f"`{RPCS[name].value}`" in details
        assert await served.stores.perceptions.head() == 0


async def _called(channel, name, method, token, within=60):
    """The code of one call, and its words; a stream that stays open is hung up on after so many seconds."""
    request, answer = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
    form = {"request_serializer": request.SerializeToString, "response_deserializer": answer.FromString}
    metadata = bearer(token) if token else ()
    try:
        if method.client_streaming:
            call = channel.stream_stream(name, **form)(metadata=metadata)
            await call.done_writing()
            await call.read()
        elif method.server_streaming:
            call = channel.unary_stream(name, **form)(request(), metadata=metadata, timeout=within)
            await call.read()
        else:
            call = channel.unary_unary(name, **form)(request(), metadata=metadata, timeout=60)
            await call
        return (await call.code()).name, await call.details()
    except grpc.aio.AioRpcError as error:
        return error.code().name, error.details()


@pytest.mark.parametrize("scope", list(Scope))
async def test_a_token_of_one_scope_opens_what_takes_it_and_nothing_else_over_http(serve, keys, scope):
    token = keys.make("one", scope)
    async with serve() as served:
        for (method, path), need in ROUTES.items():
            if path in EVENT_PATHS and need is scope:
                continue  # does not end
            answer = await served.http.request(method, asked(path), headers=header(token))
            wanted = need
            if need is Free.FIGURES:
                wanted = Free.TOKEN if scope in {Scope.WATCH, Scope.METRICS} else Scope.METRICS
            if isinstance(wanted, Scope) and wanted is not scope:
                assert answer.status_code == 403, path
                assert answer.json()["type"].endswith(":scope-required")
                assert f"`{wanted.value}`" in answer.json()["detail"]
                assert f'scope="{wanted.value}"' in answer.headers["www-authenticate"]
            else:
                assert answer.status_code not in {401, 403}, path


async def test_metrics_may_be_left_open_and_nothing_else_is_then(serve):
    async with serve(open_metrics=True) as served:
        assert (await served.http.get("/metrics")).status_code == 200
        assert (await served.http.get("/v1/status")).status_code == 401


async def test_a_name_to_be_called_by_counts_only_where_the_token_may_forward(serve, keys):
    front, plain = keys.make("front-1"), keys.make("plain", Scope.WATCH, Scope.PERCEIVE)
    async with serve() as served:
        found = await served.access.caller(f"Bearer {front}", "ann\n")
        assert (found.told, found.signs("x")) == ("ann by front-1", "x (ann by front-1)")
        assert (await served.access.caller(f"Bearer {plain}", "ann")).told == "plain"
        request = perception_pb2.PerceiveRequest(perceptions=[perceived()])
        await served.perception.Perceive(request, metadata=bearer(plain))


async def test_a_path_that_is_routed_otherwise_than_it_is_looked_up_opens_nothing(serve, keys):
    mute = keys.make("mute", Scope.PERCEIVE)
    async with serve() as served:
        for (method, path), need in ROUTES.items():
            for tail in ("%0A", "%0D", "%00", "%20", "/", "//", "%2F", ";a", "%E2%80%A8"):
                if need not in {Free.OPEN, Free.PROBE} and path not in EVENT_PATHS:
                    strange = asked(path) + tail
                    answer = await served.http.request(method, strange, headers=header(mute))
                    assert answer.status_code in {400, 403, 404, 405}, (method, strange, answer.text)


async def test_an_order_of_nobody_in_particular_stands_under_the_name_of_the_token(serve, keys):
    ops = keys.make("ops")
    async with serve() as served:
        for by, signed in ((" ", "ops"), ("\u200b \u2060", "ops"), ("ann\n  desk", "ann desk (ops)")):
            assert (
                await served.http.post("/v1/growth/freeze", json={"by": by}, headers=header(ops))
            ).status_code == 200
            assert (await served.http.get("/v1/growth", headers=header(ops))).json()["frozen"]["by"] == signed
            await served.http.post("/v1/growth/thaw", json={"by": "ann"}, headers=header(ops))
    assert ANYBODY.signs(" ") == ANYBODY.signs("") == ANYBODY.signs("\u200d") == "somebody"
