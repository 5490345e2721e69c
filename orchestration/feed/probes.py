"""What machines ask: is the process alive, is the mind ready, what are its figures."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from inspect import getdoc
from time import monotonic
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from environment.errors import SubliminalError
from environment.ports import WriteState
from environment.stores.paging import PROBE
from orchestration.access.caller import CALLER
from orchestration.access.scopes import Scope as Right
from orchestration.feed.context import FeedContext
from orchestration.feed.figures import Rendering
from orchestration.feed.problems import MEDIA_TYPE, Problem, Refusal
from orchestration.feed.responses import one
from orchestration.view.status import MindState


class Liveness(BaseModel):
    """Whether the process is alive."""

    status: str


class Readiness(BaseModel):
    """Whether the mind takes in and thinks."""

    ready: bool
    state: str = ""
    """How the mind is; left out, like the reasons, for whoever may not watch it."""
    reasons: list[str] = []
    """Why it is not ready, or not wholly well."""


class NotReady(Problem, Readiness):
    """Why it does not, as a problem."""


_NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {
        "description": "Not ready.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{NotReady.__name__}"}}},
    }
}
_ASK = "not ready: who shows a token that may `watch` is told why"


def _told(request: Request, found: Readiness) -> Response:
    """The answer to a probe. Why it is as it is names subminds and stores: that is for whoever may watch."""
    seen = Right.WATCH in CALLER.get().scopes
    more: dict[str, Any] = {"state": found.state, "reasons": found.reasons} if seen else {}
    if found.ready:
        return one({"ready": True, **more})
    why = ("; ".join(found.reasons) or f"the mind is {found.state}") if seen else _ASK
    return Refusal(503, "not-ready", why).response(request.scope, ready=False, **more)


def probing(
    feed: FeedContext,
    ready: Callable[[], Awaitable[Readiness]],
    shown: Callable[[Mapping[str, float]], Awaitable[Rendering]],
) -> APIRouter:
    """``/healthz``, ``/readyz`` and ``/metrics``; the last two answer, and describe themselves, as these do.

    ``ready``: whether, while the server does not stop. ``shown``: takes in figures of the process, and renders all.
    """
    router = APIRouter(tags=["health"])

    @router.get("/healthz", response_model=Liveness)
    async def healthz() -> Response:
        """Alive: this process answers. Says nothing of the mind."""
        return one({"status": "alive"})

    @router.get("/readyz", response_model=Readiness, responses=_NOT_READY, description=getdoc(ready))
    async def readyz(request: Request) -> Response:
        found = await ready()
        if feed.lifetimes.stopping:
            found = Readiness(ready=False, state=found.state, reasons=["the server is stopping", *found.reasons])
        return _told(request, found)

    @router.get("/metrics", response_class=PlainTextResponse, description=getdoc(shown))
    async def metrics(request: Request) -> Response:
        render = await shown({**feed.intake.figures(), **feed.more_figures()})
        text, media_type = await asyncio.to_thread(render, request.headers.get("accept", ""))
        return Response(text, media_type=media_type)

    return router


def probes(feed: FeedContext) -> APIRouter:
    """What machines ask a mind."""
    writable = _Writable(feed)

    async def ready() -> Readiness:
        """Ready: the store can be written and the mind runs. If not, why, where who asks may watch the mind."""
        refused = await writable.why_not()
        try:
            status = await feed.view.status()
            state, reasons = status.state.value, list(status.reasons)
            runs = status.state in {MindState.RUNNING, MindState.DEGRADED}
        except SubliminalError as error:
            state, reasons, runs = MindState.DOWN.value, [f"the store cannot be read: {error}"], False
        if refused:
            reasons.insert(0, f"the store cannot be written: {refused}")
        return Readiness(ready=runs and not refused, state=state, reasons=reasons)

    async def shown(more: Mapping[str, float]) -> Rendering:
        """Prometheus figures of the host process and of every actor of the mind."""
        status = await feed.view.status()
        reports = await feed.view.subminds()
        return feed.figures.show(status, reports, more, feed.intake.now())

    return probing(feed, ready, shown)


class _Writable:
    """Tries to write, not more often than configured."""

    def __init__(self, feed: FeedContext) -> None:
        self._feed = feed
        self._lock = asyncio.Lock()
        self._tried = -float("inf")
        self._why_not = ""

    async def why_not(self) -> str:
        """Why the store cannot be written; empty when it can."""
        async with self._lock:
            if monotonic() - self._tried >= self._feed.settings.probe_every:
                try:
                    await self._feed.stores.commit([WriteState(PROBE, b"")])
                    self._why_not = ""
                except SubliminalError as error:
                    self._why_not = str(error)
                self._tried = monotonic()
            return self._why_not
