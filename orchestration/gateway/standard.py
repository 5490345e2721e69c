"""What any gRPC server serves: its health, and what there is. Held to the same bounds as the mind's own services.

``grpc_health`` has an implementation too: there a reader who takes nothing keeps all others from being told, and what
is no message is an error in the log, which anybody could fill.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import Any

import grpc
from grpc_health.v1 import health_pb2 as pb
from grpc_reflection.v1alpha import reflection, reflection_pb2

from orchestration.gateway.binding import CallGuard, MessageStream, both_streams, server_stream, service, unary
from orchestration.gateway.errors import Unknown
from orchestration.schema.errors import InvalidRequest

HEALTH = "grpc.health.v1.Health"
REFLECTION = reflection.SERVICE_NAME
_LONGEST = 4096
"""Bytes of a question: it asks for a name, and a stream holds it for as long as it lasts."""


class HealthService:
    """``grpc.health.v1.Health``: all services of a server are as it is."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(("", *names))
        self._status = pb.HealthCheckResponse.NOT_SERVING
        self._changed = asyncio.Event()

    def serve(self, *, serving: bool) -> None:
        """Say from now on whether the server serves."""
        self._status = pb.HealthCheckResponse.SERVING if serving else pb.HealthCheckResponse.NOT_SERVING
        self._changed.set()
        self._changed = asyncio.Event()

    async def check(self, request: pb.HealthCheckRequest) -> pb.HealthCheckResponse:
        """How a service is. Raises ``Unknown``."""
        _bounded(request.ByteSize())
        if request.service not in self._names:
            raise Unknown("service", request.service)
        return pb.HealthCheckResponse(status=self._status)

    async def list(self, _: pb.HealthListRequest) -> pb.HealthListResponse:
        """How each service is."""
        return pb.HealthListResponse(
            statuses={name: pb.HealthCheckResponse(status=self._status) for name in self._names}
        )

    async def watch(self, request: pb.HealthCheckRequest) -> AsyncGenerator[pb.HealthCheckResponse, None]:
        """How a service is, and again whenever that changes; what changes back before it is told goes untold."""
        _bounded(request.ByteSize())
        return self._watch(request)

    async def _watch(self, request: pb.HealthCheckRequest) -> AsyncGenerator[pb.HealthCheckResponse, None]:
        told = None
        while True:
            changed = self._changed
            status = self._status if request.service in self._names else pb.HealthCheckResponse.SERVICE_UNKNOWN
            if status != told:
                yield pb.HealthCheckResponse(status=status)
                told = status
            await changed.wait()


def _bounded(size: int) -> None:
    if size > _LONGEST:
        raise InvalidRequest("", f"{size} bytes are too many to ask for a name: at most {_LONGEST}")


def standard_services(
    guard: CallGuard, health: HealthService, names: Iterable[str]
) -> list[grpc.GenericRpcHandler[Any, Any]]:
    """Health, and reflection that tells of the services ``names`` and of these.

    They take no place that is bounded for all callers: probes are answered however busy the server is, and who watches
    health keeps nobody from reading. Streams count as their caller's.
    """
    mirror = reflection.aio.ReflectionServicer((*names, HEALTH, REFLECTION))  # type: ignore[attr-defined]  # not stubbed

    async def questions(upload: MessageStream) -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
        while (raw := await upload.read()) is not None:
            _bounded(len(raw))
            yield guard.read(reflection_pb2.ServerReflectionRequest, raw)

    async def talk(upload: MessageStream) -> None:
        async for answer in mirror.ServerReflectionInfo(questions(upload), None):
            await upload.write(answer.SerializeToString())

    async def reflect(upload: MessageStream) -> None:
        await guard.lifetimes.run(talk(upload))

    return [
        service(
            HEALTH,
            {
                "Check": unary(guard, pb.HealthCheckRequest, health.check, kind=None),
                "List": unary(guard, pb.HealthListRequest, health.list, kind=None),
                "Watch": server_stream(guard, pb.HealthCheckRequest, health.watch, kind=None),
            },
        ),
        service(REFLECTION, {"ServerReflectionInfo": both_streams(guard, reflect, kind=None)}),
    ]
