"""How errors look to a caller: a standard code, and details (google.rpc) that name the field, the time or the quota."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc
import structlog
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc import error_details_pb2 as details
from google.rpc.status_pb2 import Status

from actors.substrate.errors import SubstrateUnavailable
from environment.errors import StoreBroken, StoreFull, StoreUnavailable
from environment.lineage import UnknownId
from environment.stores.erasing import UnderHold
from orchestration.access.errors import Forbidden, LoginThrottled, OverAllowance, Unauthenticated
from orchestration.gateway import errors
from orchestration.growth.errors import GrowthError
from orchestration.placement.errors import PlacementError
from orchestration.schema.errors import FieldViolation, InvalidRequest
from orchestration.schema.times import duration

DETAILS_KEY = "grpc-status-details-bin"
"""The trailing metadata under which gRPC carries a ``google.rpc.Status``."""
BEGAN = (("x-submind-began", "1"),)
"""The metadata with which a stream begins: who reads it knows that it was let in, long before there is an answer."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """What a caller is told of an error, over gRPC and over HTTP."""

    code: grpc.StatusCode
    status: int
    """Of HTTP."""
    kind: str
    """For programs that speak HTTP; over gRPC the details say it."""
    text: str
    details: Sequence[Message] = ()
    violations: tuple[FieldViolation, ...] = ()
    retry_after: float | None = None
    """Seconds after which it may be asked again."""
    quota: str = ""
    """The bound that was met."""

    def packed(self) -> bytes:
        """The details as gRPC carries them; empty where there are none."""
        rich = list(self.details)
        if self.violations:
            wrong = [details.BadRequest.FieldViolation(field=one.field, description=one.why) for one in self.violations]
            rich.append(details.BadRequest(field_violations=wrong))
        if self.retry_after is not None:
            rich.append(details.RetryInfo(retry_delay=duration(self.retry_after)))
        if self.quota:
            met = details.QuotaFailure.Violation(subject=self.quota, description=self.text)
            rich.append(details.QuotaFailure(violations=[met]))
        wrapped = [AnyMessage() for _ in rich]
        for one, detail in zip(wrapped, rich, strict=True):
            one.Pack(detail)
        return Status(code=self.code.value[0], message=self.text, details=wrapped).SerializeToString() if rich else b""


def _info(reason: str, **more: str) -> details.ErrorInfo:
    return details.ErrorInfo(reason=reason, domain="submind", metadata=more)


def _hyphened(reason: str) -> str:
    return reason.lower().replace("_", "-")


def describe(error: Exception) -> ErrorAnswer:
    """The answer to an error; what is not the caller's business is INTERNAL and says nothing."""
    code, text, told = grpc.StatusCode, str(error), ErrorAnswer
    match error:
        case InvalidRequest():
            return told(code.INVALID_ARGUMENT, 422, "invalid-field", text, violations=error.violations)
        case errors.IntakeBusy():
            waits = error.retry_after
            return told(code.RESOURCE_EXHAUSTED, 429, "busy", text, retry_after=waits, quota="gateway.intake.pending")
        case errors.TooMany():
            return told(code.RESOURCE_EXHAUSTED, 503, "too-many", text, retry_after=error.retry_after, quota=error.name)
        case errors.OverQuota() | OverAllowance():
            return told(
                code.RESOURCE_EXHAUSTED, 429, "over-quota", text, retry_after=error.retry_after, quota=error.quota
            )
        case errors.TooLarge():
            return told(code.RESOURCE_EXHAUSTED, 413, "too-large", text, quota=error.name)
        case StoreFull():
            return told(code.RESOURCE_EXHAUSTED, 503, "store-full", text, retry_after=error.retry_after, quota="disk")
        case errors.StandingBy():
            led = _info("STANDING_BY", leader=error.leader)
            return told(code.UNAVAILABLE, 503, "standing-by", text, [led], retry_after=error.retry_after)
        case StoreUnavailable():
            return told(code.UNAVAILABLE, 503, "store-unavailable", text, retry_after=error.retry_after)
        case SubstrateUnavailable():
            return told(code.UNAVAILABLE, 503, "substrate-unavailable", text, retry_after=error.retry_after)
        case errors.TooSlow():
            return told(code.ABORTED, 408, "too-slow", text, retry_after=1.0)
        case errors.Stopping():
            return told(code.UNAVAILABLE, 503, "stopping", text, retry_after=1.0)
        case errors.Aged():
            return told(code.UNAVAILABLE, 503, "aged", text, retry_after=0.0)
        case errors.Unknown():
            which = details.ResourceInfo(resource_type=error.kind, resource_name=error.name)
            return told(code.NOT_FOUND, 404, "unknown-id", text, [which])
        case UnknownId():
            return told(code.NOT_FOUND, 404, "unknown-id", text, [details.ResourceInfo(resource_name=error.wanted)])
        case UnderHold():
            return told(code.FAILED_PRECONDITION, 409, "held", text, [_info("HELD", hold=error.hold)])
        case PlacementError():
            return told(code.FAILED_PRECONDITION, 409, "placement", text, [_info("PLACEMENT")])
        case GrowthError():
            return told(code.FAILED_PRECONDITION, 409, _hyphened(error.reason), text, [_info(error.reason)])
        case Unauthenticated():
            return told(code.UNAUTHENTICATED, 401, _hyphened(error.reason), text, [_info(error.reason)])
        case Forbidden():
            needed = _info("SCOPE_REQUIRED", scope=error.scope)
            return told(code.PERMISSION_DENIED, 403, "scope-required", text, [needed])
        case LoginThrottled():
            return told(code.RESOURCE_EXHAUSTED, 429, "slow-down", text, retry_after=error.retry_after)
        case grpc.aio.InternalError():  # what was sent went nowhere: whoever called has gone
            return told(code.CANCELLED, 499, "gone", "the caller went away")
        case StoreBroken():
            _log.error("store_broken", path=error.path, reason=error.reason)
            why = "the mind's store cannot be used: the server's log says why"
            return told(code.INTERNAL, 500, "failed", why)
        case _:
            _log.error("call_failed", exc_info=error)
            return told(code.INTERNAL, 500, "failed", "the server failed to answer: its log says why")


async def abort(context: grpc.aio.ServicerContext[Any, Any], error: Exception) -> NoReturn:
    """End a call with what ``describe`` says."""
    told = describe(error)
    packed = told.packed()
    await context.abort(told.code, told.text, ((DETAILS_KEY, packed),) if packed else ())
    raise AssertionError("abort returned")
