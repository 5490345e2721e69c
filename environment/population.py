"""Who was born in a mind beside those it is configured with, and the audit log of every decision about that."""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from environment.collections import RESERVED, Collection, Collections, WriteDocument
from environment.messages import Instant, Vector


@dataclass(frozen=True, slots=True)
class Member:
    """A submind that was born in a mind, beside those it is configured with."""

    name: str
    """Its address; never another's, before or after."""
    role: str
    goals: tuple[str, ...]
    parent: str
    """Who divided."""
    generation: int
    """Divisions between it and a configured submind: a configured one's child has 1."""
    number: int
    """``seq`` of the event in the audit log by which it was born."""
    born: Instant
    share: float
    """What it was born with of a configured submind's part of the budgets: 0.5 for a first child."""
    topics: tuple[str, ...] = ()
    """Labels of the topics it was born with."""
    keys: tuple[str, ...] = ()
    """Its parent's keys of them."""
    about: Vector = field(default_factory=lambda: np.zeros(0, np.float32), compare=False, repr=False)
    """What these topics are about: by this others find it."""
    growth: str = ""
    """The proposal that it was born by, as its parent named it."""
    settled: bool = False
    """Whether its parent has let go of what it has or, once it retired, its heir has taken over what it left."""
    retired: Instant | None = None
    """When it ended; None while it lives."""
    heir: str = ""
    """Who has its topics and connections since."""

    @property
    def living(self) -> bool:
        """Whether it has not retired."""
        return self.retired is None


class GrowthKind(StrEnum):
    """What the audit log of growth can say."""

    PROPOSED = "proposed"
    """Somebody wants to, and it waits for an approval."""
    APPROVED = "approved"
    """An operator permits what was proposed."""
    REJECTED = "rejected"
    """An operator does not."""
    DIVIDED = "divided"
    """A submind was born of another."""
    RETIRED = "retired"
    """A submind ended and left what it had to an heir."""
    REFUSED = "refused"
    """A limit does not allow what was proposed."""
    FROZEN = "frozen"
    """An operator stopped all growth."""
    THAWED = "thawed"
    """An operator lets growth go on."""


@dataclass(frozen=True, slots=True)
class GrowthEvent:
    """One entry of the audit log of growth: a decision about the population, whose it was, and why."""

    seq: int
    """From 1, no gap, no repeat."""
    at: Instant
    kind: GrowthKind
    by: str
    """Who decided: ``guard`` by the limits, otherwise the operator."""
    submind: str = ""
    """Who proposed it, divided, or retired; empty where it is about all."""
    act: str = ""
    """``divide`` or ``retire``, where it is about a proposal."""
    other: str = ""
    """The child of a division, the heir of a retirement."""
    topics: tuple[str, ...] = ()
    """Labels of what was handed over, or would be."""
    growth: str = ""
    """The proposal, as who made it named it."""
    proposal: int = 0
    """``seq`` of the waiting proposal it answers; 0 where none waited."""
    limit: str = ""
    """The limit that refused it."""
    reason: str = ""

    @property
    def id(self) -> str:
        """How people name it."""
        return f"g-{self.seq}"


MEMBERS = Collection(f"{RESERVED}members", Member)
"""By name. One commit writes an event of growth and the member that it makes or changes."""
GROWTH = Collection(f"{RESERVED}growth", GrowthEvent)
"""The audit log, by number: each is written where nothing is yet, so who decides has seen all that was decided."""
_DIGITS = 12


def write_member(member: Member) -> WriteDocument:
    """A submind was born, or retired: as it now is."""
    return MEMBERS.write(member.name, member, time=member.born)


def write_growth(event: GrowthEvent) -> WriteDocument:
    """Continue the audit log. Its commit raises ``StaleRevision`` where another event has that number already."""
    return GROWTH.write(_key(event.seq), event, base=0, time=event.at)


async def read_members(collections: Collections) -> list[Member]:
    """Every submind that was ever born in this mind, living or retired, in the order of their births."""
    found = await MEMBERS.all_of(collections)
    return sorted(found.values(), key=lambda member: (member.number, member.name))


async def read_growth(collections: Collections, after: int, limit: int) -> list[GrowthEvent]:
    """The audit log with ``seq > after`` in order, at most ``limit``."""
    found = await collections.scan(GROWTH.name, after=_key(after) if after > 0 else "", limit=limit)
    return [GROWTH.value(document) for document in found]


async def growth_head(collections: Collections) -> int:
    """The last number of the audit log, 0 when it is empty."""
    found = await collections.scan(GROWTH.name, limit=1, backwards=True)
    return int(found[0].key) if found else 0


def _key(seq: int) -> str:
    return f"{seq:0{_DIGITS}}"
