"""What errors of etcd mean."""

from enum import StrEnum

from aetcd import ClientError, rpc

from orchestration.membership.errors import BadCoordination, CoordinationError, CoordinationUnavailable


class Fault(StrEnum):
    """What to do about an error."""

    REFUSED = "refused"
    """Nobody was reached: the request was surely not performed; ask another member."""
    SILENT = "silent"
    """No answer: the request may have been performed."""
    STALE = "stale"
    """The proof of who we are has run out: it was not performed; prove it again."""
    BAD = "bad"
    """It will never be performed."""


_STALE = ("invalid auth token", "revision of auth store is old")
_BAD = {
    "authentication failed": "etcd knows no such username and password: look at username and password_file",
    "authentication is not enabled": "etcd does not ask for a password: leave username and password_file out",
    "user name is empty": "etcd asks who we are: name username and password_file",
    "permission denied": "etcd does not let this user read and write under {prefix}: grant it readwrite there",
}
_NEVER_SENT = ("failed to connect to all addresses", "connection refused", "no leader", "name resolution", "dns")


def status_of(error: BaseException) -> tuple[rpc.StatusCode, str]:
    """The gRPC status behind an error, and its words."""
    cause = error.__cause__ if isinstance(error, ClientError) else error
    if isinstance(cause, rpc.AioRpcError):
        return cause.code(), cause.details() or ""
    return rpc.StatusCode.UNKNOWN, str(error)


def fault_of(error: BaseException) -> Fault:
    """What to do about it."""
    code, words = status_of(error)
    said = words.lower()
    if any(word in said for word in _STALE):
        return Fault.STALE
    if any(word in said for word in _BAD):
        return Fault.BAD
    if code is rpc.StatusCode.UNAVAILABLE and any(word in said for word in _NEVER_SENT):
        return Fault.REFUSED
    return Fault.SILENT


def coordination_error(error: BaseException, where: str, prefix: str, *, named: bool = True) -> CoordinationError:
    """The error as we raise it: one sentence. ``named``: whether we have said who we are."""
    code, words = status_of(error)
    if not named and "permission denied" in words:
        return BadCoordination(f"{where}: {_BAD['user name is empty']}")
    for sign, meaning in _BAD.items():
        if sign in words.lower():
            return BadCoordination(f"{where}: {meaning.format(prefix=prefix)}")
    if code is rpc.StatusCode.UNIMPLEMENTED or "http2 header" in words:
        return BadCoordination(f"what answers at {where} does not speak etcd's protocol: check the port")
    if code is rpc.StatusCode.DEADLINE_EXCEEDED:
        return CoordinationUnavailable(f"{where} does not answer in time")
    said = words.strip().splitlines()[0] if words.strip() else code.name.lower()
    return CoordinationUnavailable(f"{where} cannot be asked: {said.removeprefix('etcdserver: ')}")
