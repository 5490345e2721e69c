"""What an operator can ask in vain."""

from environment.errors import FieldedError
from environment.population import GrowthEvent


class GrowthError(Exception):
    """The root of what an operator can ask in vain."""

    reason = "GROWTH"
    """For programs."""


class NotWaiting(FieldedError, GrowthError):
    """No proposal of this id waits for an approval: ask for those that do."""

    reason = "NOT_WAITING"

    proposal: str
    why: str
    decision: GrowthEvent | None = None
    """What was decided, where that was."""

    says = "{proposal} waits for no approval: {why}"


class Frozen(FieldedError, GrowthError):
    """Growth is frozen: thaw it first."""

    reason = "FROZEN"

    by: str

    says = "growth is frozen by {by}: thaw it before anything is approved"
