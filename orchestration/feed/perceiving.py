"""Perceptions over HTTP: a batch as JSON, or one a line; answered when durable."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError
from starlette.requests import Request
from starlette.responses import Response

from environment.messages import Image, Instant, NewPerception
from orchestration.access.caller import CALLER
from orchestration.feed.body import JSON, LINES, media_type, read_body
from orchestration.feed.context import FeedContext
from orchestration.feed.problems import field_path
from orchestration.feed.responses import one, refusals
from orchestration.gateway import encode
from orchestration.gateway.errors import IntakeRejected
from orchestration.gateway.speaking import speaking
from orchestration.pb.submind.v1.perception_pb2 import PerceiveResponse
from orchestration.schema.errors import FieldViolation
from orchestration.schema.json import to_json
from orchestration.schema.times import instant

_OFFLOAD_ABOVE = 64 * 1024
_SHOWN = 16
_HERE = {"idempotency_key": "key", "payload": "text"}
"""What the intake calls a field, and what it is called here."""


def _time(value: object) -> object:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("time_form", "a time is text (RFC 3339) or a number of seconds since 1970")
    return instant(value)


def _bytes(value: str) -> str:
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        raise ValueError("an image is its file in base64, without line breaks") from None
    return value


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True, strict=True, frozen=True)


class ImageIn(_In):
    """An image as it is sent."""

    data: Annotated[str, AfterValidator(_bytes)]
    """The file, in base64."""
    media_type: str
    """For example ``image/png``."""


class PerceptionIn(_In):
    """Something perceived: exactly one of text, telemetry and image."""

    source: str
    """Who or what perceived it: a person, a host, a feed."""
    time: Annotated[float | None, BeforeValidator(_time, json_schema_input_type=str | float | None)] = None
    """Event time: RFC 3339, or seconds since 1970. Left out: now."""
    text: str | None = None
    telemetry: dict[str, float] | None = None
    """Named numbers."""
    image: ImageIn | None = None
    key: str | None = None
    """Idempotency key: the same key from the same source is taken in once."""
    labels: dict[str, str] = Field(default_factory=dict)

    def perception(self, received: Instant, trust: float) -> NewPerception:
        """The perception, as received."""
        image = Image(base64.b64decode(self.image.data), self.image.media_type) if self.image else None
        return NewPerception(
            source=self.source,
            time=received if self.time is None else self.time,
            received=received,
            text=self.text,
            telemetry=self.telemetry,
            image=image,
            key=self.key,
            labels=self.labels,
            trust=trust,
        )


class PerceptionsIn(_In):
    """A batch, taken in as a whole or not at all."""

    perceptions: list[PerceptionIn]


_ONE = TypeAdapter(PerceptionIn)


def perceptions(feed: FeedContext) -> APIRouter:
    """The one route."""
    router = APIRouter(prefix="/v1")
    body = {
        JSON: {"schema": {"$ref": f"#/components/schemas/{PerceptionsIn.__name__}"}},
        LINES[0]: {"schema": {"$ref": f"#/components/schemas/{PerceptionIn.__name__}"}},
    }

    @router.post(
        "/perceptions",
        tags=["perceptions"],
        responses=refusals(408, 413, 415, 422, 429),
        openapi_extra={"requestBody": {"required": True, "content": body}},
    )
    async def perceive(request: Request) -> Response:
        """Take in a batch of perceptions. Answered means durable; the receipts stand in the order of the batch."""
        form = media_type(request)
        data = await read_body(request, feed)
        parse = parse_batch if form == JSON else parse_lines
        received, trust_of = feed.intake.now(), feed.intake.trust_of

        def read() -> list[NewPerception]:
            return [each.perception(received, trust_of(each.source)) for each in parse(data)]

        batch = await asyncio.to_thread(read) if len(data) > _OFFLOAD_ABOVE else read()
        try:
            with speaking(feed.access, {each.source for each in batch}, request.client.host if request.client else ""):
                await feed.access.quotas.admit(CALLER.get(), len(batch), len(data))
                receipts = await feed.intake.accept(batch)
        except IntakeRejected as error:
            raise _renamed(error) from None
        return one(to_json(PerceiveResponse(receipts=encode.receipts(receipts))))

    return router


def parse_batch(data: bytes) -> Sequence[PerceptionIn]:
    """The batch in a JSON object. Raises ``IntakeRejected``, naming the fields."""
    try:
        return PerceptionsIn.model_validate_json(data).perceptions
    except ValidationError as error:
        raise _rejected(error.errors(include_url=False, include_input=False), "") from None


def parse_lines(data: bytes) -> Sequence[PerceptionIn]:
    """The batch in lines of JSON; empty lines are skipped. Raises ``IntakeRejected``, naming line and field."""
    batch: list[PerceptionIn] = []
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            batch.append(_ONE.validate_json(line))
        except ValidationError as error:
            errors = error.errors(include_url=False, include_input=False)
            raise _rejected(errors, f"perceptions[{len(batch)}]") from None
    return batch


def schemas() -> Mapping[str, Any]:
    """The schema of the body, for the interface's description."""
    made = PerceptionsIn.model_json_schema(ref_template="#/components/schemas/{model}")
    parts: dict[str, Any] = made.pop("$defs", {})
    return {**parts, PerceptionsIn.__name__: made}


def _rejected(errors: Sequence[ErrorDetails], prefix: str) -> IntakeRejected:
    found = []
    for error in errors[:_SHOWN]:
        path = field_path(error["loc"])
        field = f"{prefix}.{path}" if prefix and path else prefix or path
        why = error["msg"].removeprefix("Value error, ")
        found.append(FieldViolation(field or "body", why))
    return IntakeRejected.of(found)


def _renamed(error: IntakeRejected) -> IntakeRejected:
    """The same with the fields' names as they are here."""

    def here(violation: FieldViolation) -> FieldViolation:
        head, dot, last = violation.field.rpartition(".")
        return FieldViolation(head + dot + _HERE.get(last, last), violation.why)

    return IntakeRejected.of([here(violation) for violation in error.violations])
