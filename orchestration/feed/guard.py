"""What stands before every route: ids, the token, who may ask from where, bounds, and the headers of every answer."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections import Counter
from contextlib import suppress
from http import HTTPStatus
from time import perf_counter
from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestration.access.caller import CALLER, NOBODY, PEER, Caller
from orchestration.access.errors import AccessError, LoginThrottled, Unauthenticated
from orchestration.access.gate import Access
from orchestration.access.needs import need_of_route
from orchestration.access.scopes import Free
from orchestration.access.scopes import Scope as Right
from orchestration.access.sessions import network_of
from orchestration.feed.connections import UNTIL
from orchestration.feed.figures import FeedFigures
from orchestration.feed.problems import Refusal, refusal_of
from orchestration.feed.settings import FeedSettings
from orchestration.gateway.auth import is_loopback
from orchestration.gateway.errors import TooLarge, TooMany
from orchestration.schema.methods import METHODS
from orchestration.telemetry.tracing.ids import called

_log = structlog.get_logger(__name__)

EVENT_PATHS = frozenset(method.path for method in METHODS.values() if method.gives_stream and method.path)
_UNCOUNTED = EVENT_PATHS | {"/healthz", "/readyz"}
"""Streams are bounded elsewhere; and whether the server is well must be told when it is busy, too."""
_LOG_IN = "/v1/session"
_SHOWN = 120
_API = "/v1"
_SAFE = frozenset({"GET", "HEAD"})
_HTTPS = "https://"
_FOREIGN = Refusal(403, "foreign-origin", "a page from elsewhere may not ask in your name")
_GONE = 499
"""Counted where the caller went away before there was an answer."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SECURITY = (
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
)


class RequestGuard:
    """ASGI middleware around the whole application.

    Where tokens are required, each route takes what ``access.scopes`` says. Elsewhere only this machine can connect,
    but a browser on it can be made to ask by any page it shows: then the host asked for must be a local one (or a
    configured one), and a request with an ``Origin`` must come from the page itself. So must whatever is asked by
    somebody who is logged in: a browser sends the cookie whoever makes it ask.
    """

    def __init__(self, app: ASGIApp, settings: FeedSettings, access: Access, figures: FeedFigures, cookie: str) -> None:
        """``cookie``: the name of the one that stands for a token."""
        self._app = app
        self._cookie = cookie
        self._secure = cookie.startswith("__Host-")
        self._settings = settings
        self._access = access
        self._figures = figures
        self._open = 0
        self._logging_in: Counter[str] = Counter()
        """Log-ins under way, by who they are of."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        answer = _Answer(send, request_id, scope["state"].get(UNTIL, math.inf))
        began = perf_counter()
        with called(Headers(scope=scope).get("traceparent", ""), request_id):
            try:
                await self._answer(scope, receive, answer)
            finally:
                self._count(scope, answer.status, perf_counter() - began)
                if action := scope["state"].get("audited"):
                    outcome = "done" if answer.status < HTTPStatus.BAD_REQUEST else f"answered {answer.status}"
                    self._access.audit.record(action, CALLER.get(), outcome, peer=_peer(scope), request=request_id)

    async def _answer(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        refusal = self._refuse(scope) or await self._admit(scope)
        if refusal is not None:
            await refusal.response(scope)(scope, receive, answer)
            return
        streaming = scope["path"] in _UNCOUNTED
        if scope["path"] == _LOG_IN and scope["method"] == "POST":
            await self._log_in(scope, receive, answer)
            return
        if not streaming and self._open >= self._settings.requests:
            self._figures.limit_hit("feed.requests")
            busy = refusal_of(TooMany("feed.requests", self._settings.requests, self._settings.retry_after))
            await busy.response(scope)(scope, receive, answer)
            return
        self._open += not streaming
        try:
            await self._app(scope, self._bounded(receive), answer)
        except Exception as error:
            _log.exception("request_failed", method=scope["method"], path=scope["path"])
            if answer.status != _GONE:  # an answer that has begun can only be broken off
                raise
            await refusal_of(error).response(scope)(scope, receive, answer)
        finally:
            self._open -= not streaming

    def _refuse(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        if (size := _head(scope)) > self._settings.header_bytes:  # what came at once was parsed, however large
            self._figures.limit_hit("feed.header_bytes")
            why = f"the head of this request has {size} bytes; feed.header_bytes allows {self._settings.header_bytes}"
            return Refusal(431, "head-too-large", why)
        if not scope["path"].isprintable():  # routes end with `$`, which stands before a line break as well
            return Refusal(400, "malformed-path", "a path has no control characters in it")
        if not self._access.required:
            refusal = self._refuse_stranger(headers)
            if refusal is not None:
                return refusal
        elif (
            "authorization" not in headers and scope["path"].startswith(_API) and _foreign(headers, secure=self._secure)
        ):
            return _FOREIGN
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdecimal() and int(length) > self._settings.body_bytes:
            self._figures.limit_hit("feed.body_bytes")
            return refusal_of(TooLarge("feed.body_bytes", int(length), self._settings.body_bytes))
        return None

    async def _admit(self, scope: Scope) -> Refusal | None:
        """Say who calls, or why they may not."""
        need = need_of_route(scope["method"], scope["path"])
        if need is Free.OPEN or (need is Free.FIGURES and self._access.settings.open_metrics):
            return None
        if need is Free.PROBE:
            await self._recognise(Headers(scope=scope))
            return None
        action = f"{scope['method']} {scope['path']}"[:_SHOWN]
        try:
            caller = await self._caller(Headers(scope=scope), scope["method"])
            if need is Free.FIGURES and Right.WATCH not in caller.scopes:
                caller.require(Right.METRICS, action)
            if isinstance(need, Right):
                caller.require(need, action)
        except AccessError as error:
            self._access.refuse(action, error, _peer(scope))
            return refusal_of(error)
        CALLER.set(caller)  # the route runs in this task
        PEER.set(_peer(scope))
        scope["state"]["audited"] = action if need is Right.OPERATE else ""
        return None

    async def _recognise(self, headers: Headers) -> None:
        """Say who calls, where that can be told."""
        if self._access.required:
            CALLER.set(NOBODY)
            if "authorization" in headers or "cookie" in headers:
                with suppress(AccessError):
                    CALLER.set(await self._caller(headers, "GET"))

    async def _caller(self, headers: Headers, method: str) -> Caller:
        authorization = headers.get("authorization")
        cookie = cookie_parser(headers.get("cookie", "")).get(self._cookie) if authorization is None else None
        if not cookie or not self._access.required:
            return await self._access.caller(authorization)
        if method not in _SAFE and "origin" not in headers:
            raise Unauthenticated("a browser says where a request comes from, and this one did not", "ORIGIN_REQUIRED")
        return await self._access.logged_in(cookie)

    async def _log_in(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        """Log-ins come from anybody: they have places of their own, so that they take nobody else's."""
        session, key = self._access.settings.session, network_of(_peer(scope))
        full: Exception | None = None
        if self._logging_in[key] >= session.under_way_each:
            self._figures.limit_hit("access.session.under_way_each")
            full = LoginThrottled(session.slowest or 1.0)
        elif self._logging_in.total() >= session.under_way:
            self._figures.limit_hit("access.session.under_way")
            full = TooMany("access.session.under_way", session.under_way, self._settings.retry_after)
        if full is not None:
            await refusal_of(full).response(scope)(scope, receive, answer)
            return
        self._logging_in[key] += 1
        try:
            await self._app(scope, receive, answer)
        finally:
            self._logging_in[key] -= 1
            if not self._logging_in[key]:
                del self._logging_in[key]

    def _bounded(self, receive: Receive) -> Receive:
        """As much of a body as one may have, also where its length was not said."""
        left = 2 * self._settings.body_bytes  # twice, so that routes that bound it themselves name the limit

        async def some() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise TooLarge("feed.body_bytes", 2 * self._settings.body_bytes - left, self._settings.body_bytes)
            return message

        return some

    def _refuse_stranger(self, headers: Headers) -> Refusal | None:
        asked = headers.get("host", "")
        if not self._is_ours(_hostname(asked)):
            why = "no token is required here, so only this machine may ask: use localhost or a name in feed.hosts"
            return Refusal(421, "foreign-host", why)
        return _FOREIGN if _foreign(headers) else None

    def _is_ours(self, host: str) -> bool:
        return is_loopback(host) or host.endswith(".localhost") or host in self._settings.hosts

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "")
        self._figures.request(scope["method"], route or "(none)", status, None if route in EVENT_PATHS else seconds)
        _log.debug("request", method=scope["method"], path=scope["path"], status=status, seconds=round(seconds, 4))


class _Answer:
    """Sends an answer with the headers that every answer has."""

    def __init__(self, send: Send, request_id: str, until: float) -> None:
        """``until``: when its connection has lasted long enough; an answer after it says that it is the last."""
        self._send = send
        self._until = until
        self._request_id = request_id
        self.status = _GONE

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _SECURITY:
                headers.setdefault(name, value)
            headers["X-Request-Id"] = self._request_id
            if asyncio.get_running_loop().time() >= self._until:
                headers["Connection"] = "close"
        await self._send(message)


def _head(scope: Scope) -> int:
    """About how many bytes the head of a request took: what is said in it, less what stands between."""
    asked = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
    return asked + sum(len(name) + len(value) for name, value in scope["headers"])


def _hostname(host: str) -> str:
    """The name in a ``Host`` header, without port and brackets, in small letters; empty when it is malformed."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _foreign(headers: Headers, *, secure: bool = False) -> bool:
    """Whether a browser asks because a page from elsewhere made it. ``secure``: the page itself comes by https."""
    origin = headers.get("origin")
    if origin is not None and not (_same(origin, headers.get("host", "")) and (not secure or origin[:8] == _HTTPS)):
        return True
    return headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode", "navigate") != "navigate"


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _same(origin: str, host: str) -> bool:
    scheme, _, rest = origin.partition("://")
    return scheme in {"http", "https"} and rest.lower() == host.lower()
