"""What an operator can ask in vain."""

from __future__ import annotations

from environment.population import GrowthEvent


class GrowthError(Exception):
    """The root of what an operator can ask in vain."""

    reason = "GROWTH"
    """For programs."""


class NotWaiting(GrowthError):
    """No proposal of this id waits for an approval: ask for those that do."""

    reason = "NOT_WAITING"

    def __init__(self, proposal: str, why: str, decision: GrowthEvent | None = None) -> None:
        super().__init__(proposal, why, decision)
        self.proposal = proposal
        self.why = why
        self.decision = decision
        """What was decided, where that was."""

    def __str__(self) -> str:
        return f"{self.proposal} waits for no approval: {self.why}"


class Frozen(GrowthError):
    """Growth is frozen: thaw it first."""

    reason = "FROZEN"

    def __init__(self, by: str) -> None:
        super().__init__(by)
        self.by = by

    def __str__(self) -> str:
        return f"growth is frozen by {self.by}: thaw it before anything is approved"
