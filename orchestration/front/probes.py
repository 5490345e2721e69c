"""What machines ask a front: is it alive, is it ready, what are its figures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from environment.errors import SubliminalError
from orchestration.feed.context import FeedContext
from orchestration.feed.probes import NOT_READY, Liveness, Readiness, told
from orchestration.feed.responses import one
from orchestration.view.status import MindState

PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


def front_probes(no_leader: Callable[[], str]) -> Callable[[FeedContext], APIRouter]:
    """``/healthz``, ``/readyz`` and ``/metrics`` of a front. ``no_leader``: why no leader takes anything in, if so."""

    def probing(feed: FeedContext) -> APIRouter:
        router = APIRouter(tags=["health"])

        @router.get("/healthz", response_model=Liveness)
        async def healthz() -> Response:
            """Alive: this process answers. Says nothing of the mind."""
            return one({"status": "alive"})

        @router.get("/readyz", response_model=Readiness, responses=NOT_READY)
        async def readyz(request: Request) -> Response:
            """Ready: the stores can be read. Whether anybody leads is told and does not count.

            A front without a leader has callers wait, and says when to come back; nobody would, were it taken out of
            service.
            """
            reasons: list[str] = []
            ready = not feed.lifetimes.stopping
            try:
                status = await feed.view.status()
                state, reasons = status.state.value, list(status.reasons)
                await feed.stores.perceptions.head()
            except SubliminalError as error:
                state, ready = MindState.DOWN.value, False
                reasons.insert(0, f"the store cannot be read: {error}")
            if why := no_leader():
                reasons.insert(0, f"no leader takes perceptions in: {why}")
            if feed.lifetimes.stopping:
                reasons.insert(0, "the server is stopping")
            return told(request, ready=ready, state=state, reasons=reasons)

        @router.get("/metrics", response_class=PlainTextResponse)
        async def metrics(request: Request) -> Response:
            """Prometheus figures of this process. Those of the mind are its host's to show: fronts are many."""
            more = {**feed.intake.figures(), **feed.more_figures()}
            render = feed.figures.show_own(more, feed.intake.now())
            text, media_type = await asyncio.to_thread(render, request.headers.get("accept", ""))
            return Response(text, media_type=media_type)

        return router

    return probing
