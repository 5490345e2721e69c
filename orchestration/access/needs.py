"""What each call needs: the schema's own as the proto files say, and the few beside them. All else: ``operate``."""

import re
from functools import cache

from orchestration.access.scopes import Free, Need, Scope
from orchestration.schema.methods import METHODS

RPCS: dict[str, Need] = {
    **{name: Scope(method.scope) for name, method in METHODS.items()},
    "/grpc.health.v1.Health/Check": Free.OPEN,
    "/grpc.health.v1.Health/Watch": Free.TOKEN,
    "/grpc.health.v1.Health/List": Free.OPEN,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Free.TOKEN,
}
"""Every method that is served to what it needs."""

ROUTES: dict[tuple[str, str], Need] = {
    ("GET", "/"): Free.OPEN,
    ("GET", "/openapi.json"): Free.OPEN,
    ("GET", "/static/faculties.js"): Free.OPEN,
    ("GET", "/healthz"): Free.OPEN,
    ("GET", "/readyz"): Free.PROBE,
    ("GET", "/metrics"): Free.FIGURES,
    ("GET", "/v1/session"): Free.OPEN,
    ("POST", "/v1/session"): Free.OPEN,
    ("DELETE", "/v1/session"): Free.OPEN,
    **{(method.verb, method.path): Scope(method.scope) for method in METHODS.values() if method.path},
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
