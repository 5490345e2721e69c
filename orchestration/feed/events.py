"""Streams of answers as server-sent events: resumable, bounded in number, ended with the token that asked."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import structlog
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from orchestration.access.caller import CALLER
from orchestration.access.errors import OverAllowance, Unauthenticated
from orchestration.feed.context import FeedContext
from orchestration.feed.problems import refusal_of
from orchestration.gateway.errors import Aged, Stopping, TooMany
from orchestration.schema.json import dumps, to_json

_log = structlog.get_logger(__name__)

_RETRY_MS = 1000
EVENTS = "text/event-stream"


class EventStream(EventSourceResponse):
    """The answer to one reader: counted while it lasts, refused where as many as may are open.

    An event's ``id`` is its mark, and what a reader goes on behind as ``Last-Event-ID``; ``data`` is the answer, the
    event its kind. One without data says where the reader is, the first of all where it begins.
    """

    def __init__(self, feed: FeedContext, answers: AsyncGenerator[Any, None], answered: str) -> None:
        """``answered``: the field of an answer that is told; empty: all of it, as an ``answer`` without a mark."""
        super().__init__(
            self._events(answers, answered),
            ping=feed.settings.heartbeat,
            ping_message_factory=lambda: ServerSentEvent(comment="alive", sep="\n"),
            send_timeout=feed.settings.reader_timeout,
            sep="\n",
            headers={"Connection": "close"} if feed.age else None,  # so that the next one may come to another server
        )
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        feed, settings = self._feed, self._feed.settings
        if feed.lifetimes.stopping or feed.streams >= settings.streams:
            refused: Exception = Stopping()
            if not feed.lifetimes.stopping:
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

    async def _events(self, answers: AsyncGenerator[Any, None], answered: str) -> AsyncIterator[ServerSentEvent]:
        """Every answer, for as long as the stream may last; it may end only once its reader knows where to go on."""
        yield ServerSentEvent(comment="from here on", retry=_RETRY_MS, sep="\n")
        try:
            with self._feed.lifetimes.begin() as life:
                async with aclosing(answers):
                    while True:
                        with life.within():
                            answer = await anext(answers)
                        mark = str(getattr(answer, "mark", ""))
                        if not answered or answer.HasField(answered):
                            self._feed.figures.entries.inc()
                            told = to_json(getattr(answer, answered) if answered else answer)
                            yield ServerSentEvent(
                                dumps(told), event=told.get("kind", "answer"), id=mark or None, sep="\n"
                            )
                        elif mark:
                            yield ServerSentEvent(id=mark, sep="\n")
                        if mark:
                            life.grow_old()
        except (StopAsyncIteration, Stopping, Aged, Unauthenticated):
            return
