"""Who else there is: the directory that all subminds of a process know their peers by."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from actors.chance import Chance
from environment.messages import Vector

LISTENING = "cognitive"
"""The role of those to whom others speak."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another submind, as the directory lists it."""

    name: str
    role: str
    goal: str
    vector: Vector = field(compare=False, repr=False)
    """Embedding of the goal."""
    parent: str = ""
    """Of whom it was born; empty for those configured."""


class Directory:
    """The peers of a mind, shared by all cores of a process: a copy in each would grow with their number squared.

    Guarantees: ``add`` and ``remove`` may be repeated; answers depend on who is listed, not on the order in which
    they came. A question about meaning is one matrix product over those who listen.
    """

    def __init__(self, peers: Iterable[Peer] = ()) -> None:
        self._peers = {peer.name: peer for peer in peers}
        self._listening = sorted(peer.name for peer in self._peers.values() if peer.role == LISTENING)
        self._matrix: Vector | None = None

    def __len__(self) -> int:
        return len(self._peers)

    def __contains__(self, name: object) -> bool:
        return name in self._peers

    def __iter__(self) -> Iterator[Peer]:
        return (self._peers[name] for name in sorted(self._peers))

    def get(self, name: str) -> Peer | None:
        """The peer of that name, if there is one."""
        return self._peers.get(name)

    def add(self, peer: Peer) -> None:
        """List a peer. One of its name that is listed already is replaced."""
        known = self._peers.get(peer.name)
        if known == peer and np.array_equal(known.vector, peer.vector):
            return  # each core of a process is told of a birth, and all of them say so here
        self.remove(peer.name)
        self._peers[peer.name] = peer
        if peer.role == LISTENING:
            insort(self._listening, peer.name)
            self._matrix = None

    def remove(self, name: str) -> None:
        """List a peer no more."""
        peer = self._peers.pop(name, None)
        if peer is not None and peer.role == LISTENING:
            del self._listening[bisect_left(self._listening, name)]
            self._matrix = None

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
