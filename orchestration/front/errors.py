"""What a front may answer instead, and why one does not start. All survive pickling."""

from environment.errors import FieldedError, StoreUnavailable
from orchestration.gateway.errors import GatewayError


class FrontError(Exception):
    """Root of what keeps a front from starting."""


class CannotServe(FieldedError, FrontError):
    """It is asked to be what a front cannot be: ``why`` says what would be right."""

    why: str


class NoLeader(StoreUnavailable):
    """Nobody took it in for as long as it may wait here: send it again after ``retry_after`` seconds.

    It may have been taken in by a leader that was lost before it answered; under the same keys it is taken in once.
    """

    def __str__(self) -> str:
        return f"nobody who leads the mind could be reached ({self.reason}): send it again"


class LeaderFailed(FieldedError, GatewayError):
    """The leader failed at this batch, and not at others: its log says why. Whether it was taken in is not known."""

    leader: str
    code: str
    text: str

    says = "the leader at {leader} failed: {code}: {text}"
