"""Who else there is: the directory a submind knows its peers by."""

from __future__ import annotations

from dataclasses import dataclass, field

from environment.messages import Vector


@dataclass(frozen=True, slots=True)
class Peer:
    """Another submind, as the directory lists it."""

    name: str
    role: str
    goal: str
    vector: Vector = field(compare=False, repr=False)
    """Embedding of the goal."""
