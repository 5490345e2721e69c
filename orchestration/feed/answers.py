"""Answers with JSON, made off the event loop where there is much of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from starlette.responses import Response

from orchestration.feed.problems import MEDIA_TYPE, Problem
from orchestration.view import shapes
from orchestration.view.json import JsonObject, dumps

T = TypeVar("T")

_MANY = 64
"""Objects; more are turned into JSON in a worker thread."""
_NO_STORE = {"Cache-Control": "no-store"}


class Answered(BaseModel):
    """Base of the envelopes, which exist for the schema only."""


class Entries(Answered):
    """A stretch of the stream."""

    entries: list[shapes.EntryShape]
    head: int
    """The last sequence number there is."""


class Hits(Answered):
    """What was found."""

    hits: list[shapes.HitShape]


class Revisions(Answered):
    """A trace at all its versions, oldest first."""

    revisions: list[shapes.TraceShape]


class Traces(Answered):
    """Live traces, most salient first."""

    traces: list[shapes.TraceShape]


class Subminds(Answered):
    """The actors of a mind."""

    subminds: list[shapes.ReportShape]
    next_page_token: str
    """What to ask for next, as ``page_token``; empty when this is the last page."""


class Connections(Answered):
    """Connections, strongest first."""

    connections: list[shapes.ConnectionShape]
    total: int | None = None
    """How many there are, where a ``limit`` was asked for."""
    next_page_token: str
    """What to ask for next, as ``page_token``; empty when this is the last page."""


class Changes(Answered):
    """Changes of connections, newest first."""

    changes: list[shapes.ChangeShape]
    older: str
    """What to ask for next, as ``before``; empty when there is nothing older."""


class Status(shapes.StatusShape):
    """How the mind is, and what time it is to it."""

    now: str
    """Mind time: the wall's, or behind it while the mind catches up with the past."""


class Receipts(Answered):
    """The answer to a batch of perceptions, in its order."""

    receipts: list[shapes.ReceiptShape]


def one(value: JsonObject, status: int = 200) -> Response:
    """One small object."""
    return Response(dumps(value), status, _NO_STORE, "application/json")


async def many(name: str, items: Sequence[T], form: Callable[[T], JsonObject], **more: Any) -> Response:
    """A list of objects under ``name``, and what else there is to say."""

    def write() -> str:
        return dumps({name: [form(item) for item in items], **more})

    text = await asyncio.to_thread(write) if len(items) > _MANY else write()
    return Response(text, 200, _NO_STORE, "application/json")


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
