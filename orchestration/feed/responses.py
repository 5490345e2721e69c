"""Answers with JSON, and how refusals are described."""

from typing import Any

from starlette.responses import Response

from orchestration.feed.problems import MEDIA_TYPE, Problem
from orchestration.schema.json import JsonObject, dumps

NO_STORE = {"Cache-Control": "no-store"}


def one(value: JsonObject, status: int = 200) -> Response:
    """One small object."""
    return Response(dumps(value), status, NO_STORE, "application/json")


_REFUSALS = {
    401: "A token is required.",
    403: "A page from elsewhere asks.",
    404: "Nothing of that id is known.",
    408: "The body took too long to arrive.",
    409: "What is ordered cannot be now.",
    413: "The body is too large.",
    415: "The body is in a form that is not read here.",
    422: "A field is wrong; `errors` names it.",
    429: "More perceptions are waiting than may wait; come back after `Retry-After` seconds.",
    503: "The store cannot be reached, or too many ask; come back after `Retry-After` seconds.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How a route documents its problems; those every route has are added."""
    return {
        status: {"description": _REFUSALS[status], "content": {MEDIA_TYPE: {"schema": PROBLEM_REF}}}
        for status in sorted({401, 403, 503, *statuses})
    }


PROBLEM_REF = {"$ref": f"#/components/schemas/{Problem.__name__}"}
