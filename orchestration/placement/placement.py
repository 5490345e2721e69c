"""The places of one mind as time goes on: nodes are looked at, actors arrive and leave, nodes are drained.

Sans-I/O: what was seen and when comes in, ``places`` comes out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orchestration.placement.errors import NoSuchNode
from orchestration.placement.planner import Need, Node, Rules, plan, within
from orchestration.placement.scaling import Scaling
from orchestration.placement.settings import ClusterSettings

NOBODY: Mapping[str, int] = {}
_SETTLED = 2.0
"""Seconds after which the cluster's own books agree with ours."""
_SPARE = "all have room on the other nodes: it is left for the autoscaler to take away"


@dataclass(frozen=True, slots=True)
class ObservedNode:
    """A node of the cluster, as it was just seen."""

    id: str
    name: str
    address: str
    total: float
    """Units it offers in all."""
    free: float
    """Units nobody has taken."""
    barred: str = ""
    """Why this mind may not use it; empty where it may."""


@dataclass(slots=True)
class _Stay:
    """An actor on its node."""

    node: str
    since: float
    born: bool = False


def needs_of(
    actors: Sequence[tuple[str, str]], settings: ClusterSettings, packed: Mapping[str, int] = NOBODY
) -> list[Need]:
    """What actors, given as (name, role) with the most needed first, take. Those whose role is their name keep apart.

    These are the four that all the others write to, the busiest, and no subminds. ``packed``: how many live in those
    where they are several.
    """
    return [
        Need(
            name,
            settings.units_of.get(name, settings.units_of.get(role, settings.units)),
            "singleton" if role == name else "",
            0 if role == name else packed.get(name, 1),
        )
        for name, role in actors
    ]


class Placement:
    """Who is to be where. ``now`` is any clock that does not go back.

    Guarantees: a node's room is what it offers less what others were last seen to take; an actor that lives on a node
    is not moved because figures lag behind. What it decides holds until the next ``looked``.
    """

    def __init__(self, settings: ClusterSettings, needs: Sequence[Need], per_node: int | None = None) -> None:
        """``per_node``: subminds from which on a node takes no newborn."""
        self._settings = settings
        self._per_node = per_node
        self._needs = {need.name: need for need in needs}
        self._seen: dict[str, ObservedNode] = {}
        self._since: dict[str, float] = {}
        self._others: dict[str, float] = {}
        self._stays: dict[str, _Stay] = {}
        self._leaving: set[tuple[str, str]] = set()
        """(actor, node) where its place is elsewhere by now, but its process has yet to save and end."""
        self._stirred: dict[str, float] = {}
        self._drained: set[str] = set()
        self._looked = False
        self._scaling = Scaling(settings)
        self.unschedulable: Mapping[str, str] = {}
        """Who has no place, and why."""

    @property
    def places(self) -> Mapping[str, str]:
        """Actor to node."""
        return {name: stay.node for name, stay in self._stays.items()}

    def wanted(self) -> list[float]:
        """Units that an autoscaler is asked for, each for an actor, as far as the quota goes."""
        largest = max((node.total for node in self._seen.values()), default=0.0)
        return self._scaling.wanted(self._within(), self.places, largest)

    def elsewhere(self) -> frozenset[str]:
        """Nodes that are there and yet count for nothing in that: they are to be empty."""
        return frozenset(self._drained | ({self._scaling.spare} - {""}))

    def wish(self, units: float) -> None:
        """Somebody who takes so much could not be born for want of room."""
        self._scaling.wish(units)

    def _within(self) -> list[Need]:
        return within(list(self._needs.values()), self._settings.quota, {})

    def looked(self, nodes: Sequence[ObservedNode], now: float) -> None:
        """The nodes that are alive now. Decides anew."""
        self._seen = {node.id: node for node in nodes}
        first = not self._looked
        self._looked = True
        for node in nodes:
            self._since.setdefault(node.id, now - self._settings.steady_after if first else now)
            self._count_others(node, now)
        for known in (self._since, self._others, self._stirred):
            for gone in known.keys() - self._seen.keys():
                del known[gone]
        self._drained &= self._seen.keys()
        self._leaving = {each for each in self._leaving if each[1] in self._seen}
        self._decide(now)

    def _decide(self, now: float) -> None:
        settings = self._settings
        moving = sum(not stay.born and not self._late(stay, now) for stay in self._stays.values())
        rules = Rules(settings.quota, max(0, settings.moves - moving), settings.slack, self._per_node)
        nodes = [
            Node(
                node.id,
                0.0
                if node.barred
                else max(node.total - self._others.get(node.id, 0.0), self._mine(node.id, born=True)),
                node.id in self._drained or node.id == self._scaling.spare,
                now - self._since[node.id] >= settings.steady_after,
            )
            for node in self._seen.values()
        ]
        where = {name: stay.node for name, stay in self._stays.items() if not self._late(stay, now)}
        needs = list(self._needs.values())
        made = plan(nodes, needs, where, rules)
        self._scaling.seen(nodes, self._within(), made, rules, now)
        for name, node in made.places.items():
            stay = self._stays.get(name)
            if stay is None or stay.node != node:
                self._leave(name, now)
                self._stays[name] = _Stay(node, now)
                self._stir(name, now)
        for name in self._stays.keys() - made.places.keys():
            self._leave(name, now)
            del self._stays[name]
        self.unschedulable = made.unschedulable

    def add(self, need: Need, now: float) -> None:
        """An actor more: it is given a place at once, where there is one."""
        self._needs[need.name] = need
        self._scaling.born()
        self._decide(now)

    def remove(self, name: str, now: float) -> None:
        """An actor less."""
        self._needs.pop(name, None)
        if name in self._stays:
            self._stir(name, now)
            del self._stays[name]

    def resize(self, name: str, subminds: int) -> None:
        """So many live in an actor now. Nobody is moved for it."""
        if name in self._needs:
            self._needs[name] = replace(self._needs[name], subminds=subminds)

    def born(self, name: str, node: str, now: float) -> None:
        """An actor lives on that node now."""
        stay = self._stays.get(name)
        if stay is not None and stay.node == node and not stay.born:
            stay.born = True
            self._stirred[node] = now
            self._needs[name] = replace(self._needs[name], newborn=False)

    def died(self, name: str, node: str, now: float) -> None:
        """An actor's process on that node has ended; it is to start again where ``places`` says."""
        self._leaving.discard((name, node))
        stay = self._stays.get(name)
        if stay is not None and stay.node == node:
            stay.born, stay.since = False, now
        self._stirred[node] = now

    def drain(self, wanted: str, *, undo: bool = False) -> ObservedNode:
        """Have a node give up its actors and take no others, or no longer; which one that is. Raises ``NoSuchNode``.

        It holds until the node is gone: one that starts again is another.
        """
        node = self._find(wanted)
        if undo:
            self._drained.discard(node.id)
        else:
            self._drained.add(node.id)
        return node

    def crowds(self, living: int, units: float, open_to: Collection[str] = ()) -> dict[str, int]:
        """Subminds on each node that would take ``units`` more, or has one of the actors that are ``open_to`` another.

        Of ``living`` those that have no place count on each: they may come to live on any.
        """
        placed = dict.fromkeys(self._seen, 0)
        for name, stay in self._stays.items():
            if stay.node in placed and name in self._needs:
                placed[stay.node] += self._needs[name].subminds
        elsewhere = max(0, living - sum(placed.values()))
        hosts = {self._stays[name].node for name in open_to if name in self._stays}
        return {
            node.id: placed[node.id] + elsewhere
            for node in self._seen.values()
            if not node.barred and node.id not in self._drained and (node.id in hosts or self._free(node) >= units)
        }

    def _free(self, node: ObservedNode) -> float:
        return node.total - self._others.get(node.id, 0.0) - self._mine(node.id)

    def units(self, name: str) -> float:
        """What an actor takes."""
        return self._needs[name].units

    def alive(self, node: str) -> bool:
        """Whether the node was there when last looked."""
        return node in self._seen

    @property
    def drained(self) -> list[str]:
        """Nodes that take nobody, by id: what the next mind process is to know."""
        return sorted(self._drained)

    def restore(self, drained: Collection[str]) -> None:
        """Know what an earlier one knew; before the first look."""
        self._drained = set(drained)

    def described(self) -> list[dict[str, Any]]:
        """Every node, for people."""
        return [
            {
                "id": node.id,
                "name": node.name,
                "address": node.address,
                "drained": node.id in self._drained,
                "barred": node.barred or (_SPARE if node.id == self._scaling.spare else ""),
                "total": node.total,
                "taken": self._mine(node.id),
                "others": self._others.get(node.id, 0.0),
                "actors": sorted(self._there(node.id)),
            }
            for node in sorted(self._seen.values(), key=lambda node: (node.name, node.id))
        ]

    def _there(self, node: str) -> set[str]:
        """Whose place is there, and who has not left yet."""
        leaving = {name for name, left in self._leaving if left == node}
        return leaving | {name for name, stay in self._stays.items() if stay.node == node}

    def _leave(self, name: str, now: float) -> None:
        """An actor's place is to be elsewhere."""
        self._stir(name, now)
        stay = self._stays.get(name)
        if stay is not None and stay.born:
            self._leaving.add((name, stay.node))

    # --- what others take ---

    def _count_others(self, node: ObservedNode, now: float) -> None:
        """Learn what others take of a node, unless our own coming and going blurs it."""
        here = {name: stay for name, stay in self._stays.items() if stay.node == node.id}
        claimed = sum(self.units(name) for name, stay in here.items() if not self._late(stay, now))
        late = any(self._late(stay, now) for stay in here.values())
        quiet = all(stay.born for stay in here.values()) and now - self._stirred.get(node.id, -_SETTLED) >= _SETTLED
        if quiet or late or node.id not in self._others:
            self._others[node.id] = max(0.0, node.total - node.free - claimed)

    def _late(self, stay: _Stay, now: float) -> bool:
        """Whether an actor waits for its node in vain, as it seems."""
        return not stay.born and now - stay.since >= self._settings.born_within

    def _mine(self, node: str, *, born: bool = False) -> float:
        return sum(
            self._needs[name].units
            for name, stay in self._stays.items()
            if stay.node == node and (stay.born or not born) and name in self._needs
        )

    def _stir(self, name: str, now: float) -> None:
        if name in self._stays:
            self._stirred[self._stays[name].node] = now

    def _find(self, wanted: str) -> ObservedNode:
        found = [node for node in self._seen.values() if wanted in {node.id, node.name, node.address}]
        if not found and len(wanted) >= 4:  # noqa: PLR2004 - shorter beginnings mean too many
            found = [node for node in self._seen.values() if node.id.startswith(wanted)]
        known = ", ".join(sorted(f"{node.name} ({node.id[:8]})" for node in self._seen.values())) or "none"
        if not found:
            raise NoSuchNode(f"there is no node {wanted!r}; there are: {known}")
        if len(found) > 1:
            raise NoSuchNode(f"{wanted!r} may mean {len(found)} nodes: say which by its id; there are: {known}")
        return found[0]
