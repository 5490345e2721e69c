"""Innate knowledge: packs of documents and facts that a mind is born with, apart from all that it perceives."""

from collections.abc import Sequence
from dataclasses import dataclass

from environment.collections import RESERVED, Collection
from environment.identity import derived
from environment.ports import Stores

INNATE = "d-"
"""What the ids of sections begin with."""
ALWAYS = 0.0
"""The time of what a pack says: it was never perceived, and whatever was is later."""


@dataclass(frozen=True, slots=True)
class PackSection:
    """A part of a pack that is found and cited by itself: a section of a document, a row, a node."""

    pack: str
    """The name of its file."""
    section: str
    """Its headings, or what the row or the node is of."""
    text: str
    trust: float
    """0..1, of what rests on it."""
    facts: tuple[tuple[str, str, str], ...] = ()
    """Subject, relation and value of what a row or a node says; what prose says is read from it."""
    added: bool = False
    """Whether it was added while the mind lived, and is none of its configuration."""

    @property
    def id(self) -> str:
        """Another version of a pack keeps the ids of the sections that it leaves as they were."""
        return derived(INNATE[0], self.pack, self.section, self.text, str(self.trust))

    @property
    def source(self) -> str:
        """As which it is cited."""
        return f"{source_of(self.pack)}{self.section}"


@dataclass(frozen=True, slots=True)
class PackChange:
    """What came of packs, and the ids of the sections that went; told again, it changes nothing."""

    came: tuple[PackSection, ...] = ()
    gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownPack:
    """A pack that a mind has, as a list tells of it."""

    name: str
    version: str
    """The same for packs that say the same."""
    sections: int
    facts: int
    """Of those held or kept, how many rest on it."""
    added: bool
    """As of its sections."""


PACKS = Collection(f"{RESERVED}packs", PackSection)
"""By ``PackSection.id``; the mind process writes those that the configuration names, the gateway the others."""


def source_of(pack: str) -> str:
    """What the sources of all sections of a pack begin with."""
    return f"pack {pack}: "


async def keep_packs(
    stores: Stores, sections: Sequence[PackSection], fence: int = 0, *, added: str | None = None
) -> PackChange:
    """Make these the sections of all packs that the configuration names, or of the one that is ``added``.

    What that changed.
    """
    every, wanted = await PACKS.all_of(stores.collections), {one.id: one for one in sections}
    held = {key for key, one in every.items() if (one.pack if one.added else None) == added}
    came = tuple(one for key, one in wanted.items() if key not in held)
    gone = tuple(sorted(held - wanted.keys()))
    if came or gone:
        await stores.commit([*(PACKS.write(one.id, one) for one in came), *map(PACKS.remove, gone)], fence)
    return PackChange(came, gone)
