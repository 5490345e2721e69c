"""What can go wrong with a substrate. Each class says what to do about it; all survive pickling."""

from environment.errors import FieldedError


class SubstrateError(Exception):
    """Root of this room's errors."""


class SubstrateUnavailable(FieldedError, SubstrateError):
    """No answer is to be had now: try again after ``retry_after`` seconds."""

    reason: str
    retry_after: float = 1.0

    def __str__(self) -> str:
        return self.reason


class UnusableModel(SubstrateError):
    """The embedder's model cannot be used: what is wrong with which file, or what to install."""


class BudgetSpent(SubstrateUnavailable):
    """A request might exceed a limit of the budget, so it was not sent; there is room after ``retry_after`` seconds."""


class AttemptFailed(FieldedError, SubstrateError):
    """One request to a server brought no usable answer.

    ``retryable`` says whether the same request may succeed later, ``billed`` whether the server may have charged for
    it, ``retry_after`` how many seconds it asked to be left alone, where it did, ``status`` what it answered with,
    where that was no 200.
    """

    reason: str
    retryable: bool = True
    billed: bool = False
    retry_after: float | None = None
    status: int = 0

    def __str__(self) -> str:
        return self.reason
