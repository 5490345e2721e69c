"""What is wrong with a request, field by field."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One thing wrong with one field."""

    field: str
    """Its path, for example ``perceptions[3].source``; empty for the message as a whole."""
    why: str
    """What is wrong and what would be right."""


class InvalidRequest(Exception):
    """The request is wrong: nothing came of it, and sending it again as it is will not help."""

    def __init__(self, field: str, why: str, others: Sequence[FieldViolation] = ()) -> None:
        super().__init__(field, why, tuple(others))
        self.field = field
        self.why = why
        self.others = tuple(others)

    @classmethod
    def of(cls, violations: Sequence[FieldViolation]) -> Self:
        """The refusal for at least one violation."""
        first, *others = violations
        return cls(first.field, first.why, others)

    @property
    def violations(self) -> tuple[FieldViolation, ...]:
        """All that is wrong, as far as it was looked at."""
        return (FieldViolation(self.field, self.why), *self.others)

    def __str__(self) -> str:
        more = f" (and {len(self.others)} more)" if self.others else ""
        return f"{self.field}: {self.why}{more}" if self.field else f"{self.why}{more}"
