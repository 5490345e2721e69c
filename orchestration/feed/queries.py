"""What may stand behind the question mark of a path: a misspelt filter is refused, not left out."""

from __future__ import annotations

from difflib import get_close_matches

from fastapi.routing import APIRoute
from starlette.requests import Request

from orchestration.feed.problems import invalid

_SHOWN = 64


async def known_queries(request: Request) -> None:
    """Refuse a request with a parameter that its route does not know, saying which it knows."""
    route = request.scope["route"]
    if not isinstance(route, APIRoute):
        return
    known = sorted(field.alias for field in route.dependant.query_params)
    for name in request.query_params:
        if name not in known:
            near = get_close_matches(name, known, 1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            takes = ", ".join(known) or "none"
            raise invalid(name[:_SHOWN], f"there is no such parameter: {meant}this path takes {takes}")
