"""What can go wrong in agreeing. Each says what to do about it; all survive pickling."""

from environment.errors import FieldedError


class CoordinationError(Exception):
    """Root of this room's errors."""


class CoordinationUnavailable(FieldedError, CoordinationError):
    """Nobody could be asked, or no answer came: try again after ``retry_after`` seconds.

    What was asked for may have happened all the same, unless a method says otherwise.
    """

    reason: str
    retry_after: float = 1.0


class BadCoordination(FieldedError, CoordinationError):
    """The address, or something it names, cannot be used as it is: no retry will help."""

    reason: str


class NotLeading(FieldedError, CoordinationError):
    """The term is over: stop writing, and stand again if you like."""

    candidate: str
    reason: str

    says = "{candidate} does not lead any more: {reason}"


class ConfigurationRefused(FieldedError, CoordinationError):
    """A change of the live configuration does not hold; nothing was changed. Each of ``problems`` is a sentence."""

    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.problems)


class ConfigurationMoved(FieldedError, CoordinationError):
    """Somebody else changed the live configuration: read version ``current`` and decide again."""

    base: int
    current: int

    says = "the live configuration is at version {current}, not {base}: look at it and decide again"
