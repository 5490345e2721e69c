"""The feed as an application: everything over HTTP, put together."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from prometheus_client import CollectorRegistry
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from orchestration.access.gate import Access
from orchestration.access.settings import AccessSettings
from orchestration.faculties import page_places
from orchestration.feed.calls import routes
from orchestration.feed.context import FeedContext
from orchestration.feed.figures import FeedFigures
from orchestration.feed.guard import RequestGuard
from orchestration.feed.probes import NotReady, probes
from orchestration.feed.problems import Problem, install
from orchestration.feed.responses import refusals
from orchestration.feed.sessions import cookie_name, sessions
from orchestration.feed.settings import FeedSettings
from orchestration.gateway.intake import Intake
from orchestration.gateway.services import Handlers
from orchestration.gateway.uploads import take_in
from orchestration.schema.json import unknown_parameter
from orchestration.schema.methods import METHODS
from orchestration.schema.openapi import describe
from orchestration.view.mind import MindView

PAGE = Path(__file__).parent / "static"
_PERCEIVE = "/submind.v1.PerceptionService/Perceive"

_DESCRIPTION = """The stream of consciousness of a mind, what is behind it, and a way to tell the mind something.

Times are RFC 3339 in UTC. Texts are data from outside: escape them where they are shown. Errors are RFC 9457 problems.
Where a token is required it is sent as `Authorization: Bearer TOKEN`."""


def create_app(
    view: MindView,
    intake: Intake,
    handlers: Handlers,
    settings: FeedSettings | None = None,
    *,
    access: Access | None = None,
    version: str = "0",
    registry: CollectorRegistry | None = None,
    more_figures: Callable[[], Mapping[str, float]] = dict,
    page: Path = PAGE,
    probing: Callable[[FeedContext], APIRouter] = probes,
    per_submind: bool = False,
    age: float = 0.0,
) -> FastAPI:
    """The application. ``handlers``: what answers all but perceptions.

    ``access``: who may call; None only where nobody but this machine can connect.
    ``registry``: where Prometheus metrics are registered (one of its own when None); ``more_figures``: figures of
    the rest of the process for ``/metrics``, by name without prefix. ``probing``: what machines ask. ``per_submind``:
    whether each cognitive submind has metrics of its own.
    ``age``: seconds that connections and event streams last, where there are several servers; 0: without end.
    The parts given are used, not closed.
    """
    settings = settings or FeedSettings()
    access = access or Access(AccessSettings(), mind="", wall=intake.now)
    figures = FeedFigures(registry, view.mind, per_submind=per_submind)
    handlers = {**handlers, _PERCEIVE: partial(take_in, intake, access)}
    feed = FeedContext(view, intake, view.stores, settings, figures, access, more_figures, age=age)
    app = _Described(
        title="submind",
        version=version,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        secured=access.required,
        handlers=handlers,
    )
    app.state.feed = feed
    install(app)
    app.routes.extend(routes(feed, handlers))
    app.include_router(sessions(feed), dependencies=[Depends(_no_query)])
    app.include_router(probing(feed))  # machines that ask there may say more than is needed
    _serve_page(app, page)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=4)
    app.add_middleware(RequestGuard, settings=settings, access=access, figures=figures, cookie=cookie_name(feed))
    return app


async def _no_query(request: Request) -> None:
    """Refuse what stands behind the question mark of a path that takes nothing there."""
    for name in request.query_params:
        raise unknown_parameter(name, ())


class _Described(FastAPI):
    """Describes the calls of the schema, and what is read and written by hand."""

    def __init__(self, *, secured: bool, handlers: Handlers, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._secured = secured
        self._handlers = handlers

    def openapi(self) -> dict[str, Any]:
        """The interface as OpenAPI."""
        if self.openapi_schema is None:
            made = super().openapi()
            parts = made.setdefault("components", {}).setdefault("schemas", {})
            for problem in (Problem, NotReady):
                form = problem.model_json_schema(ref_template="#/components/schemas/{model}")
                parts.update(form.pop("$defs", {}))
                parts[problem.__name__] = form
            describe(made, [METHODS[name] for name in self._handlers], refusals)
            if self._secured:
                made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
                made["security"] = [{"token": []}]
            self.openapi_schema = made
        return self.openapi_schema


class _Page(StaticFiles):
    """Files that a browser keeps but asks after each time: a new version shows at once, an old one costs a 304."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _serve_page(app: FastAPI, page: Path) -> None:
    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return FileResponse(page / "index.html", media_type="text/html", headers={"Cache-Control": "no-cache"})

    @app.get("/static/faculties.js", include_in_schema=False)
    async def places() -> Response:
        script = f"export const PLACES = {json.dumps(page_places())};\n"
        return Response(script, media_type="text/javascript", headers={"Cache-Control": "no-cache"})

    app.mount("/static", _Page(directory=page), name="static")
