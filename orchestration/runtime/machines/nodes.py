"""The nodes of a cluster, looked at again and again, and the assignments of a mind's actors on them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from orchestration.placement.placement import ObservedNode, Placement
from orchestration.placement.planner import Need
from orchestration.placement.settings import ClusterSettings
from orchestration.runtime.machines.node_assignment import NodeAssignment

_log = structlog.get_logger(__name__)

ListNodes = Callable[[], Awaitable[Sequence[ObservedNode]]]
"""The nodes that are alive; raises ``OSError`` or ``RuntimeError`` where the cluster cannot be asked now."""


@dataclass(eq=False, repr=False)
class Nodes:
    """Keeps a ``Placement`` informed and hands its decisions to supervisors. ``changed``: when nodes or places do.

    ``ask`` is told at each look what each actor takes, and which nodes are to be empty.
    """

    placement: Placement
    _look: ListNodes
    _settings: ClusterSettings
    _changed: Callable[[], None]
    _now: Callable[[], float]
    _ask: Callable[[Sequence[float], frozenset[str]], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        self._turned = asyncio.Event()
        self._told: object = None

    async def watch(self) -> None:
        """Look at the nodes every so often, until cancelled."""
        while True:
            await asyncio.sleep(self._settings.look_every)
            try:
                await self.look()
            except Exception:  # noqa: BLE001 - whatever Ray raises: it is looked again
                _log.exception("look_failed")

    async def look(self) -> None:
        """Look now. A cluster that cannot be asked is asked again the next time."""
        try:
            seen = await self._look()
        except (OSError, RuntimeError) as error:
            _log.warning("nodes_not_seen", reason=str(error).splitlines()[0] if str(error) else type(error).__name__)
            return
        self.placement.looked(seen, self._now())
        self.turn()
        if self._ask is not None:
            await self._ask(self.placement.wanted(), self.placement.elsewhere())

    def turn(self) -> None:
        """What was decided may have changed: tell who waits for it."""
        told = (self.placement.described(), dict(self.placement.unschedulable))
        if told != self._told:
            self._told = told
            turned, self._turned = self._turned, asyncio.Event()
            turned.set()
            self._changed()

    def drain(self, wanted: str, *, undo: bool) -> ObservedNode:
        """As ``Placement.drain``; takes effect at once."""
        node = self.placement.drain(wanted, undo=undo)
        _log.info("node_drained" if not undo else "node_takes_actors_again", node=node.name, id=node.id)
        return node

    def assignment(self, name: str) -> ClusterNodeAssignment:
        """The assignment of an actor."""
        return ClusterNodeAssignment(name, self, self._settings)

    def add(self, need: Need) -> None:
        """An actor more."""
        self.placement.add(need, self._now())
        self.turn()

    def remove(self, name: str) -> None:
        """An actor less."""
        self.placement.remove(name, self._now())
        self.turn()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return when a decision makes it true."""
        while not condition():  # what was decided between two turns shows at the next
            await self._turned.wait()

    def born(self, name: str, node: str) -> None:
        """An actor lives."""
        self.placement.born(name, node, self._now())
        self.turn()

    def died(self, name: str, node: str) -> None:
        """An actor's process ended."""
        self.placement.died(name, node, self._now())
        self.turn()


class ClusterNodeAssignment(NodeAssignment):
    """Of one actor on a node of a cluster."""

    def __init__(self, name: str, nodes: Nodes, settings: ClusterSettings) -> None:
        self._name = name
        self._nodes = nodes
        self._settings = settings

    async def given(self) -> str:
        await self._nodes.until(lambda: self._name in self._nodes.placement.places)
        return self._nodes.placement.places[self._name]

    async def withdrawn(self, node: str) -> None:
        await self._nodes.until(lambda: self._nodes.placement.places.get(self._name) != node)

    async def lost(self, node: str) -> bool:
        await self._nodes.look()
        return not self._nodes.placement.alive(node)

    def born(self, node: str) -> None:
        self._nodes.born(self._name, node)

    def died(self, node: str) -> None:
        self._nodes.died(self._name, node)

    def options(self, node: str) -> dict[str, Any]:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415 - Ray comes late

        return {
            "num_cpus": self._settings.cpus,
            "resources": {self._settings.resource: self._nodes.placement.units(self._name)},
            "scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=False),
        }
