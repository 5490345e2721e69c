"""What a submind has given away: whose it is now, so that what still comes for it is passed on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
import numpy as np

from actors.handover import Holding
from environment.latest import Latest
from environment.messages import Vector

_SENDERS = 1024
_STEP = 0.3
_MOSTLY = 0.6


@dataclass(frozen=True, slots=True)
class Redirect:
    """A topic that another holds."""

    key: str
    label: str
    holder: str
    centroid: Vector = field(compare=False, repr=False)


class RedirectTable:
    """Topics given to children, the latest ``capacity`` of them.

    Guarantee: a sender is told whose a topic is only when most of what it sends along its own topic belongs there.
    """

    def __init__(self, capacity: int) -> None:
        self._given = Latest[str, Redirect](capacity)
        self._matrix: Vector | None = None
        self._ledger = Latest[tuple[str, str], float](_SENDERS)

    def __len__(self) -> int:
        return len(self._given)

    def add(self, holdings: Iterable[Holding], holder: str) -> None:
        """These are another's now."""
        for topic in holdings:
            self._given[topic.key] = Redirect(topic.key, topic.label, holder, topic.centroid)
        self._matrix = None

    def gone(self, name: str, heir: str, owner: str) -> None:
        """A holder ended: its heir holds it, or the owner does again."""
        for key, topic in list(self._given.items()):
            if topic.holder == name:
                if heir in ("", owner):
                    del self._given[key]
                else:
                    self._given[key] = Redirect(key, topic.label, heir, topic.centroid)
        self._matrix = None

    def holder(self, key: str) -> str:
        """Who holds the topic of this key; empty for one that was not given away."""
        topic = self._given.get(key)
        return topic.holder if topic is not None else ""

    def nearest(self, centred: Vector, least: float) -> Redirect | None:
        """The topic given away that a vector belongs to, at cosine >= ``least``."""
        if not self._given:
            return None
        if self._matrix is None:
            self._matrix = np.stack([topic.centroid for topic in self._given.values()])
        scores = self._matrix @ centred
        index = int(scores.argmax())
        return list(self._given.values())[index] if scores[index] >= least else None

    def came(self, sender: str, topic: str, *, belongs: bool) -> bool:
        """A message came along a sender's topic; whether the sender is to learn that the topic is another's."""
        share = self._ledger.get((sender, topic), 0.5)
        share += _STEP * (float(belongs) - share)
        self._ledger[(sender, topic)] = share
        return belongs and share >= _MOSTLY

    def dump(self) -> list[RedirectState]:
        """For a snapshot. What senders were told is not kept: they are told again."""
        return [RedirectState(t.key, t.label, t.holder, t.centroid.tobytes()) for t in self._given.values()]

    def load(self, state: Iterable[RedirectState], dim: int) -> None:
        """From a snapshot; topics of another embedder mean nothing here."""
        for t in state:
            centroid = np.frombuffer(t.centroid, np.float32)
            if len(centroid) == dim:
                self._given[t.key] = Redirect(t.key, t.label, t.holder, centroid)
        self._matrix = None


class RedirectState(msgspec.Struct):
    """A topic given away as it is saved."""

    key: str
    label: str
    holder: str
    centroid: bytes
