"""Who else there is, as one core knows it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from weakref import WeakValueDictionary

import numpy as np

from actors.chance import Chance
from environment.messages import Vector


@dataclass(frozen=True, slots=True)
class Peer:
    """Another submind, as the directory lists it."""

    name: str
    listens: bool
    """Whether others speak to it."""
    goal: str
    vector: Vector = field(compare=False, repr=False)
    """Embedding of the goal."""
    parent: str = ""
    """Of whom it was born; empty for those configured."""


def _sign(peer: Peer) -> int:
    """By which directories that list the same are found to."""
    return hash((peer.name, peer.listens, peer.goal, peer.parent, peer.vector.tobytes()))


class PeerDirectory:
    """The peers of a mind as one core knows them: a value. Who learns of another one has another directory.

    Guarantees: none ever changes; ``adding`` and ``without`` may be repeated; answers depend on who is listed, not on
    the order in which they came. Cores of a process that know the same share one object: a copy in each would grow with
    their number squared. A question about meaning is one matrix product over those who listen.
    """

    _shared: ClassVar[WeakValueDictionary[tuple[int, int], PeerDirectory]] = WeakValueDictionary()
    """Directories in use, by what they list."""

    def __init__(self, peers: Iterable[Peer] = ()) -> None:
        self._peers = {peer.name: peer for peer in peers}
        self._listening = sorted(peer.name for peer in self._peers.values() if peer.listens)
        self._matrix: Vector | None = None
        self._sign = 0
        for peer in self._peers.values():
            self._sign ^= _sign(peer)

    def __len__(self) -> int:
        return len(self._peers)

    def __contains__(self, name: object) -> bool:
        return name in self._peers

    def __iter__(self) -> Iterator[Peer]:
        return (self._peers[name] for name in sorted(self._peers))

    def get(self, name: str) -> Peer | None:
        """The peer of that name, if there is one."""
        return self._peers.get(name)

    def adding(self, peer: Peer) -> PeerDirectory:
        """With a peer, in the place of one of its name."""
        known = self._peers.get(peer.name)
        sign = self._sign ^ _sign(peer) ^ (0 if known is None else _sign(known))
        if known is not None and sign == self._sign:
            return self
        return self._changed(len(self) + (known is None), sign, lambda: {**self._peers, peer.name: peer})

    def without(self, name: str) -> PeerDirectory:
        """Without the peer of that name."""
        known = self._peers.get(name)
        if known is None:
            return self
        left = lambda: {other: peer for other, peer in self._peers.items() if other != name}  # noqa: E731
        return self._changed(len(self) - 1, self._sign ^ _sign(known), left)

    def _changed(self, size: int, sign: int, peers: Callable[[], Mapping[str, Peer]]) -> PeerDirectory:
        found = self._shared.get((size, sign))
        if found is None:
            found = self._shared[size, sign] = PeerDirectory(peers().values())
        return found

    def nearest(self, vector: Vector, k: int, exclude: Collection[str] = ()) -> list[Peer]:
        """At most ``k`` of those who listen, the best fit of goal to ``vector`` first."""
        if not self._listening or k < 1:
            return []
        scores = self._rows() @ vector
        wanted = min(k + len(exclude), len(scores))
        least = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
        near = np.flatnonzero(scores >= least)
        order = near[np.argsort(-scores[near], kind="stable")]
        names = (self._listening[i] for i in order)
        return [self._peers[name] for name in names if name not in exclude][:k]

    def apart(self, vector: Vector, k: int, exclude: Collection[str] = ()) -> list[Peer]:
        """The same, but of those who descend from one submind the best alone: they share what it was asked to do."""
        found: list[Peer] = []
        wanted, seen, lines = k, 0, {self.line(name) for name in exclude}
        while len(found) < k:
            near = self.nearest(vector, wanted, exclude)
            for peer in near[seen:]:
                line = self.line(peer.name)
                if line not in lines and len(found) < k:
                    lines.add(line)
                    found.append(peer)
            if len(near) < wanted:
                return found
            wanted, seen = 4 * wanted, len(near)
        return found

    def line(self, name: str) -> str:
        """Of whom a submind descends, as far as those between are listed; itself, where it was not born of another."""
        passed: set[str] = set()
        while (peer := self._peers.get(name)) is not None and peer.parent and name not in passed:
            passed.add(name)
            name = peer.parent
        return name

    def stranger(self, chance: Chance, exclude: Collection[str]) -> Peer | None:
        """One of those who listen, each as likely as the others; None where all are excluded, and nothing is drawn."""
        names = self._listening
        taken = sorted(i for name in set(exclude) if (i := self._place(name)) is not None)
        if len(taken) == len(names):
            return None
        drawn = chance.below(len(names) - len(taken))
        for i in taken:
            drawn += i <= drawn
        return self._peers[names[drawn]]

    def _place(self, name: str) -> int | None:
        i = bisect_left(self._listening, name)
        return i if i < len(self._listening) and self._listening[i] == name else None

    def _rows(self) -> Vector:
        """``(n, dim) float32``: goals of those who listen, by name."""
        if self._matrix is None:
            self._matrix = np.stack([self._peers[name].vector for name in self._listening])
        return self._matrix
