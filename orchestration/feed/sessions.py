"""Logging in to the page: a token is shown once, and a cookie stands for it from then on."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from orchestration.access.caller import Caller
from orchestration.access.errors import AccessError, Unauthenticated
from orchestration.access.scopes import Scope
from orchestration.feed.body import JSON, media_type, read_body
from orchestration.feed.context import FeedContext
from orchestration.feed.problems import invalid
from orchestration.feed.responses import one, refusals

_LONGEST = 8192
_PATIENCE = 5.0
"""Seconds for what one logs in with: anybody may send that."""


class LogIn(BaseModel):
    """What one logs in with."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    token: Annotated[str, Field(min_length=1, max_length=_LONGEST)]
    """A token with the scope `watch`."""


class SessionShape(BaseModel):
    """Who is logged in, where a token is required at all."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    required: bool
    """Whether a token is required."""
    name: str | None = None
    """Whose token it is; left out where nobody is logged in."""
    scopes: list[str] = []
    """What it allows."""


def sessions(feed: FeedContext) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/v1/session", tags=["session"])
    access = feed.access

    @router.get("", response_model=SessionShape, responses=refusals())
    async def who(request: Request) -> Response:
        """Who is logged in."""
        cookie = request.cookies.get(cookie_name(feed), "")
        try:
            return one(_told(await access.logged_in(cookie), required=access.required))
        except Unauthenticated:
            return one({"required": access.required, "scopes": []})

    @router.post(
        "",
        response_model=SessionShape,
        responses=refusals(408, 413, 415, 422, 429),
        openapi_extra={"requestBody": {"required": True, "content": {JSON: {"schema": LogIn.model_json_schema()}}}},
    )
    async def log_in(request: Request) -> Response:
        """Log in: the cookie of the answer stands for the token, in this browser and for this site only."""
        media_type(request)
        asked = _read(await read_body(request, feed, most=2 * _LONGEST, within=_PATIENCE))
        peer = request.client.host if request.client else ""
        try:
            caller = await access.login_throttle.attempt(peer, lambda: access.caller(f"Bearer {asked.token.strip()}"))
            caller.require(Scope.WATCH, "the page")
        except AccessError as error:
            access.refuse("log in", error, peer)
            raise
        answer = one(_told(caller, required=access.required))
        if access.required:
            cookie, seconds = access.sessions.begin(caller)
            _set(answer, feed, cookie, int(seconds))
            access.audit.often("log in", caller, peer=peer)
        return answer

    @router.delete("", response_model=SessionShape, responses=refusals())
    async def log_out(request: Request) -> Response:
        """Log out: the cookie is taken back, and what is open by it ends."""
        cookie = request.cookies.get(cookie_name(feed), "")
        try:
            peer = request.client.host if request.client else ""
            access.audit.often("log out", await access.logged_in(cookie), peer=peer)
        except Unauthenticated:
            pass  # was out already
        await access.log_out(cookie)
        answer = one({"required": access.required, "scopes": []})
        _set(answer, feed, "", 0)
        return answer

    return router


def _read(body: bytes) -> LogIn:
    try:
        return LogIn.model_validate_json(body)
    except ValidationError:
        raise invalid("token", 'the body is {"token": "..."}, with a token of at most 8192 characters') from None


def cookie_name(feed: FeedContext) -> str:
    """One of its own for every mind: browsers do not tell the ports of a machine apart."""
    return f"{'__Host-' if _secure(feed) else ''}submind-{feed.access.mind or 'mind'}"


def _secure(feed: FeedContext) -> bool:
    return feed.access.encrypted or feed.access.settings.session.secure == "always"


def _set(answer: Response, feed: FeedContext, cookie: str, seconds: int) -> None:
    answer.set_cookie(
        cookie_name(feed), cookie, max_age=seconds, path="/", secure=_secure(feed), httponly=True, samesite="strict"
    )


def _told(caller: Caller, *, required: bool) -> dict[str, object]:
    return {"required": required, "name": caller.name, "scopes": sorted(scope.value for scope in caller.scopes)}
