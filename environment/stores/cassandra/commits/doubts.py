"""Changes of connections that are there although who asked for them was told that they might not be.

They alone are added and not put: asked for again, together with other things than before, they would be listed twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from environment.ports import Write, WriteConnections
from environment.stores.cassandra.commits.lanes import View
from environment.stores.cassandra.commits.record import Changed

_MOST = 4096
"""Changes that are remembered: of more, those that are there for longest are asked for no more."""


def changed_by(writes: Iterable[Write]) -> list[Changed]:
    """What is to be listed in the history of connections."""
    return [
        Changed(c.owner, c.topic, c.peer, c.at, c.kind.value, c.weight, c.reason, c.label)
        for write in writes
        if isinstance(write, WriteConnections)
        for c in write.changes
    ]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A commit whose fate nobody told."""

    lanes: tuple[str, ...]
    """Of its room."""
    writes: Sequence[Write]
    word: bytes
    """Of its record."""
    changed: Sequence[Changed]
    """What it would have listed."""

    def happened(self, seen: Iterable[View]) -> bool:
        """Whether the lanes tell of it."""
        return any(view.lane in self.lanes and view.record and view.record.tells_of(self.word) for view in seen)


@dataclass(slots=True)
class Doubts:
    """What one opening does not know for sure."""

    _open: dict[str, list[Doubt]] = field(default_factory=dict)
    """By room."""
    _there: Counter[Changed] = field(default_factory=Counter)

    def add(self, room: str, doubt: Doubt) -> None:
        """Nobody told what became of it."""
        self._open.setdefault(room, []).append(doubt)

    def lanes(self, room: str) -> list[str]:
        """Those of a room by which it is to be found out whether something is listed."""
        return sorted({lane for doubt in self._open.get(room, ()) if doubt.changed for lane in doubt.lanes})

    @property
    def rooms(self) -> list[str]:
        """Those that have such lanes."""
        return [room for room in self._open if self.lanes(room)]

    def settle(self, room: str, seen: Sequence[View]) -> list[Sequence[Write]]:
        """Take note of what the lanes tell; the writes of what has happened, after all."""
        happened = [doubt for doubt in self._open.get(room, ()) if doubt.happened(seen)]
        for doubt in happened:
            self.wrote(doubt.changed)
        self._keep(room, [doubt for doubt in self._open.get(room, ()) if doubt not in happened])
        return [doubt.writes for doubt in happened]

    def moved_on(self, room: str, names: Iterable[str]) -> None:
        """The next record is decided in these lanes: what they did not tell of will never happen."""
        gone = set(names)
        self._keep(room, [doubt for doubt in self._open.get(room, ()) if gone.isdisjoint(doubt.lanes)])

    def _keep(self, room: str, doubts: list[Doubt]) -> None:
        if doubts:
            self._open[room] = doubts
        else:
            self._open.pop(room, None)

    def wrote(self, changed: Iterable[Changed]) -> None:
        """They are there, and nobody was told so yet."""
        self._there.update(changed)
        while len(self._there) > _MOST:
            del self._there[next(iter(self._there))]

    def told(self, writes: Iterable[Write]) -> None:
        """Who asked for these has its answer."""
        for change in changed_by(writes):
            if self._there[change] > 1:
                self._there[change] -= 1
            else:
                del self._there[change]

    def missing(self, changed: Iterable[Changed]) -> list[Changed]:
        """Those that are not there yet."""
        there = self._there.copy()
        found = []
        for change in changed:
            if there[change] > 0:
                there[change] -= 1
            else:
                found.append(change)
        return found
