"""The calls of the schema over HTTP: paths and queries to requests, answers to JSON, streams to server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any

from google.protobuf.message import Message
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from orchestration.feed.body import JSON, media_type, read_body
from orchestration.feed.context import FeedContext
from orchestration.feed.events import EVENTS, EventStream
from orchestration.feed.responses import NO_STORE
from orchestration.gateway.services import Handler, Handlers
from orchestration.schema.errors import FieldViolation, InvalidRequest
from orchestration.schema.json import dumps, read_json, read_query, read_text, to_json, unknown_parameter
from orchestration.schema.methods import METHODS, Method
from orchestration.schema.openapi import LINES
from orchestration.schema.rules import check

_OFFLOAD_ABOVE = 64 * 1024
"""Bytes of a message; a larger one is turned into JSON, or read from it, in a worker thread."""
_LAST = "Last-Event-ID"
_PATIENCE = 4.0
"""Seconds that the last of several answers is waited for, where they are not told one by one."""


def routes(feed: FeedContext, handlers: Handlers) -> list[Route]:
    """Every call that is offered over HTTP; paths without a field go before those with one."""
    offered = [(METHODS[name], handler) for name, handler in handlers.items() if METHODS[name].path]
    return [_route(feed, *one) for one in sorted(offered, key=lambda one: "{" in one[0].path)]


def _route(feed: FeedContext, method: Method, handler: Handler) -> Route:
    call = _stream(feed, method, handler) if method.gives_stream else _unary(feed, method, handler)
    made = Route(method.path, call, methods=[method.verb], name=method.rpc, include_in_schema=False)
    made.methods = {method.verb}  # HEAD of a stream would have no end
    return made


def _unary(feed: FeedContext, method: Method, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def call(request: Request) -> Response:
        answer: Any = await handler(await _request(feed, method, request))
        told = getattr(answer, method.answered) if method.answered else answer
        large = told.ByteSize() > _OFFLOAD_ABOVE
        text = await asyncio.to_thread(_text, told) if large else _text(told)
        return Response(text, 200, NO_STORE, JSON)

    return call


def _text(message: Message) -> str:
    return dumps(to_json(message))


def _stream(feed: FeedContext, method: Method, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def call(request: Request) -> Response:
        last = request.headers.get(_LAST, "")
        try:
            answers: Any = await handler(await _request(feed, method, request, last))
        except InvalidRequest as error:
            raise _about_last(error) if last else error from None
        if not method.ends:
            return EventStream(feed, answers, method.answered)
        answer = await anext(answers)  # a refusal has its status
        if EVENTS in request.headers.get("accept", ""):
            return EventStream(feed, _from(answer, answers), method.answered)
        async with aclosing(answers):
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    async for better in answers:
                        answer = better
        return Response(_text(answer), 200, NO_STORE, JSON)

    return call


async def _from(first: Message, answers: AsyncGenerator[Message, None]) -> AsyncGenerator[Message, None]:
    async with aclosing(answers):
        yield first
        async for answer in answers:
            yield answer


def _about_last(error: InvalidRequest) -> InvalidRequest:
    """What is wrong with ``after`` is wrong with the header that it was taken from."""
    return InvalidRequest.of(
        [FieldViolation(_LAST if one.field == "after" else one.field, one.why) for one in error.violations]
    )


async def _request(feed: FeedContext, method: Method, request: Request, last: str = "") -> Message:
    """What is asked, held against the schema's rules. Raises ``InvalidRequest``, naming fields as JSON does."""
    request.scope["route"] = method  # by whose path requests are counted
    asked = method.request()
    known: Any = asked.DESCRIPTOR.fields_by_name
    for name, text in request.path_params.items():
        read_text(asked, known[name], name, text)
    if method.verb == "GET":
        read_query(asked, request.query_params.multi_items(), request.path_params)
    else:
        for name in request.query_params:
            raise unknown_parameter(name, ())
        form = media_type(request, (JSON, *LINES) if method.lines else (JSON,))
        lines = method.lines if form != JSON else ""
        body = await read_body(request, feed)
        if len(body) > _OFFLOAD_ABOVE:
            await asyncio.to_thread(read_json, asked, body, method.body, lines)
        else:
            read_json(asked, body, method.body, lines)
    if last:
        asked.ClearField("after")
        read_text(asked, known["after"], "after", last)
    if method.lines:
        return asked  # the intake holds what comes by the batch against all rules
    try:
        check(asked, as_json=True)
    except InvalidRequest as error:
        within = f"{method.body}."
        raise InvalidRequest.of(
            [FieldViolation(one.field.removeprefix(within), one.why) for one in error.violations]
        ) from None
    return asked
