"""What it means that a leader ended an upload: it is lost, it refuses everybody alike, or one batch is at fault."""

import grpc
from google.rpc import error_details_pb2 as details

from environment.errors import StoreFull
from orchestration.access.errors import Forbidden
from orchestration.access.scopes import Scope
from orchestration.client.errors import Busy, Denied, Rejected, Unavailable, details_of, translate
from orchestration.front.errors import LeaderFailed
from orchestration.gateway.errors import OverQuota
from orchestration.schema.errors import InvalidRequest

_RATION = "gateway.intake.per_second"
_DISK = "disk"


class Lost(Exception):
    """The connection is of no use any more: what was under way is sent again, to whoever leads then."""


class LeaderRefused(Exception):
    """Nothing is taken in now, of anybody: ``error`` says why and when to come back."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def error_of(error: grpc.aio.AioRpcError, target: str, per_second: float) -> Lost | LeaderRefused | Exception:
    """``Lost``, ``LeaderRefused``, or what to tell whoever sent the batch that was not answered first.

    ``per_second``: the mind's quota of perceptions.
    """
    said = translate(error)
    match said:
        case Busy():
            return _busy(said, _subject(error), target, per_second)
        case Unavailable():
            return Lost(f"{target}: {said}")
        case Denied() if (scope := _scope(error)) not in {"", Scope.PERCEIVE.value}:  # what one batch says takes it
            return Forbidden("the token of this front", scope, "handing this on")
        case Denied():
            return Lost(f"{target} refuses the token of this front ({said}): see front.upstream.token_file")
        case Rejected():
            violations = said.violations
            return InvalidRequest.of(violations) if violations else InvalidRequest("", said.message)
    if error.code() in {grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.UNKNOWN, grpc.StatusCode.CANCELLED}:
        return Lost(f"{target} does not take perceptions in ({said}): is it the gRPC address of the mind's host?")
    return LeaderFailed(target, said.code, said.message)


def _busy(said: Busy, subject: str, target: str, per_second: float) -> Lost | LeaderRefused:
    after = said.retry_after or 1.0
    if subject == _RATION:
        return LeaderRefused(OverQuota(_RATION, per_second, after))
    if subject == _DISK:
        return LeaderRefused(StoreFull(said.message, after))
    return Lost(f"{target}: {said}")


def _scope(error: grpc.aio.AioRpcError) -> str:
    """Which scope a token does not have; empty where it is not about that."""
    for detail in details_of(error):
        info = details.ErrorInfo()
        if detail.Unpack(info) and info.reason == "SCOPE_REQUIRED":
            return str(info.metadata["scope"])
    return ""


def _subject(error: grpc.aio.AioRpcError) -> str:
    """Which quota was used up."""
    for detail in details_of(error):
        quota = details.QuotaFailure()
        if detail.Unpack(quota) and quota.violations:
            return str(quota.violations[0].subject)
    return ""
