"""What the driver and the servers report, in the words of the stores."""

from cassandra import (
    AuthenticationFailed,
    DriverException,
    InvalidRequest,
    OperationTimedOut,
    ReadFailure,
    ReadTimeout,
    Unauthorized,
    Unavailable,
    WriteFailure,
    WriteTimeout,
    WriteType,
)
from cassandra.cluster import NoHostAvailable
from cassandra.connection import ConnectionException
from cassandra.protocol import ErrorMessage

from environment.errors import StoreBroken, StoreFull, StoreUnavailable, SubliminalError

CAS_WRITE_UNKNOWN = 0x1700
"""Native protocol 5: a conditional write timed out after its proposal; the driver has no class for it."""
_FULL = "disk usage exceeds failure threshold"
_NOT_THERE = ("unconfigured table", "does not exist", "unknown identifier", "undefined column", "undefined name")


class OutcomeUnknown(StoreUnavailable):
    """A request was sent and its answer lost: it was done, was not, or will yet be, when it reaches a server late.

    So a read that does not show a conditional write has not settled it: only another conditional write on the same row
    does, which changes what the lost one asked for. Whoever repeats it must know its own record when it meets it.
    """


class NoSuchTable(StoreBroken):
    """A statement names a table that is not there: the keyspace was not migrated, or this node does not know it yet."""


def translate(error: BaseException, place: str) -> SubliminalError:
    """The store's error for a driver's, one sentence; ``place`` names the store in it.

    ``OutcomeUnknown`` where a write may have happened, plain ``StoreUnavailable`` where surely nothing was written.
    """
    match error:
        case SubliminalError():
            return error
        case NoHostAvailable():
            return StoreUnavailable(f"no server of {place} can be reached")
        case OperationTimedOut():
            return OutcomeUnknown(f"{place} did not answer in time")
        case WriteTimeout() | ReadTimeout():
            seen = f"{error.received_responses or 0} of {error.required_responses or 0} replicas"
            return OutcomeUnknown(f"{place}: only {seen} answered in time")
        case WriteFailure() | ReadFailure():
            return OutcomeUnknown(f"{place}: replicas failed to serve a request: {_words(error)}")
        case Unavailable():
            return StoreUnavailable(
                f"{place}: {error.alive_replicas} of the {error.required_replicas} replicas needed are alive"
            )
        case Unauthorized():
            return StoreBroken(place, f"the role has no permission: {_words(error)}")
        case AuthenticationFailed():
            return StoreBroken(place, "the servers refused the username or the password")
        case InvalidRequest():
            return _invalid(error, place)
        case ConnectionException() | OSError():
            return OutcomeUnknown(f"the connection to {place} was lost")
        case ErrorMessage():
            return _reported(error, place)
        case DriverException():
            return StoreBroken(place, _words(error))
        case _:
            return StoreBroken(place, f"the driver failed: {type(error).__name__}: {_words(error)}")


def contended(error: BaseException) -> bool:
    """Whether a conditional write lost its time to others on the same row: no sign that servers fail."""
    if isinstance(error, WriteTimeout):
        return bool(error.write_type == WriteType.CAS)
    return isinstance(error, ErrorMessage) and error.code == CAS_WRITE_UNKNOWN


def _reported(error: ErrorMessage, place: str) -> SubliminalError:
    """Error messages that the driver passes on as they came."""
    if error.code in (0x1001, 0x1002):  # overloaded, bootstrapping: refused before anything was done
        return StoreUnavailable(f"{place} is busy: {_words(error)}")
    if error.code in (0x0000, 0x1003, CAS_WRITE_UNKNOWN):  # server error, truncation, an undecided condition
        return OutcomeUnknown(f"{place} failed to serve a request: {_words(error)}")
    return StoreBroken(place, _words(error))


def _invalid(error: InvalidRequest, place: str) -> SubliminalError:
    words = _words(error)
    if _FULL in words.lower():
        return StoreFull(f"{place} has no room left: {words}")
    if words.lower().startswith("keyspace") and "does not exist" in words.lower():
        return StoreBroken(place, "there is no such keyspace: `submind migrate --create` makes it")
    if any(sign in words.lower() for sign in _NOT_THERE):
        return NoSuchTable(place, f"its tables are not those of this version ({words}): run `submind migrate`")
    return StoreBroken(place, words)


def _words(error: BaseException) -> str:
    """A server's words without the driver's dressing, on one line."""
    message = getattr(error, "message", None)
    text = message if isinstance(message, str) and message else str(error)
    _, marked, inner = text.partition('message="')
    return " ".join((inner.removesuffix('"') if marked else text).split()).rstrip(".")
