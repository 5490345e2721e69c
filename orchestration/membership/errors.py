"""What can go wrong in agreeing. Each says what to do about it; all survive pickling."""

from __future__ import annotations


class CoordinationError(Exception):
    """Root of this room's errors."""


class CoordinationUnavailable(CoordinationError):
    """Nobody could be asked, or no answer came: try again after ``retry_after`` seconds.

    What was asked for may have happened all the same, unless a method says otherwise.
    """

    def __init__(self, reason: str, retry_after: float = 1.0) -> None:
        super().__init__(reason, retry_after)
        self.reason = reason
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.reason


class BadCoordination(CoordinationError):
    """The address, or something it names, cannot be used as it is: no retry will help."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class NotLeading(CoordinationError):
    """The term is over: stop writing, and stand again if you like."""

    def __init__(self, candidate: str, reason: str) -> None:
        super().__init__(candidate, reason)
        self.candidate = candidate
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.candidate} does not lead any more: {self.reason}"


class ConfigurationRefused(CoordinationError):
    """A change of the live configuration does not hold; nothing was changed. Each of ``problems`` is a sentence."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(self.problems)


class ConfigurationMoved(CoordinationError):
    """Somebody else changed the live configuration: read version ``current`` and decide again."""

    def __init__(self, base: int, current: int) -> None:
        super().__init__(base, current)
        self.base = base
        self.current = current

    def __str__(self) -> str:
        return f"the live configuration is at version {self.current}, not {self.base}: look at it and decide again"
