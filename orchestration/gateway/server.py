"""The gRPC server: what it listens on, what it serves, and how it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import grpc
import structlog

from environment.addresses import endpoint_label
from orchestration.access.gate import Access
from orchestration.access.settings import AccessSettings
from orchestration.clock import wall
from orchestration.gateway.admission import Admission
from orchestration.gateway.auth import require_guard, split_listen
from orchestration.gateway.binding import CallGuard, CallKind, both_streams, schema_services, service, unary
from orchestration.gateway.errors import CannotListen
from orchestration.gateway.forwarding import ForwardService
from orchestration.gateway.intake import Intake
from orchestration.gateway.services import Handlers
from orchestration.gateway.settings import GatewaySettings
from orchestration.gateway.standard import HealthService, standard_services
from orchestration.gateway.uploads import PerceptionService
from orchestration.pb.submind.v1 import forwarding_pb2, perception_pb2
from orchestration.schema.methods import METHODS

_log = structlog.get_logger(__name__)

_PERCEPTION, _FORWARD = "submind.v1.PerceptionService", "submind.v1.ForwardService"

_REASONS = tuple(
    "InvalidRequest IntakeBusy OverAllowance OverQuota TooMany TooLarge StoreFull StoreUnavailable StandingBy".split()
)
"""Errors that are counted from 0: to Prometheus what appears at 1 has not increased."""


class GatewayServer:
    """Serves one mind. ``start`` once, ``stop`` once (or more often: the first counts).

    It does not own the intake's log; ``stop`` closes the intake, so that what waits there is written.
    """

    def __init__(
        self,
        intake: Intake,
        handlers: Handlers,
        settings: GatewaySettings,
        access: Access | None = None,
        *,
        age: float = 0.0,
    ) -> None:
        """Raise ``UnsafeListen`` where other machines can reach the address and there is no token.

        ``handlers``: what answers all but perceptions. ``access``: who may call, kept by
        whoever gives it; None for what ``settings.token_file`` says. Then raises ``BadCredentials``. ``age``: seconds
        after which a connection takes no more calls and streams end, so that callers spread; 0: never.
        """
        self._intake = intake
        self._settings = settings
        self._access = access or Access(AccessSettings(), mind="", wall=wall, operator_token=settings.token_file)
        self._guard = CallGuard(settings, self._access, age)
        require_guard(settings.listen, guarded=self._access.required)
        self._server = grpc.aio.server(interceptors=(Admission(self._access),), options=_options(settings, age))
        names = list(dict.fromkeys((_PERCEPTION, _FORWARD, *(METHODS[name].service for name in handlers))))
        self._health = HealthService(names)
        services = [
            *_intake_services(self._guard, intake),
            *schema_services(self._guard, handlers),
            *standard_services(self._guard, self._health, names),
        ]
        self._server.add_generic_rpc_handlers(tuple(services))
        self._stopped: asyncio.Task[None] | None = None

    async def start(self) -> int:
        """Listen and say SERVING; the port. Raises ``CannotListen``."""
        host, port = split_listen(self._settings.listen)
        try:
            address, certificates = endpoint_label(host, port), self._access.certificates
            bound = (
                self._server.add_insecure_port(address)
                if certificates is None
                else self._server.add_secure_port(address, certificates.for_grpc())
            )
        except RuntimeError as error:
            raise CannotListen(
                self._settings.listen, "another program listens there, or it is not an address of this machine"
            ) from error
        self._health.serve(serving=True)
        await self._server.start()
        _log.info("gateway_listening", host=host, port=bound, tls=self._access.encrypted)
        return bound

    async def stop(self) -> None:
        """Say NOT_SERVING, wait until that is seen, end streams UNAVAILABLE, let other calls end, write what waits."""
        if self._stopped is None:
            self._stopped = asyncio.create_task(self._stop(), name="gateway-stop")
        await asyncio.shield(self._stopped)

    async def _stop(self) -> None:
        self._health.serve(serving=False)
        await asyncio.sleep(self._settings.drain)
        self._guard.stop()
        await self._server.stop(self._settings.grace)
        await self._intake.close()
        _log.info("gateway_stopped")

    def figures(self) -> Mapping[str, float]:
        """Counters and gauges of gateway and intake since the start, by metric name without prefix."""
        return {
            **self._intake.figures(),
            **{f"gateway_open:{kind.value}": float(self._guard.open[kind]) for kind in CallKind},
            **{f"gateway_calls_total:{kind.value}": float(self._guard.calls[kind]) for kind in CallKind},
            **{f"gateway_refusals_total:{reason}": 0.0 for reason in _REASONS},
            **{f"gateway_refusals_total:{reason}": float(count) for reason, count in self._guard.refused.items()},
        }

    def limits(self) -> Mapping[str, float]:
        """The limits in force, by their name in the configuration."""
        names = (*(kind.value for kind in CallKind), "message_bytes", "stream_batches")
        own = {f"gateway.{name}": float(getattr(self._settings, name)) for name in names}
        return {**own, **self._intake.limits()}

    def limit_hits(self) -> Mapping[str, float]:
        """How often each limit was met, by its name in the configuration."""
        own = {f"gateway.{name}": float(hits) for name, hits in self._guard.hits.items()}
        return {**own, **self._intake.limit_hits()}


def _intake_services(guard: CallGuard, intake: Intake) -> list[grpc.GenericRpcHandler[Any, Any]]:
    """By which perceptions come in: the hot path, which parses and checks for itself."""
    perception, forward = PerceptionService(intake, guard), ForwardService(intake, guard)
    perceive = unary(guard, perception_pb2.PerceiveRequest, perception.perceive, checked=False)
    taken = {"Perceive": perceive, "PerceiveStream": both_streams(guard, perception.perceive_stream)}
    allow = unary(guard, forwarding_pb2.AllowRequest, forward.allow)
    return [
        service(_PERCEPTION, taken),
        service(_FORWARD, {"Forward": both_streams(guard, forward.forward), "Allow": allow}),
    ]


def _options(settings: GatewaySettings, age: float) -> list[tuple[str, int]]:
    """Channel arguments. A message up to twice the limit is read, so that it can be refused with the limit's name."""
    milliseconds = 1000
    aging = [("grpc.max_connection_age_ms", int(age * milliseconds))] if age else []
    return [
        *aging,
        ("grpc.max_receive_message_length", 2 * settings.message_bytes),
        ("grpc.max_send_message_length", settings.message_bytes),
        ("grpc.so_reuseport", 0),
        ("grpc.keepalive_time_ms", int(settings.keepalive * milliseconds)),
        ("grpc.keepalive_timeout_ms", int(settings.keepalive_timeout * milliseconds)),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", int(settings.keepalive_least * milliseconds)),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", int(settings.keepalive_least * milliseconds)),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.max_allowed_incoming_connections", settings.connections),
        ("grpc.max_concurrent_streams", settings.connection_streams),
        ("grpc.server_handshake_timeout_ms", int(settings.handshake * milliseconds)),
        ("grpc.max_connection_idle_ms", int(settings.idle_connection * milliseconds)),
        ("grpc.max_metadata_size", settings.metadata_bytes),
        ("grpc.absolute_max_metadata_size", settings.metadata_bytes),
    ]
