"""Why the gateway refuses something. Each class says what to do about it; all survive pickling."""

from environment.errors import FieldedError, StoreUnavailable
from orchestration.schema.errors import InvalidRequest


class GatewayError(Exception):
    """Root of this package's errors."""


class IntakeRejected(InvalidRequest):
    """A batch of perceptions is wrong: none of it was taken in."""


class IntakeBusy(FieldedError, GatewayError):
    """More is waiting to be written than may wait: nothing was taken in; come back after ``retry_after`` seconds."""

    retry_after: float

    says = "more perceptions are waiting to be written than may wait: try again in {retry_after:g} s"


class OverQuota(FieldedError, GatewayError):
    """More came in than ``quota`` allows on average: nothing was taken in; come back after ``retry_after`` seconds."""

    quota: str
    per_second: float
    retry_after: float

    says = "{quota} allows {per_second:g} on average: try again in {retry_after:.3g} s"


class TooLarge(FieldedError, GatewayError):
    """A message is larger than ``limit`` bytes (the setting ``name``): send less at a time."""

    name: str
    size: int
    limit: int

    says = "the message has {size} bytes, {name} allows {limit}: send less at a time"


class TooMany(FieldedError, GatewayError):
    """As many calls of this kind are open as ``name`` allows: come back after ``retry_after`` seconds."""

    name: str
    limit: int
    retry_after: float

    says = "{limit} are open, as many as {name} allows: try again in {retry_after:g} s"


class TooSlow(FieldedError, GatewayError):
    """The reader took nothing for ``seconds``: read faster, or ask for less; go on from the last entry that came."""

    seconds: float

    says = "nothing was read for {seconds:g} s: connect again and go on from the last answer"


class Unknown(FieldedError, GatewayError):
    """The mind holds no ``kind`` (trace, entry, perception) of that id: it never did, or it has been forgotten."""

    kind: str
    name: str

    says = "no {kind} {name!r} is known: it never was, or it has been forgotten"


class StandingBy(StoreUnavailable):
    """Another host leads the mind, and takes perceptions in: send them to ``leader``, or here after ``retry_after``."""

    def __init__(self, leader: str, retry_after: float = 1.0) -> None:
        super().__init__(leader, retry_after)
        self.leader = leader

    def __str__(self) -> str:
        if not self.leader:
            return "this host stands by, and nobody is known to lead the mind at present: try again"
        return f"this host stands by: {self.leader} leads the mind and takes perceptions in"


class Stopping(GatewayError):
    """The server is going away: what was not answered was not promised; connect again and go on."""

    def __str__(self) -> str:
        return "the server is stopping: connect again and go on from the last answer"


class Aged(FieldedError, GatewayError):
    """A stream has lasted for ``seconds``, as long as they do here: connect again, maybe elsewhere, and go on."""

    seconds: float

    says = "streams last {seconds:g} s here: connect again and go on from the last answer"


class CannotListen(FieldedError, GatewayError):
    """The address cannot be had: ``why`` says what stands in the way."""

    listen: str
    why: str

    says = "cannot listen on {listen}: {why}"


class UnsafeListen(CannotListen):
    """The server was asked to listen where it must not: ``why`` says what would be right."""
