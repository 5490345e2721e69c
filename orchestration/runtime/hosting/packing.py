"""Which actors share a process: one each, or as many of a kind as one wants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestration.runtime.settings import DensitySettings

if TYPE_CHECKING:
    from orchestration.wiring import ActorPlan

_SIGN = "~"


@dataclass(frozen=True, slots=True)
class Pack:
    """What lives in one process."""

    name: str
    """The process's: that of the one who has it alone, or else ``KIND~NUMBER``, which no submind can be called."""
    plans: tuple[ActorPlan, ...]


def pack_name(kind: str, number: int) -> str:
    """What the process of a pack is called. Numbers begin with 1."""
    return f"{kind}{_SIGN}{number}"


def is_pack(process: str) -> bool:
    """Whether a process is one that several may live in, however many do now."""
    return _SIGN in process.lstrip(_SIGN)


def kind_of(process: str) -> str:
    """Whom a pack is for."""
    return process.partition(_SIGN)[0]


def pack(plans: Iterable[ActorPlan], density: DensitySettings) -> list[Pack]:
    """Everybody in a process, in the order given; those that every mind has live alone."""
    alone: list[Pack] = []
    kinds: dict[str, list[ActorPlan]] = {}
    for plan in plans:
        if density.of(plan.role) > 1:
            kinds.setdefault(plan.role, []).append(plan)
        else:
            alone.append(Pack(plan.name, (plan,)))
    return alone + [one for kind, members in kinds.items() for one in _packs(kind, members, density.of(kind))]


def _packs(kind: str, members: Sequence[ActorPlan], most: int) -> list[Pack]:
    packs = -(-len(members) // most)
    size = -(-len(members) // packs)  # all about as full: the load is spread as well
    return [
        Pack(pack_name(kind, number), tuple(members[start : start + size]))
        for number, start in enumerate(range(0, len(members), size), 1)
    ]
