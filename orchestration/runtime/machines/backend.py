"""What a mind's actors stand on: a Ray of their own, or nodes of a cluster that others run."""

import asyncio
from collections import abc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from environment.collections import LOCAL, Collection
from environment.ports import Stores
from orchestration.faculties import growing_roles
from orchestration.placement.errors import ClusterUnreachable, NoSuchNode
from orchestration.placement.placement import ObservedNode, Placement, needs_of
from orchestration.placement.settings import ClusterSettings
from orchestration.runtime import processes
from orchestration.runtime.machines import cluster
from orchestration.runtime.machines.demand import Demand
from orchestration.runtime.machines.node_assignment import NodeAssignment
from orchestration.runtime.orders import ActorOrders, RunOrders
from orchestration.store_factory import embedded_in

_log = structlog.get_logger(__name__)
_PLACEMENT = Collection(f"{LOCAL}placement", list[str])
_DRAINED = "drained"


class Backend:
    """Where actors live, from ``open_backend`` to ``leave``: here one node, a Ray of the mind's own."""

    def assignment(self, name: str) -> NodeAssignment:  # noqa: ARG002 - there is one node
        """The place of an actor."""
        return NodeAssignment()

    def unschedulable(self) -> Mapping[str, str]:
        """Who has no place now, and why."""
        return {}

    async def until_known(self, name: str) -> None:
        """Return when an actor has a place or is known to have none."""

    def add(self, name: str, role: str) -> None:
        """A submind more, that was born."""

    def remove(self, name: str) -> None:
        """An actor less."""

    def resize(self, name: str, subminds: int) -> None:
        """So many live in a pack now."""

    def node(self, name: str) -> str | None:  # noqa: ARG002 - there is one node
        """Where a process has its place; None where it has none."""
        return ""

    def crowds(self, living: int, open_to: abc.Collection[str] = ()) -> Mapping[str, int]:  # noqa: ARG002 - as above
        """How many of the subminds that live are, or may come to be, on each machine that has room for one more.

        ``open_to``: packs that have room for one, and so has the machine that they are on.
        """
        return {"": living}

    def cramped(self) -> None:
        """Somebody could not be born for want of room."""

    def nodes(self) -> list[dict[str, Any]]:
        """The nodes, for people."""
        return []

    async def drain(self, node: str, *, undo: bool) -> None:  # noqa: ARG002 - as above
        """Have a node give up its actors, or take them again. Raises ``NoSuchNode``."""
        raise NoSuchNode("this mind has a Ray of its own on one machine: there is no node that could be drained")

    def leave(self) -> None:
        """End what is left of this mind there."""
        cluster.stop()


@dataclass(eq=False, repr=False)
class JoinedBackend(Backend):
    """Nodes of a cluster that others run, looked at again and again. What is drained is known to the next process.

    ``changed``: when nodes or places do. ``demand`` is told at each look what each actor takes, and which nodes are to
    be empty.
    """

    placement: Placement
    settings: ClusterSettings
    _see: Callable[[], Awaitable[Sequence[ObservedNode]]]
    _demand: Demand | None
    _stores: Stores
    _fence: int
    _changed: Callable[[], None]

    def __post_init__(self) -> None:
        self._now = asyncio.get_running_loop().time
        self._turned = asyncio.Event()
        self._told: object = None
        self._watching = asyncio.create_task(self._watch(), name="nodes")

    def assignment(self, name: str) -> NodeAssignment:
        return ClusterNodeAssignment(name, self)

    def unschedulable(self) -> Mapping[str, str]:
        return self.placement.unschedulable

    async def until_known(self, name: str) -> None:
        await self.until(lambda: name in self.placement.places or name in self.placement.unschedulable)

    def add(self, name: str, role: str) -> None:
        (need,) = needs_of([(name, role)], self.settings)
        self.placement.add(replace(need, newborn=True), self._now())
        self._turn()

    def remove(self, name: str) -> None:
        self.placement.remove(name, self._now())
        self._turn()

    def resize(self, name: str, subminds: int) -> None:
        self.placement.resize(name, subminds)

    def node(self, name: str) -> str | None:
        return self.placement.places.get(name)

    def crowds(self, living: int, open_to: abc.Collection[str] = ()) -> Mapping[str, int]:
        return self.placement.crowds(living, self._newborn(), open_to)

    def cramped(self) -> None:
        self.placement.wish(self._newborn())

    def _newborn(self) -> float:
        """Units that one takes who is born."""
        units = self.settings.units
        return max(self.settings.units_of.get(role, units) for role in growing_roles())

    def nodes(self) -> list[dict[str, Any]]:
        return self.placement.described()

    async def drain(self, node: str, *, undo: bool) -> None:
        drained = self.placement.drain(node, undo=undo)
        _log.info("node_takes_actors_again" if undo else "node_drained", node=drained.name, id=drained.id)
        await self._stores.commit([_PLACEMENT.write(_DRAINED, self.placement.drained)], self._fence)
        await self.look()

    def leave(self) -> None:
        self._watching.cancel()
        super().leave()

    async def look(self) -> None:
        """Look at the nodes now. A cluster that cannot be asked is asked again the next time."""
        try:
            seen = await self._see()
        except (OSError, RuntimeError) as error:
            _log.warning("nodes_not_seen", reason=str(error).splitlines()[0] if str(error) else type(error).__name__)
            return
        self.placement.looked(seen, self._now())
        self._turn()
        if self._demand is not None:
            await self._demand.ask(self.placement.wanted(), self.placement.elsewhere())

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return when a decision makes it true."""
        while not condition():  # what was decided between two turns shows at the next
            await self._turned.wait()

    def born(self, name: str, node: str) -> None:
        """An actor lives."""
        self.placement.born(name, node, self._now())
        self._turn()

    def died(self, name: str, node: str) -> None:
        """An actor's process ended."""
        self.placement.died(name, node, self._now())
        self._turn()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self.settings.look_every)
            try:
                await self.look()
            except Exception:  # noqa: BLE001 - whatever Ray raises: it is looked again
                _log.exception("look_failed")

    def _turn(self) -> None:
        """What was decided may have changed: tell who waits for it."""
        told = (self.placement.described(), dict(self.placement.unschedulable))
        if told != self._told:
            self._told = told
            turned, self._turned = self._turned, asyncio.Event()
            turned.set()
            self._changed()


class ClusterNodeAssignment(NodeAssignment):
    """Of one actor on a node of a cluster."""

    def __init__(self, name: str, nodes: JoinedBackend) -> None:
        self._name = name
        self._nodes = nodes

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

        settings = self._nodes.settings
        return {
            "num_cpus": settings.cpus,
            "resources": {settings.resource: self._nodes.placement.units(self._name)},
            "scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=False),
        }


def namespace_of(run: RunOrders) -> str:
    """What the actors of a run are called within, in Ray: no other run's."""
    return f"{run.settings.mind.name}-{run.run_dir.name}"


async def open_backend(
    run: RunOrders,
    orders: Sequence[ActorOrders],
    address: str,
    stores: Stores,
    fallen: Callable[[str], None],
    changed: Callable[[], None],
) -> Backend:
    """Start a Ray, or stand on the one at ``address`` that this process has joined.

    ``fallen`` is told which part of an own one has died; ``changed`` when nodes change.

    Raises ``ClusterUnreachable`` in one sentence where there is no cluster that this mind could live on.
    """
    settings = run.settings.runtime
    if not address:
        cluster.start(run.run_dir, namespace_of(run), len(orders), settings)
        for role, pid in cluster.service_pids().items():
            processes.watch(pid, lambda role=role: fallen(role))  # type: ignore[misc]  # mypy loses the default
        return Backend()
    from orchestration.runtime.machines.node_monitor import DirectoryProof, NodeMonitor  # noqa: PLC0415 - imports Ray

    embedded = embedded_in(run.settings, run.data_dir)
    monitor = NodeMonitor(settings.cluster, DirectoryProof(embedded) if embedded is not None else None)
    packed = {one.name: len(one.plans) for one in orders}
    needs = needs_of([(one.name, one.plans[0].role) for one in orders], settings.cluster, packed)
    placement = Placement(settings.cluster, needs, run.settings.growth.per_node)
    saved = await _PLACEMENT.get(stores.collections, _DRAINED)
    if saved:
        placement.restore(saved)
    demand = Demand(settings.cluster.resource) if settings.cluster.autoscale else None
    joined = JoinedBackend(placement, settings.cluster, monitor.look, demand, stores, orders[0].fence, changed)
    await joined.look()
    refused = _unusable(placement, address, settings.cluster.resource)
    if refused:
        raise ClusterUnreachable(refused)
    _log.info("cluster_joined", address=address, nodes=[node["name"] for node in joined.nodes()])
    return joined


def _unusable(placement: Placement, address: str, resource: str) -> str:
    """Why no node can take actors; empty when one can."""
    nodes = placement.described()
    if not nodes:
        return (
            f"no node of the Ray cluster at {address} offers the resource {resource!r}: start nodes with"
            f""" `ray start --resources='{{"{resource}": 16}}'`"""
        )
    if all(node["barred"] for node in nodes):
        unseen = [node for node in nodes if node["barred"].startswith("it cannot see")]
        first = unseen[0] if unseen else nodes[0]
        where = f"node {first['name']} of the Ray cluster at {address} takes no actors: {first['barred']}"
        advice = "; a mind on several machines is kept on a cluster: --store cassandra://HOST/KEYSPACE?dc=NAME"
        return where + (advice if unseen else "")
    return ""
