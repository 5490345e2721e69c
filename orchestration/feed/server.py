"""Serving the feed inside an event loop that belongs to somebody else."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import structlog
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from orchestration.access.certificates import Certificates
from orchestration.feed.connection_limiter import ConnectionLimiter
from orchestration.feed.connections import connections_of
from orchestration.feed.context import FeedContext
from orchestration.feed.problems import Refusal
from orchestration.feed.settings import FeedSettings
from orchestration.gateway.auth import require_guard, split_listen
from orchestration.gateway.errors import CannotListen

_log = structlog.get_logger(__name__)
_BACKLOG = 512


class FeedServer:
    """An HTTP server for ``app``, in the running event loop; signals are left to whoever runs the process.

    ``start`` returns when connections are accepted; ``stop`` ends event streams, lets answers under way finish
    within the grace period, and releases the port. Both may be called again.
    """

    def __init__(self, app: FastAPI, settings: FeedSettings, only: frozenset[str] | None = None) -> None:
        """Speaks TLS where the access of ``app`` has certificates. Raises ``UnsafeListen``.

        ``only``: the paths that are served here, in plain text, where that is not all of them.
        """
        feed: FeedContext = app.state.feed
        require_guard(settings.listen, guarded=feed.access.required)
        self._certificates = feed.access.certificates if only is None else None
        self._app = app
        self._only = only
        self._settings = settings
        self._host, self._wanted = split_listen(settings.listen)
        self._server: _Quiet | None = None
        self._task: asyncio.Task[None] | None = None
        self.port = 0
        """The port listened on, also where a free one was asked for; 0 before the start."""

    @property
    def url(self) -> str:
        """Where a browser on this machine finds the page."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104 - compared, not bound
        scheme = "https" if self._certificates is not None else "http"
        return f"{scheme}://[{host}]:{self.port}/" if ":" in host else f"{scheme}://{host}:{self.port}/"

    async def start(self) -> None:
        """Listen. Raises ``CannotListen`` where the address cannot be had."""
        if self._task is not None:
            return
        listener = await asyncio.to_thread(self._bind)
        self.port = listener.getsockname()[1]
        feed: FeedContext = self._app.state.feed
        config = uvicorn.Config(
            self._app if self._only is None else Only(self._app, self._only),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(max(1, self._settings.idle_connection)),
            timeout_graceful_shutdown=int(max(1, self._settings.grace)),
            h11_max_incomplete_event_size=self._settings.header_bytes,
            http=connections_of(
                listener,
                self._settings.header_timeout,
                partial(self._limit_hit, "feed.header_timeout"),
                feed.lifetimes.lasts,
            ),
            backlog=_BACKLOG,
            ssl_context_factory=_encryption(self._certificates),
        )
        self._server = _Quiet(config, self._settings.handshake)
        self._task = asyncio.create_task(self._server.serve([listener]), name="feed")
        while not self._server.started:
            if self._task.done():
                await self._task
                raise RuntimeError("the HTTP server ended before it began")
            await asyncio.sleep(0.005)
        feed.lifetimes.stopping = False  # readers of event streams are answered last
        _log.info("feed_listening", url=self.url)

    async def stop(self) -> None:
        """Stop listening, and return when every connection is closed."""
        self._app.state.feed.lifetimes.stop()  # event streams end first
        if self._server is None or self._task is None:
            return
        self._server.should_exit = True
        await asyncio.wait({self._task})
        self._server = self._task = None

    def _limit_hit(self, limit: str) -> None:
        feed: FeedContext = self._app.state.feed
        feed.figures.limit_hit(limit)

    def _bind(self) -> ConnectionLimiter:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        listener = ConnectionLimiter(
            family, socket.SOCK_STREAM, socket.IPPROTO_TCP
        )  # named, else asyncio leaves Nagle on
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self._host, self._wanted))
        except OSError as error:
            listener.close()
            raise CannotListen(f"{self._settings.listen} for HTTP", error.strerror or str(error)) from error
        listener.setblocking(False)
        listener.attend(self._settings.connections, partial(self._limit_hit, "feed.connections"))
        return listener


def _encryption(certificates: Certificates | None) -> Callable[..., ssl.SSLContext] | None:
    return None if certificates is None else lambda *_: certificates.for_http()


class Only:
    """Some paths of an application; the others are not found."""

    def __init__(self, app: ASGIApp, paths: frozenset[str]) -> None:
        self._app = app
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._paths:
            await self._app(scope, receive, send)
            return
        why = f"only {', '.join(sorted(self._paths))} are served here"
        await Refusal(404, "not-found", why).response(scope)(scope, receive, send)


class _Quiet(uvicorn.Server):
    """A server that leaves the process's signal handlers alone."""

    def __init__(self, config: uvicorn.Config, handshake: float) -> None:
        """``handshake``: seconds that TLS may take."""
        super().__init__(config)
        self._handshake = handshake

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, of sockets that are there, but with a bound on the handshake."""
        config, loop = self.config, asyncio.get_running_loop()
        await self.lifespan.startup()

        def protocol() -> asyncio.Protocol:
            make: Callable[..., asyncio.Protocol] = config.http_protocol_class
            return make(config=config, server_state=self.server_state, app_state=self.lifespan.state)

        limit = self._handshake if config.ssl is not None else None
        self.servers = [
            await loop.create_server(
                protocol, sock=one, ssl=config.ssl, backlog=config.backlog, ssl_handshake_timeout=limit
            )
            for one in sockets or ()
        ]
        self.started = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
