"""How errors look to a caller: a standard code, and details (google.rpc) that name the field, the time or the quota."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import grpc
import structlog
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc import error_details_pb2 as details
from google.rpc.status_pb2 import Status

from environment.errors import StoreBroken, StoreFull, StoreUnavailable
from environment.lineage import UnknownId
from orchestration.access.errors import Forbidden, OverAllowance, Unauthenticated
from orchestration.gateway.encode import duration
from orchestration.gateway.errors import (
    Aged,
    IntakeBusy,
    InvalidRequest,
    OverQuota,
    StandingBy,
    Stopping,
    TooLarge,
    TooMany,
    TooSlow,
    Unknown,
)
from orchestration.growth.errors import GrowthError
from orchestration.placement.errors import PlacementError

DETAILS_KEY = "grpc-status-details-bin"
"""The trailing metadata under which gRPC carries a ``google.rpc.Status``."""
BEGAN = (("x-submind-began", "1"),)
"""The metadata with which a stream begins: who reads it knows that it was let in, long before there is an answer."""

_log = structlog.get_logger(__name__)


def _retry(after: float) -> details.RetryInfo:
    return details.RetryInfo(retry_delay=duration(after))


def _quota(subject: str, description: str) -> details.QuotaFailure:
    return details.QuotaFailure(violations=[details.QuotaFailure.Violation(subject=subject, description=description)])


def _bad_request(error: InvalidRequest) -> details.BadRequest:
    violations = [
        details.BadRequest.FieldViolation(field=violation.field, description=violation.why)
        for violation in error.violations
    ]
    return details.BadRequest(field_violations=violations)


def describe(error: Exception) -> tuple[grpc.StatusCode, str, Sequence[Message]]:
    """Code, message and details for an error; what is not the caller's business is INTERNAL and says nothing."""
    code, text = grpc.StatusCode, str(error)
    match error:
        case InvalidRequest():
            return code.INVALID_ARGUMENT, text, [_bad_request(error)]
        case IntakeBusy():
            return code.RESOURCE_EXHAUSTED, text, [_retry(error.retry_after), _quota("gateway.intake.pending", text)]
        case TooMany() | OverQuota():
            return code.RESOURCE_EXHAUSTED, text, [_retry(error.retry_after), _quota(error.name, text)]
        case TooLarge():
            return code.RESOURCE_EXHAUSTED, text, [_quota(error.name, text)]
        case StoreFull():
            return code.RESOURCE_EXHAUSTED, text, [_retry(error.retry_after), _quota("disk", text)]
        case StandingBy():
            led = details.ErrorInfo(reason="STANDING_BY", domain="submind", metadata={"leader": error.leader})
            return code.UNAVAILABLE, text, [_retry(error.retry_after), led]
        case StoreUnavailable():
            return code.UNAVAILABLE, text, [_retry(error.retry_after)]
        case TooSlow():
            return code.ABORTED, text, [_retry(1.0)]
        case Stopping():
            return code.UNAVAILABLE, text, [_retry(1.0)]
        case Aged():
            return code.UNAVAILABLE, text, [_retry(0.0)]
        case Unknown():
            return code.NOT_FOUND, text, [details.ResourceInfo(resource_type=error.kind, resource_name=error.name)]
        case UnknownId():
            return code.NOT_FOUND, text, [details.ResourceInfo(resource_name=error.wanted)]
        case PlacementError():
            return code.FAILED_PRECONDITION, text, [details.ErrorInfo(reason="PLACEMENT", domain="submind")]
        case GrowthError():
            return code.FAILED_PRECONDITION, text, [details.ErrorInfo(reason=error.reason, domain="submind")]
        case Unauthenticated():
            return code.UNAUTHENTICATED, text, [details.ErrorInfo(reason=error.reason, domain="submind")]
        case Forbidden():
            needed = details.ErrorInfo(reason="SCOPE_REQUIRED", domain="submind", metadata={"scope": error.scope})
            return code.PERMISSION_DENIED, text, [needed]
        case OverAllowance():
            return code.RESOURCE_EXHAUSTED, text, [_retry(error.retry_after), _quota(error.quota, text)]
        case grpc.aio.InternalError():  # what was sent went nowhere: whoever called has gone
            return code.CANCELLED, "the caller went away", []
        case StoreBroken():
            _log.error("store_broken", path=error.path, reason=error.reason)
            return code.INTERNAL, "the mind's store cannot be used: the server's log says why", []
        case _:
            _log.error("call_failed", exc_info=error)
            return code.INTERNAL, "the server failed to answer: its log says why", []


async def abort(context: grpc.aio.ServicerContext[Any, Any], error: Exception) -> NoReturn:
    """End a call with what ``describe`` says."""
    code, text, rich = describe(error)
    packed = []
    for detail in rich:
        wrapped = AnyMessage()
        wrapped.Pack(detail)
        packed.append(wrapped)
    status = Status(code=code.value[0], message=text, details=packed)
    metadata = ((DETAILS_KEY, status.SerializeToString()),) if packed else ()
    await context.abort(code, text, metadata)
    raise AssertionError("abort returned")
