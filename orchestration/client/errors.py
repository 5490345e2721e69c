"""What a mind may answer instead. Each class says what to do about it; all survive pickling."""

import re
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2
from google.rpc.status_pb2 import Status

from environment.errors import FieldedError
from orchestration.gateway.error_answers import DETAILS_KEY
from orchestration.schema.errors import FieldViolation

_INDEX = re.compile(r"^perceptions\[(\d+)\]")

_CUT_OFF = "execute_batch"
"""How grpc.aio tells, as INTERNAL, that a message was written just when the call ended; why it ended is lost."""


class ClientError(FieldedError, Exception):
    """Root of this package's errors, and the one for what has no class of its own."""

    code: str
    """The standard name of the gRPC status, for example ``INTERNAL``."""
    message: str

    def __str__(self) -> str:
        return self.message


class Rejected(ClientError):
    """The request is wrong: correct what ``violations`` name. None of it was taken in."""

    violations: tuple[FieldViolation, ...] = ()

    def indexes(self) -> dict[int, str]:
        """Which perceptions of a batch are wrong, and why."""
        found: dict[int, str] = {}
        for violation in self.violations:
            match = _INDEX.match(violation.field)
            if match:
                field = violation.field[match.end() :].lstrip(".")
                found.setdefault(int(match[1]), f"{field}: {violation.why}" if field else violation.why)
        return found


class Unavailable(ClientError):
    """Nobody answers, or the store cannot write just now: try again after ``retry_after`` seconds, if it says so.

    Whether a perception was taken in is not known; sending it again with its idempotency key is safe.
    """

    retry_after: float | None = None


class Busy(Unavailable):
    """The mind is at one of its bounds, which ``message`` names: nothing was taken in, try again later."""


class Denied(ClientError):
    """A token is required, or this is not the right one."""


class NotFound(ClientError):
    """The mind holds nothing of that id: it never did, or it has been forgotten."""


class Closed(ClientError):
    """This client was closed, and what was under way with it: open another."""

    code: str = "CANCELLED"
    message: str = "this client was closed: open another"


def details_of(error: grpc.aio.AioRpcError) -> list[AnyMessage]:
    """The details (google.rpc) of a failed call; none where it has none."""
    metadata: Any = error.trailing_metadata() or ()  # the stubs do not know that it can be iterated
    for key, value in metadata:
        if key == DETAILS_KEY and isinstance(value, bytes):
            return list(Status.FromString(value).details)
    return []


def translate(error: grpc.aio.AioRpcError) -> ClientError:
    """What a failed call means."""
    code, message = error.code(), error.details() or error.code().name
    violations: list[FieldViolation] = []
    retry_after: float | None = None
    for detail in details_of(error):
        bad, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        if detail.Unpack(bad):
            violations += [FieldViolation(one.field, one.description) for one in bad.field_violations]
        elif detail.Unpack(retry):
            retry_after = retry.retry_delay.seconds + retry.retry_delay.nanos * 1e-9
    match code:
        case grpc.StatusCode.INVALID_ARGUMENT:
            return Rejected(code.name, message, tuple(violations))
        case grpc.StatusCode.RESOURCE_EXHAUSTED if retry_after is None:
            return Rejected(code.name, message, (FieldViolation("", message),))
        case grpc.StatusCode.RESOURCE_EXHAUSTED:
            return Busy(code.name, message, retry_after)
        case grpc.StatusCode.UNAVAILABLE | grpc.StatusCode.DEADLINE_EXCEEDED | grpc.StatusCode.ABORTED:
            return Unavailable(code.name, message, retry_after)
        case grpc.StatusCode.UNAUTHENTICATED | grpc.StatusCode.PERMISSION_DENIED:
            return Denied(code.name, message)
        case grpc.StatusCode.NOT_FOUND:
            return NotFound(code.name, message)
        case grpc.StatusCode.INTERNAL if _CUT_OFF in (error.debug_error_string() or ""):
            return Unavailable("UNAVAILABLE", "the call ended while something was being sent")
        case _:
            return ClientError(code.name, message)
