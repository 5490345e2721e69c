"""Which minds a mind was before it was itself: of whom it is a clone, and what both have in common."""

from dataclasses import dataclass, replace

from environment.collections import RESERVED, Collection, Collections, Document
from environment.messages import Instant


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A mind that another was until a moment; they went separate ways since."""

    mind: str
    """Its name."""
    at: Instant
    """Wall time of that moment."""
    perceptions: int
    """Number of the last perception that both have, ..."""
    entries: int
    """... and of the last entry of the stream."""
    snapshot: str
    """Id of the snapshot that the other began with."""


ANCESTORS = Collection(f"{RESERVED}ancestors", Ancestor)
"""By snapshot; what a clone is cloned into has them all."""


def ancestor_document(ancestor: Ancestor) -> Document:
    """As a clone begins with it."""
    return replace(ANCESTORS.write(ancestor.snapshot, ancestor, time=ancestor.at).document, version=1)


async def read_ancestors(collections: Collections) -> list[Ancestor]:
    """Whom a mind comes from, the latest first; empty for one that was born as itself."""
    found = await ANCESTORS.all_of(collections)
    return sorted(found.values(), key=lambda each: -each.at)
