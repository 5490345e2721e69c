"""Reading a request's body within its bounds: in size, in time, in form."""

import asyncio

from starlette.requests import ClientDisconnect, Request

from orchestration.feed.context import FeedContext
from orchestration.feed.problems import Refusal, RefusedRequest
from orchestration.gateway.errors import TooLarge
from orchestration.schema.openapi import LINES

JSON = "application/json"


def media_type(request: Request, forms: tuple[str, ...] = (JSON,)) -> str:
    """The form of the body. Refuses what is none of ``forms`` (415)."""
    given, _, parameters = request.headers.get("content-type", "").partition(";")
    form = given.strip().lower()
    charset = parameters.replace(" ", "").replace('"', "").lower().partition("charset=")[2].partition(";")[0]
    if form not in forms or charset not in {"", "utf-8", "utf8"}:
        lines = f" (or {LINES[0]}: one perception a line)" if LINES[0] in forms else ""
        why = f"the body must be {JSON}{lines}, in UTF-8"
        raise RefusedRequest(Refusal(415, "unsupported-media-type", why, headers=(("Accept-Post", JSON),)))
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusedRequest(Refusal(415, "unsupported-encoding", "the body must not be compressed"))
    return form


async def read_body(
    request: Request, feed: FeedContext, *, most: int | None = None, within: float | None = None
) -> bytes:
    """The body. Refuses one that is larger than allowed, before all of it was read, or that does not arrive in time.

    ``most`` bytes ``within`` seconds, where that is less than the settings allow.
    """
    limit = min(feed.settings.body_bytes, most or feed.settings.body_bytes)
    seconds = min(feed.settings.body_timeout, within or feed.settings.body_timeout)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    feed.figures.limit_hit("feed.body_bytes")
                    raise TooLarge("feed.body_bytes", len(body), limit)
    except TimeoutError:
        why = f"the body did not arrive within the {seconds:g} s allowed"
        raise RefusedRequest(Refusal(408, "too-slow", why, headers=(("Connection", "close"),))) from None
    except ClientDisconnect:
        raise RefusedRequest(Refusal(400, "gone", "the caller went away before the body was there")) from None
    return bytes(body)
