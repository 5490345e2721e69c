"""What happens as server-sent events: the stream of consciousness, and the life of connections. Resumable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

import structlog
from fastapi import APIRouter, Header, Query
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from environment.messages import ConnectionChange, EntryKind, StreamEntry
from orchestration.access.caller import CALLER
from orchestration.access.errors import OverAllowance
from orchestration.feed.answers import refusals
from orchestration.feed.context import FeedContext
from orchestration.feed.problems import invalid, refusal_of
from orchestration.feed.reads import Kinds, Topic
from orchestration.gateway.errors import Stopping, TooMany
from orchestration.view.changes import ChangeFilter
from orchestration.view.json import change_json, dumps, entry_json
from orchestration.view.tail import EntryFilter

_log = structlog.get_logger(__name__)

T = TypeVar("T")

_RETRY_MS = 1000
_LAST = 2**63 - 1
"""The highest number that a store can hold."""
_EVENT_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `thought` and `segue`: `id` is the number, `data` the entry; comments are heartbeats.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
_CHANGE_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events named by the kind of change: `id` is its mark, `data` says it; comments are heartbeats.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}

First = Annotated[int, Query(alias="from", ge=0, le=_LAST, description="The first number; 0: only what is new.")]
LastEventId = Annotated[
    str | None, Header(alias="Last-Event-ID", max_length=32, description="The last number seen; goes before `from`.")
]


def events(feed: FeedContext) -> APIRouter:
    """The routes that do not end."""
    router = APIRouter(prefix="/v1")

    @router.get(
        "/stream/events", tags=["stream"], response_class=Response, responses={**refusals(422), **_EVENT_STREAM}
    )
    async def stream_events(
        first: First = 0,
        last_event_id: LastEventId = None,
        kind: Annotated[list[EntryKind], Query(description="Only these kinds; may be given twice.")] = [],  # noqa: B006
        min_salience: Annotated[float, Query(ge=0, le=1, description="Only entries at least so salient.")] = 0.0,
        source: Annotated[str, Query(max_length=256, description="Only entries resting on this source.")] = "",
        contains: Annotated[str, Query(max_length=1024, description="Only texts with this in them.")] = "",
    ) -> Response:
        """The stream as it happens, from a number on: no gap, no repeat, for as long as the reader stays.

        Its first event has no data: its `id` says where the stream begins, so that who is cut off before anything
        came goes on from there.
        """
        start = first if not last_event_id else _after(last_event_id)
        wants = EntryFilter(frozenset(kind), min_salience, source, contains)

        async def begin() -> str:
            return str((start or await feed.tail.head() + 1) - 1)

        told = _Told(
            begin=begin,
            follow=lambda mark: feed.tail.batches(int(mark) + 1),
            wants=wants.matches,
            mark=lambda entry: str(entry.seq),
            form=_entry,
        )
        return _EventStream(feed, _events(feed, "the stream of consciousness", told))

    @router.get(
        "/connections/events", tags=["mind"], response_class=Response, responses={**refusals(422), **_CHANGE_STREAM}
    )
    async def connection_events(
        owner: Annotated[str, Query(max_length=256, description="Only this submind's.")] = "",
        topic: Topic = "",
        kind: Kinds = [],  # noqa: B006
        after: Annotated[str, Query(max_length=1024, description="The last mark seen; empty: only what is new.")] = "",
        last_event_id: Annotated[
            str, Header(alias="Last-Event-ID", max_length=1024, description="The same; goes before `after`.")
        ] = "",
    ) -> Response:
        """What happens to connections, as it is written; each once, those of one submind in order."""
        start = last_event_id or after
        if start:
            try:  # a mark is the store's: only it can tell
                await feed.stores.registry.written(start, 1)
            except ValueError as error:
                raise invalid("Last-Event-ID" if last_event_id else "after", str(error)) from None
        wants = ChangeFilter(owner, topic, frozenset(kind))
        tail = feed.view.change_tail

        async def begin() -> str:
            return start or await tail.position()

        told = _Told(
            begin=begin,
            follow=lambda mark: tail.follow(after=mark),
            wants=wants.matches,
            mark=lambda change: change.mark,
            form=_change,
        )
        return _EventStream(feed, _events(feed, "the life of connections", told))

    return router


class _EventStream(EventSourceResponse):
    """The answer to one reader: counted while it lasts, refused where as many as may are open."""

    def __init__(self, feed: FeedContext, happening: AsyncIterator[ServerSentEvent]) -> None:
        super().__init__(
            happening,
            ping=feed.settings.heartbeat,
            ping_message_factory=lambda: ServerSentEvent(comment="alive", sep="\n"),
            send_timeout=feed.settings.reader_timeout,
            sep="\n",
            headers={"Connection": "close"} if feed.age else None,  # so that the next one may come to another server
        )
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        feed, settings = self._feed, self._feed.settings
        if feed.closing.is_set() or feed.streams >= settings.streams:
            refused: Exception = Stopping()
            if not feed.closing.is_set():
                feed.figures.limit_hit("feed.streams")
                refused = TooMany("feed.streams", settings.streams, settings.retry_after)
            await refusal_of(refused).response(scope)(scope, receive, send)
            return
        feed.streams += 1
        feed.figures.streams.set(feed.streams)
        try:
            with feed.access.quotas.stream(CALLER.get()):
                await super().__call__(scope, receive, send)
        except OverAllowance as error:
            await refusal_of(error).response(scope)(scope, receive, send)
        except SendTimeoutError:
            _log.info("reader_ended", why=f"it took nothing for {settings.reader_timeout:g} s")
        finally:
            feed.streams -= 1
            feed.figures.streams.set(feed.streams)


@dataclass(frozen=True)
class _Told(Generic[T]):
    """What one reader is told."""

    begin: Callable[[], Awaitable[str]]
    """The id behind which it begins; empty where nothing has happened that could have one."""
    follow: Callable[[str], AsyncGenerator[list[T], None]]
    """All that happens behind an id (empty: from now on), as it happens."""
    wants: Callable[[T], bool]
    mark: Callable[[T], str]
    """The id of it."""
    form: Callable[[FeedContext, T], ServerSentEvent]


async def _events(feed: FeedContext, greeting: str, told: _Told[T]) -> AsyncIterator[ServerSentEvent]:
    """Everything that is wanted. A stream that is old ends once its reader has an id to go on from, and says it."""
    yield ServerSentEvent(comment=greeting, retry=_RETRY_MS, sep="\n")
    closing = asyncio.create_task(feed.closing.wait())
    old = asyncio.Event()
    timer = None if (lasts := feed.lasts()) is None else asyncio.get_running_loop().call_later(lasts, old.set)
    aging = asyncio.create_task(old.wait())
    try:
        with feed.access.lease(CALLER.get(), lambda _: closing.cancel()):
            seen = await _before(told.begin(), closing)
            if seen is None:
                return
            if seen:
                yield _reached(seen)
            async with aclosing(told.follow(seen)) as batches:
                while batch := await _before(anext(batches, None), closing, *([aging] if seen else [])):
                    for one in batch:
                        if closing.done():
                            return
                        if told.wants(one):
                            yield told.form(feed, one)
                    seen = told.mark(batch[-1])
            if seen and not closing.cancelled():
                yield _reached(seen)  # what was not wanted need not be looked at again
    finally:
        if timer is not None:
            timer.cancel()
        closing.cancel()
        aging.cancel()


def _reached(mark: str) -> ServerSentEvent:
    """Where the reader is: taken as its ``Last-Event-ID``, and by its program not noticed, for there is no data."""
    return ServerSentEvent(id=mark, sep="\n")


def _entry(feed: FeedContext, entry: StreamEntry) -> ServerSentEvent:
    feed.figures.entries.inc()
    return ServerSentEvent(dumps(entry_json(entry)), event=entry.kind.value, id=str(entry.seq), sep="\n")


def _change(feed: FeedContext, change: ConnectionChange) -> ServerSentEvent:  # noqa: ARG001 - like an entry's
    return ServerSentEvent(dumps(change_json(change)), event=change.kind.value, id=change.mark, sep="\n")


async def _before(what: Awaitable[T], *ends: asyncio.Task[Literal[True]]) -> T | None:
    """What is awaited; None where one of ``ends`` came first."""
    step = asyncio.ensure_future(what)
    try:
        await asyncio.wait({step, *ends}, return_when=asyncio.FIRST_COMPLETED)
        return step.result() if step.done() and not any(end.done() for end in ends) else None
    finally:
        if not step.done():  # wait for it to stop: a generator that still runs cannot be closed
            step.cancel()
            await asyncio.wait({step})


def _after(last_event_id: str) -> int:
    if not (last_event_id.isascii() and last_event_id.isdecimal() and int(last_event_id) < _LAST):
        raise invalid("Last-Event-ID", "the number of the last entry seen, for example 17")
    return int(last_event_id) + 1
