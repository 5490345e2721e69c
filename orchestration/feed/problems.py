"""Errors as RFC 9457 problems: every answer that is not a success has this form and says what would be right."""

import math
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from actors.substrate.errors import SubstrateUnavailable
from environment.errors import StoreUnavailable
from environment.lineage import UnknownId
from environment.stores.erasing import UnderHold
from orchestration.access.errors import AccessError, Forbidden, Unauthenticated
from orchestration.gateway.error_answers import describe
from orchestration.gateway.errors import GatewayError
from orchestration.growth.errors import GrowthError
from orchestration.placement.errors import PlacementError
from orchestration.schema.errors import FieldViolation, InvalidRequest
from orchestration.schema.json import dumps

MEDIA_TYPE = "application/problem+json"
_TYPE = "urn:submind:problem:"
_SEND = "this server requires a token: send `Authorization: Bearer TOKEN`"
_NO_TOKEN = "TOKEN_REQUIRED"  # noqa: S105 - a reason
_log = structlog.get_logger(__name__)


class FieldError(BaseModel):
    """One thing wrong with one field."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    field: str
    """Its path, for example ``perceptions[3].time`` or ``limit``."""
    why: str
    """What is wrong and what would be right."""


class Problem(BaseModel):
    """Why a request was refused or failed (RFC 9457)."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    type: str
    """``urn:submind:problem:`` and the kind of problem, for programs."""
    title: str
    """The kind of problem, for people."""
    status: int
    """The HTTP status."""
    detail: str
    """What was wrong with this request."""
    instance: str | None = None
    """``urn:submind:request:`` and the request's id, as the log has it."""
    errors: list[FieldError] | None = None
    """The fields that are wrong."""
    retry_after: float | None = None
    """Seconds after which the same request may succeed; whole ones are in ``Retry-After``."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a problem is made of."""

    status: int
    kind: str
    """The end of its type."""
    detail: str
    errors: tuple[FieldViolation, ...] = ()
    retry_after: float | None = None
    headers: tuple[tuple[str, str], ...] = ()

    def response(self, scope: Scope, **members: Any) -> Response:
        """The answer to the request of ``scope``; ``members``: what it says besides (extension members)."""
        request_id = scope.get("state", {}).get("request_id")
        problem = Problem(
            type=_TYPE + self.kind,
            title=HTTPStatus(self.status).phrase,
            status=self.status,
            detail=self.detail,
            instance=f"urn:submind:request:{request_id}" if request_id else None,
            errors=[FieldError(field=error.field, why=error.why) for error in self.errors] or None,
            retry_after=self.retry_after,
        )
        headers = {"Cache-Control": "no-store", **dict(self.headers)}
        if self.retry_after is not None:
            headers["Retry-After"] = str(max(1, math.ceil(self.retry_after)))
        return Response(dumps({**problem.model_dump(exclude_none=True), **members}), self.status, headers, MEDIA_TYPE)


class RefusedRequest(Exception):
    """A request is answered with ``refusal``."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal

    def __str__(self) -> str:
        return self.refusal.detail


def invalid(field: str, why: str) -> RefusedRequest:
    """The refusal of one field."""
    return RefusedRequest(Refusal(422, "invalid-field", f"{field}: {why}", (FieldViolation(field, why),)))


def refusal_of(error: Exception) -> Refusal:
    """What a caller is told of an error; of an unforeseen one only that it happened."""
    match error:
        case RefusedRequest():
            return error.refusal
        case HTTPException():
            return _http(error)
        case _ if not isinstance(error, _FORESEEN):
            return Refusal(500, "failed", "the server failed to answer: its log says why, under the request's id")
    told = describe(error)
    why, challenge = told.text, ""
    if isinstance(error, Unauthenticated):
        challenge = 'Bearer realm="submind"'
        why = _SEND if error.reason == _NO_TOKEN else why
    if isinstance(error, Forbidden):
        challenge = f'Bearer realm="submind", error="insufficient_scope", scope="{error.scope}"'
    headers = (("WWW-Authenticate", challenge),) if challenge else ()
    return Refusal(told.status, told.kind, why, told.violations, told.retry_after, headers)


def install(app: FastAPI) -> None:
    """Make every error that can be foreseen a problem; the guard answers for the others."""

    async def answer(request: Request, error: Exception) -> Response:
        refusal = refusal_of(error)
        if isinstance(error, StoreUnavailable):
            _log.warning("store_refused", path=request.url.path, why=refusal.detail)
        return refusal.response(request.scope)

    for kind in _FORESEEN:
        app.add_exception_handler(kind, answer)


_FORESEEN: tuple[type[Exception], ...] = (
    HTTPException,
    RefusedRequest,
    InvalidRequest,
    GatewayError,
    AccessError,
    UnknownId,
    UnderHold,
    GrowthError,
    PlacementError,
    StoreUnavailable,
    SubstrateUnavailable,
)


def _http(error: HTTPException) -> Refusal:
    details = {
        404: "nothing is served under this path; /openapi.json lists what is",
        405: "this path does not take this method; /openapi.json lists those it takes",
    }
    kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    headers = tuple((error.headers or {}).items())
    return Refusal(error.status_code, kind, details.get(error.status_code, str(error.detail)), headers=headers)
