"""Why two thoughts belong together."""

from dataclasses import dataclass
from enum import StrEnum


class RelationKind(StrEnum):
    """Why two lines belong together."""

    ENTITY = "entity"
    """Both name the same thing."""
    CAUSE = "cause"
    """One is said to come of the other."""
    ANSWER = "answer"
    """One is said to whoever said the other."""
    CONTRADICTION = "contradiction"
    """One says no to the other."""
    CONTINUATION = "continuation"
    """One goes on where the other left off."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Why a thought was joined with what was before it."""

    to: str
    """Id of the other thought."""
    kind: RelationKind
    reason: str
    """In few words, with what both have in common."""

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.reason}"
