"""What readers were lately told, so that the mind learns which of its memories are of use."""

from dataclasses import dataclass

from environment.collections import LOCAL, Collection
from environment.messages import Instant


@dataclass(frozen=True, slots=True)
class Recalls:
    """Perceptions that came to mind of who asked; told again, it changes nothing."""

    latest: tuple[tuple[str, Instant], ...] = ()
    """Ids, and the mind time at which each was told last, in that order; bounded."""


RECALLS = Collection(f"{LOCAL}recalls", Recalls)
"""One document of each process that answers readers."""
