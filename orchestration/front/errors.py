"""What a front may answer instead, and why one does not start. All survive pickling."""

from __future__ import annotations

from environment.errors import StoreUnavailable
from orchestration.gateway.errors import GatewayError


class FrontError(Exception):
    """Root of what keeps a front from starting."""


class CannotServe(FrontError):
    """It is asked to be what a front cannot be: ``why`` says what would be right."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why

    def __str__(self) -> str:
        return self.why


class NoLeader(StoreUnavailable):
    """Nobody took it in for as long as it may wait here: send it again after ``retry_after`` seconds.

    It may have been taken in by a leader that was lost before it answered; under the same keys it is taken in once.
    """

    def __str__(self) -> str:
        return f"nobody who leads the mind could be reached ({self.reason}): send it again"


class LeaderFailed(GatewayError):
    """The leader failed at this batch, and not at others: its log says why. Whether it was taken in is not known."""

    def __init__(self, leader: str, code: str, text: str) -> None:
        super().__init__(leader, code, text)
        self.leader = leader
        self.code = code
        self.text = text

    def __str__(self) -> str:
        return f"the leader at {self.leader} failed: {self.code}: {self.text}"
