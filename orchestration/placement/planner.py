"""Who lives where: nodes with room, actors with needs, where they are now -> where they are to be, and why not.

Pure: the same question has the same answer. Actors come in the order in which the mind needs them; where there is not
room for all, the last are left without a place.

The load of a node is the share of its room that is taken. A newcomer goes where least of its own kind are, then where
the load is least: spread, as Ray's SPREAD does it, but knowing what an actor is. Nobody who has a good place is moved
but to even loads out, a few at a time, and only where the load it goes to would stay below the one it leaves by
``slack`` even with it: each such move lowers the sum of ``taken² / room`` by a fixed least amount, so moving ends.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_EPSILON = 1e-9


@dataclass(frozen=True, slots=True)
class Node:
    """A node as one mind may use it."""

    id: str
    room: float
    """Units that this mind may take there, those it has taken already included."""
    drained: bool = False
    """Takes nobody in, and gives up whom it has."""
    steady: bool = True
    """Known long enough that others are moved to it just to even loads out."""


@dataclass(frozen=True, slots=True)
class Need:
    """An actor that wants a place."""

    name: str
    units: float = 1.0
    kind: str = ""
    """Actors of one kind keep apart where they can; of no kind: anywhere."""
    subminds: int = 1
    """How many subminds live in it."""
    newborn: bool = False
    """It was born of another and has yet to live: it goes to no node that has its ``per_node`` subminds."""


@dataclass(frozen=True, slots=True)
class Move:
    """An actor goes from one node to another; from nowhere when it had no place that it could go back to."""

    name: str
    source: str | None
    target: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Where everybody is to be."""

    places: Mapping[str, str]
    """Actor to node."""
    moves: tuple[Move, ...]
    """What is other than before."""
    unschedulable: Mapping[str, str]
    """Who has no place, and why."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How places are given."""

    quota: float | None = None
    """Units that the mind may take in all; None: as many as there are."""
    moves: int = 2
    """Most actors that are moved from a place that would do, or from a drained node, at a time."""
    slack: float = 0.05
    """Difference of loads below which nobody is moved."""
    per_node: int | None = None
    """Subminds from which on a node takes no newborn, and others only where no other node does; None: no matter."""


@dataclass(slots=True)
class _Board:
    """Who is where while a plan is made."""

    nodes: dict[str, Node]
    needs: dict[str, Need]
    per_node: int | None = None
    taken: dict[str, float] = field(default_factory=dict)
    kinds: dict[str, Counter[str]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    crowds: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.taken = dict.fromkeys(self.nodes, 0.0)
        self.kinds = {node: Counter() for node in self.nodes}

    def put(self, name: str, node: str) -> None:
        need = self.needs[name]
        self.places[name] = node
        self.taken[node] += need.units
        self.kinds[node][need.kind] += 1
        self.crowds[node] += need.subminds

    def lift(self, name: str) -> str:
        node = self.places.pop(name)
        self.taken[node] -= self.needs[name].units
        self.kinds[node][self.needs[name].kind] -= 1
        self.crowds[node] -= self.needs[name].subminds
        return node

    def load(self, node: str, more: float = 0.0) -> float:
        room = self.nodes[node].room
        return (self.taken[node] + more) / room if room > 0 else float("inf")

    def fits(self, need: Need, node: str) -> bool:
        if self.nodes[node].drained or (need.newborn and self.crowded(need, node)):
            return False
        return self.taken[node] + need.units <= self.nodes[node].room + _EPSILON

    def crowded(self, need: Need, node: str) -> bool:
        """Whether it would be one more there than there should be."""
        return self.per_node is not None and need.subminds > 0 and self.crowds[node] + need.subminds > self.per_node

    def best(self, need: Need) -> str | None:
        """Where somebody without a place should go; None where there is no room."""
        open_to = [node for node in self.nodes if self.fits(need, node)]
        return min(open_to, key=lambda node: self._rank(need, node), default=None)

    def _rank(self, need: Need, node: str) -> tuple[bool, int, float, str]:
        alike = self.kinds[node][need.kind] if need.kind else 0
        return (self.crowded(need, node), alike, round(self.load(node, need.units), 9), node)


def plan(nodes: Sequence[Node], needs: Sequence[Need], where: Mapping[str, str], rules: Rules) -> Plan:
    """Places for ``needs``, the most needed first, given that they are at ``where`` (actor to node) now.

    Guarantees: nobody is on a node that is not there or beyond a node's room; the quota holds; who is without a place
    is named with the reason; asked again about its own answer it moves nobody but by the same bounded steps, and
    after at most as many steps as there are actors nobody at all.
    """
    board = _Board({node.id: node for node in nodes}, {need.name: need for need in needs}, rules.per_node)
    unschedulable: dict[str, str] = {}
    allowed = within(needs, rules.quota, unschedulable)
    wanting = _settle(board, allowed, where)
    budget = rules.moves
    for need in [need for need in allowed if need.name in board.places]:
        if budget and board.nodes[board.places[need.name]].drained and _leave(board, need):
            budget -= 1
    for need in wanting:
        _house(board, need, allowed, unschedulable, rules)
    while budget and _even_out(board, allowed, rules.slack):
        budget -= 1
    moves = tuple(
        Move(need.name, where.get(need.name), board.places[need.name])
        for need in needs
        if need.name in board.places and board.places[need.name] != where.get(need.name)
    )
    return Plan(dict(board.places), moves, unschedulable)


def within(needs: Sequence[Need], quota: float | None, unschedulable: dict[str, str]) -> list[Need]:
    """The first that the quota allows."""
    if quota is None:
        return list(needs)
    allowed, taken = [], 0.0
    for need in needs:
        if taken + need.units <= quota + _EPSILON:
            allowed.append(need)
            taken += need.units
        else:
            unschedulable[need.name] = f"the mind may take {quota:g} units of the cluster, and others need them more"
    return allowed


def _settle(board: _Board, allowed: Sequence[Need], where: Mapping[str, str]) -> list[Need]:
    """Leave whom one can where they are; who must find another place."""
    wanting = []
    for need in allowed:
        node = board.nodes.get(where.get(need.name, ""))
        if node is not None and board.taken[node.id] + need.units <= node.room + _EPSILON:
            board.put(need.name, node.id)
        else:
            wanting.append(need)
    return wanting


def _leave(board: _Board, need: Need) -> bool:
    """Move somebody off a drained node, if there is anywhere to go: it goes on there until there is."""
    better = board.best(need)
    if better is None:
        return False
    board.lift(need.name)
    board.put(need.name, better)
    return True


def _house(board: _Board, need: Need, order: Sequence[Need], unschedulable: dict[str, str], rules: Rules) -> None:
    """Find a place for somebody who has none; who is needed less gives up its own if it must be."""
    node = board.best(need)
    if node is None:
        node = _make_room(board, need, order, unschedulable)
    if node is None:
        fewer = f" and fewer than {rules.per_node} subminds" if need.newborn and rules.per_node is not None else ""
        unschedulable[need.name] = f"no node that takes actors has {need.units:g} units left{fewer}"
    else:
        board.put(need.name, node)


def _make_room(board: _Board, need: Need, order: Sequence[Need], unschedulable: dict[str, str]) -> str | None:
    """The node where those who have to go for it are needed least, once they are gone; None: nowhere."""
    rank = {one.name: place for place, one in enumerate(order)}
    found: tuple[int, int, str, list[str]] | None = None
    for node in board.nodes.values():
        if node.drained or (need.newborn and board.crowded(need, node.id)):
            continue
        here = [name for name, at in board.places.items() if at == node.id and rank[name] > rank[need.name]]
        less = sorted(here, key=lambda name: rank[name])
        free, going = node.room - board.taken[node.id], []
        while free + _EPSILON < need.units and less:
            going.append(less.pop())
            free += board.needs[going[-1]].units
        if not going or free + _EPSILON < need.units:
            continue
        choice = (-rank[going[-1]], len(going), node.id, going)
        if found is None or choice < found:
            found = choice
    if found is None:
        return None
    for name in found[3]:
        board.lift(name)
        unschedulable[name] = f"{need.name} needs its place more"
    return found[2]


def _even_out(board: _Board, order: Sequence[Need], slack: float) -> bool:
    """Move one actor from the fullest node to the emptiest that gains by it; whether there was one."""
    fullest = sorted((n for n in board.nodes if not board.nodes[n].drained), key=lambda n: (-board.load(n), n))
    for source in fullest:
        here = [need for need in reversed(order) if board.places.get(need.name) == source]
        for target in sorted(fullest, key=lambda n: (board.load(n), n)):
            if not board.nodes[target].steady or target == source:
                continue
            for need in sorted(here, key=lambda need: board.kinds[target][need.kind] if need.kind else 0):
                if board.crowded(need, target):
                    continue
                if board.fits(need, target) and board.load(target, need.units) + slack < board.load(source):
                    board.lift(need.name)
                    board.put(need.name, target)
                    return True
    return False
