"""How many nodes a mind needs: what it asks an autoscaler for, and which node it leaves for that to take away.

An autoscaler takes a node away once nobody lives there. Loads are evened out over all nodes there are, so without this
none would ever be empty. Sans-I/O: what is so and when comes in.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from orchestration.placement.planner import Need, Node, Plan, Rules, plan
from orchestration.placement.settings import ClusterSettings

_SHORT = 300.0
"""Seconds for which room for all is asked for in vain; then only for what one node more would hold."""
_WISHED = 900.0
"""Seconds for which room is asked for somebody who could not be born."""


class Scaling:
    """What one mind asks for and leaves. Does nothing unless ``autoscale`` is set.

    Guarantees: a node is left only where all have had a place without it for ``spare_after``, one at a time, never so
    that fewer than ``least_nodes`` take actors, and not for longer than nobody needs it.
    """

    def __init__(self, settings: ClusterSettings) -> None:
        self._settings = settings
        self.spare = ""
        """The node that is left."""
        self._roomy: float | None = None
        """Since when one could be done without."""
        self._short: tuple[frozenset[str], float] | None = None
        """The nodes there are while somebody is unschedulable, and since when they are these."""
        self._wish: tuple[float, float] | None = None
        """Units for somebody who could not be born, and until when they are asked for."""
        self._now = 0.0

    def wish(self, units: float) -> None:
        """Somebody could not be born for want of room."""
        if self._settings.autoscale:
            self.spare, self._roomy = "", None
            self._wish = (units, self._now + _WISHED)

    def born(self) -> None:
        """Somebody was."""
        self._wish = None

    def seen(self, nodes: Sequence[Node], needs: Sequence[Need], made: Plan, rules: Rules, now: float) -> None:
        """Learn how all live, moved or not: ``needs`` are those within the quota, ``made`` is where they are to be."""
        self._now = now
        short = any(need.name in made.unschedulable for need in needs)
        there = frozenset(node.id for node in nodes)
        if not short:
            self._short = None
        elif self._short is None or self._short[0] != there:
            self._short = (there, now)
        room = sum(node.room for node in nodes if not node.drained)
        if short or self.spare not in there or room < sum(need.units for need in needs):
            self.spare = ""  # from the next plan on it takes actors again
        if not self._settings.autoscale or short or self.spare:
            self._roomy = None
            return
        wished = [Need("~wished", units) for units in self._wished()]
        found = dispensable(nodes, [*needs, *wished], made.places, rules, self._settings.least_nodes)
        if found is None:
            self._roomy = None
        elif self._roomy is None:
            self._roomy = now
        if found is not None and self._roomy is not None and now - self._roomy >= self._settings.spare_after:
            self.spare, self._roomy = found, None

    def wanted(self, needs: Sequence[Need], places: Mapping[str, str], largest: float) -> list[float]:
        """Units to ask for, each of which has to fit on a node. ``largest``: the most that a node offers.

        An autoscaler that may not bring as many nodes as all would take brings none at all: where room for all is long
        in coming it is asked for one node more at a time.
        """
        if self._short is None or self._now - self._short[1] < _SHORT:
            return [*(need.units for need in needs), *self._wished()]
        found, more = [need.units for need in needs if need.name in places], 0.0
        for need in needs:
            if need.name not in places and more + need.units <= largest:
                found.append(need.units)
                more += need.units
        return found

    def _wished(self) -> list[float]:
        return [self._wish[0]] if self._wish is not None and self._now < self._wish[1] else []


def dispensable(
    nodes: Sequence[Node], needs: Sequence[Need], where: Mapping[str, str], rules: Rules, least: int
) -> str | None:
    """The node with the smallest load, if all ``needs`` would have a place without it; else None.

    ``least``: never so that fewer than this take actors. No node has more than ``per_node`` subminds without it.
    """
    taking = [node for node in nodes if not node.drained and node.room > 0]
    if len(taking) <= least or not all(node.steady for node in taking):
        return None
    units = {need.name: need.units for need in needs}
    taken = dict.fromkeys((node.id for node in nodes), 0.0)
    for name, place in where.items():
        if place in taken:
            taken[place] += units.get(name, 0.0)
    candidate = min(taking, key=lambda node: (taken[node.id] / node.room, node.id))
    if sum(node.room for node in taking) - candidate.room < sum(units.values()):
        return None
    without = [replace(node, drained=True) if node.id == candidate.id else node for node in nodes]
    made = plan(without, needs, where, replace(rules, moves=len(needs)))
    if made.unschedulable or candidate.id in made.places.values() or _crowded(made.places, needs, rules):
        return None
    return candidate.id


def _crowded(places: Mapping[str, str], needs: Sequence[Need], rules: Rules) -> bool:
    subminds = {need.name: need.subminds for need in needs}
    there = Counter[str]()
    for name, node in places.items():
        there[node] += subminds[name]
    return rules.per_node is not None and max(there.values(), default=0) > rules.per_node
