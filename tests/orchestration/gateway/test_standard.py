"""Health and reflection: bounded as the mind's own services are, and never in the way of whoever probes."""

import asyncio
import struct

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from orchestration.gateway.binding import CallKind
from tests.orchestration.gateway.conftest import NAMES, refusal
from tests.orchestration.until import until

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
WATCH = b"/grpc.health.v1.Health/Watch"
REFLECT = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
EVERYTHING = health_pb2.HealthCheckRequest()


def health(gateway):
    return health_pb2_grpc.HealthStub(gateway.channel)


async def both(gateway):
    """Health watched and reflection asked, each answered once."""
    watching = health(gateway).Watch(EVERYTHING)
    asking = reflection_pb2_grpc.ServerReflectionStub(gateway.channel).ServerReflectionInfo()
    await asking.write(reflection_pb2.ServerReflectionRequest(list_services=""))
    assert (await watching.read()).status == SERVING
    assert (await asking.read()).list_services_response.service
    return watching, asking


async def to_the_end(call):
    async with asyncio.timeout(60):
        while await call.read() is not grpc.aio.EOF:
            pass


def frame(kind, flags, stream, body):
    return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + body


def field(name, value):
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def without_window(path, message=b""):
    """A call over HTTP/2 whose caller lets nothing be sent to it."""
    post, plain, ends, ended = b"\x83", b"\x86", 0x4, 0x1
    head = post + plain + field(b":path", path) + field(b":authority", b"x") + field(b"te", b"trailers")
    head += field(b"content-type", b"application/grpc")
    settings = frame(4, 0, 0, struct.pack(">HI", 4, 0))
    body = b"\0" + struct.pack(">I", len(message)) + message
    return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings + frame(1, ends, 1, head) + frame(0, ended, 1, body)


async def open_blocked(gateway):
    """One who watches health and takes nothing; returns when the answer waits for it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(without_window(WATCH))
    await until(lambda: len(gateway.server._guard.lifetimes._open) == 1)
    return reader, writer


async def test_who_takes_nothing_keeps_nobody_else_from_being_told(serve):
    async with serve(drain=0.3) as gateway:
        _, writer = await open_blocked(gateway)
        watching = health(gateway).Watch(EVERYTHING)
        async with asyncio.timeout(60):
            assert (await watching.read()).status == SERVING
        stop = asyncio.ensure_future(gateway.server.stop())
        async with asyncio.timeout(60):
            assert (await watching.read()).status == NOT_SERVING
            await stop
        writer.close()


async def test_who_takes_nothing_is_let_go(serve):
    async with serve(reader_timeout=0.3) as gateway:
        _, writer = await open_blocked(gateway)
        await until(lambda: not gateway.server._guard.lifetimes._open)
        assert gateway.server.figures()["gateway_refusals_total:TooSlow"] == 1
        writer.close()


async def test_they_end_when_the_server_stops_and_do_not_keep_it(serve):
    async with serve(grace=600) as gateway:
        streams = await both(gateway)
        async with asyncio.timeout(60):
            await gateway.server.stop()
        for call in streams:
            failed = await refusal(to_the_end(call))
            assert (failed.code, "is stopping" in failed.text) == (grpc.StatusCode.UNAVAILABLE, True)


async def test_they_end_with_age_so_that_their_callers_spread(serve):
    async with serve(age=1.0) as gateway:
        for call in await both(gateway):
            failed = await refusal(to_the_end(call))
            assert failed.code is grpc.StatusCode.UNAVAILABLE
        assert not gateway.server._guard.refused


async def test_a_probe_is_answered_however_busy_the_server_is(serve):
    async with serve(calls=1, watchers=1, streams=1) as gateway:
        guard = gateway.server._guard
        with guard.slot(CallKind.CALLS), guard.slot(CallKind.WATCHERS), guard.slot(CallKind.STREAMS):
            for name in ("", *NAMES):
                answer = await health(gateway).Check(health_pb2.HealthCheckRequest(service=name))
                assert answer.status == SERVING
            listed = (await health(gateway).List(health_pb2.HealthListRequest())).statuses
            assert {name: one.status for name, one in listed.items()} == dict.fromkeys(("", *NAMES), SERVING)
            for call in await both(gateway):
                call.cancel()


@pytest.mark.parametrize("name", ["grpc.health.v1.Health/Check", "grpc.health.v1.Health/Watch", REFLECT[1:]])
@pytest.mark.parametrize("sent", [b"\xff", b"\x0a\x81\x20" + b"x" * 4097], ids=["no message", "long"])
async def test_what_asks_for_no_name_is_refused_and_fills_no_log(gateway, caplog, name, sent):
    call = gateway.channel.stream_stream(f"/{name}")()
    await call.write(sent)
    failed = await refusal(call.read())
    assert failed.code is grpc.StatusCode.INVALID_ARGUMENT
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
