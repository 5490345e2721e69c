"""What each call needs: one table for gRPC, one for HTTP. What stands in neither takes the scope ``operate``."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import TypeAlias


class Scope(StrEnum):
    """What a token allows. None includes another."""

    PERCEIVE = "perceive"
    """To tell the mind something."""
    WATCH = "watch"
    """To read it: stream, traces, state."""
    OPERATE = "operate"
    """To change what it is: growth, nodes; and to speak to it as an operator."""
    FORWARD = "forward"
    """To say in whose name one calls, for quotas and the audit log: for processes that stand before the mind."""
    METRICS = "metrics"
    """To read figures (`/metrics`), which `watch` may as well: for whoever gathers them, and needs nothing else."""


class Free(StrEnum):
    """What takes no scope."""

    OPEN = "open"
    """Anybody may: probes ask without a token, and a browser before it has one."""
    TOKEN = "token"  # noqa: S105 - not one
    """Any token will do."""
    PROBE = "probe"
    """Anybody may; who may `watch` is told more."""
    FIGURES = "figures"
    """The scope ``metrics`` or ``watch``, unless ``access.open_metrics``."""


Need: TypeAlias = Scope | Free

_V1 = "/submind.v1."
_READS = {
    "ConsciousnessService": ("Watch", "Explain"),
    "EnvironmentService": ("Search", "GetTrace"),
    "MindService": ("GetStatus", "ListSubminds", "ListConnections", "ListConnectionChanges", "WatchConnectionChanges"),
    "GrowthService": ("GetPopulation", "ListGrowth", "WatchGrowth"),
    "NodeService": ("ListNodes",),
}
_ORDERS = {
    "GrowthService": ("Freeze", "Thaw", "Approve", "Reject"),
    "NodeService": ("DrainNode", "RestartSubmind"),
}

RPCS: dict[str, Need] = {
    f"{_V1}PerceptionService/Perceive": Scope.PERCEIVE,
    f"{_V1}PerceptionService/PerceiveStream": Scope.PERCEIVE,
    f"{_V1}ForwardService/Forward": Scope.PERCEIVE,
    f"{_V1}ForwardService/Allow": Scope.FORWARD,
    **{f"{_V1}{service}/{name}": Scope.WATCH for service, names in _READS.items() for name in names},
    **{f"{_V1}{service}/{name}": Scope.OPERATE for service, names in _ORDERS.items() for name in names},
    "/grpc.health.v1.Health/Check": Free.OPEN,
    "/grpc.health.v1.Health/Watch": Free.TOKEN,
    "/grpc.health.v1.Health/List": Free.OPEN,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Free.TOKEN,
}
"""Every method that is served to what it needs."""

ROUTES: dict[tuple[str, str], Need] = {
    ("GET", "/"): Free.OPEN,
    ("GET", "/openapi.json"): Free.OPEN,
    ("GET", "/healthz"): Free.OPEN,
    ("GET", "/readyz"): Free.PROBE,
    ("GET", "/metrics"): Free.FIGURES,
    ("GET", "/v1/session"): Free.OPEN,
    ("POST", "/v1/session"): Free.OPEN,
    ("DELETE", "/v1/session"): Free.OPEN,
    ("POST", "/v1/perceptions"): Scope.PERCEIVE,
    ("GET", "/v1/stream"): Scope.WATCH,
    ("GET", "/v1/stream/events"): Scope.WATCH,
    ("GET", "/v1/explain/{id}"): Scope.WATCH,
    ("GET", "/v1/search"): Scope.WATCH,
    ("GET", "/v1/traces"): Scope.WATCH,
    ("GET", "/v1/traces/{id}"): Scope.WATCH,
    ("GET", "/v1/subminds"): Scope.WATCH,
    ("GET", "/v1/connections"): Scope.WATCH,
    ("GET", "/v1/connections/history"): Scope.WATCH,
    ("GET", "/v1/connections/events"): Scope.WATCH,
    ("GET", "/v1/status"): Scope.WATCH,
    ("GET", "/v1/growth"): Scope.WATCH,
    ("GET", "/v1/growth/events"): Scope.WATCH,
    ("POST", "/v1/growth/freeze"): Scope.OPERATE,
    ("POST", "/v1/growth/thaw"): Scope.OPERATE,
    ("POST", "/v1/growth/{id}/approve"): Scope.OPERATE,
    ("POST", "/v1/growth/{id}/reject"): Scope.OPERATE,
}
"""Every route that is served, by method and template, to what it needs; files of the page are open besides."""

_FILES = "/static/"
_GUARDED = ("/v1", "/metrics")


def need_of_rpc(method: str) -> Need:
    """What a gRPC method (``/package.Service/Method``) needs."""
    return RPCS.get(method, Scope.OPERATE)


def need_of_route(method: str, path: str) -> Need:
    """What an HTTP request needs, by its method and path.

    What stands in no table takes the highest scope, also where it is not served: who has no token learns nothing of
    what there is, and a path that is routed otherwise than it is looked up here opens nothing.
    """
    asked = "GET" if method == "HEAD" else method
    for (known, pattern), need in _patterns().items():
        if known == asked and pattern.fullmatch(path):
            return need
    if path.startswith(_GUARDED):
        return Scope.OPERATE
    return Free.OPEN if asked in {"GET", "OPTIONS"} or path.startswith(_FILES) else Free.TOKEN


@cache
def _patterns() -> dict[tuple[str, re.Pattern[str]], Need]:
    """The routes with templates turned into what they match: literal ones first, as they are routed."""
    ordered = sorted(ROUTES.items(), key=lambda item: "{" in item[0][1])
    return {(method, _pattern(template)): need for (method, template), need in ordered}


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"(\{[a-z_]+\})", template)
    return re.compile("".join("[^/]+" if part.startswith("{") else re.escape(part) for part in parts))
