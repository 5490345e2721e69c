"""What a mind's actors stand on: a Ray of their own, or nodes of a cluster that others run."""

import asyncio
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import structlog

from environment.collections import LOCAL, Collection
from environment.ports import Stores
from orchestration.faculties import growing_roles
from orchestration.placement.errors import ClusterUnreachable, NoSuchNode
from orchestration.placement.placement import Placement, needs_of
from orchestration.placement.settings import ClusterSettings
from orchestration.runtime import processes
from orchestration.runtime.machines import cluster
from orchestration.runtime.machines.node_assignment import NodeAssignment
from orchestration.runtime.machines.nodes import Nodes
from orchestration.runtime.orders import ActorOrders, RunOrders
from orchestration.store_factory import embedded_in

_log = structlog.get_logger(__name__)
_PLACEMENT = Collection(f"{LOCAL}placement", list[str])
_DRAINED = "drained"
_AGAIN = 60.0
"""Seconds after which the same is asked for again: what was asked is lost with the cluster's head."""
_Bundles: TypeAlias = list[dict[str, float]]
_Labels: TypeAlias = list[dict[str, str]]


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


class JoinedBackend(Backend):
    """Nodes of a cluster that others run, as ``Nodes`` gives them out. What is drained is known to the next process."""

    def __init__(self, nodes: Nodes, settings: ClusterSettings, stores: Stores, fence: int) -> None:
        self._settings = settings
        self._nodes = nodes
        self._stores = stores
        self._fence = fence
        self._watching = asyncio.create_task(nodes.watch(), name="nodes")

    def assignment(self, name: str) -> NodeAssignment:
        return self._nodes.assignment(name)

    def unschedulable(self) -> Mapping[str, str]:
        return self._nodes.placement.unschedulable

    async def until_known(self, name: str) -> None:
        placement = self._nodes.placement
        await self._nodes.until(lambda: name in placement.places or name in placement.unschedulable)

    def add(self, name: str, role: str) -> None:
        (need,) = needs_of([(name, role)], self._settings)
        self._nodes.add(replace(need, newborn=True))

    def remove(self, name: str) -> None:
        self._nodes.remove(name)

    def resize(self, name: str, subminds: int) -> None:
        self._nodes.placement.resize(name, subminds)

    def node(self, name: str) -> str | None:
        return self._nodes.placement.places.get(name)

    def crowds(self, living: int, open_to: abc.Collection[str] = ()) -> Mapping[str, int]:
        return self._nodes.placement.crowds(living, self._newborn(), open_to)

    def cramped(self) -> None:
        self._nodes.placement.wish(self._newborn())

    def _newborn(self) -> float:
        """Units that one takes who is born."""
        units = self._settings.units
        return max(self._settings.units_of.get(role, units) for role in growing_roles())

    def nodes(self) -> list[dict[str, Any]]:
        return self._nodes.placement.described()

    async def drain(self, node: str, *, undo: bool) -> None:
        self._nodes.drain(node, undo=undo)
        await self._stores.commit([_PLACEMENT.write(_DRAINED, self._nodes.placement.drained)], self._fence)
        await self._nodes.look()

    def leave(self) -> None:
        self._watching.cancel()
        super().leave()


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
    ask = Demand(settings.cluster.resource).ask if settings.cluster.autoscale else None
    nodes = Nodes(placement, monitor.look, settings.cluster, changed, asyncio.get_running_loop().time, ask)
    await nodes.look()
    refused = _unusable(nodes.placement, address, settings.cluster.resource)
    if refused:
        raise ClusterUnreachable(refused)
    _log.info("cluster_joined", address=address, nodes=[node["name"] for node in placement.described()])
    return JoinedBackend(nodes, settings.cluster, stores, orders[0].fence)


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


class Demand:
    """Asks for as much of a resource as all actors take, whenever that changes.

    Actors are bound to nodes by the mind itself, and those that have no place are not started: the cluster would never
    see that there are too few nodes. What was asked for last holds until it is asked anew, also when the mind ends:
    the next process finds the nodes there.
    """

    def __init__(
        self,
        resource: str,
        request: Callable[[_Bundles, _Labels], None] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """``clock``: seconds that do not go back; the event loop's by default."""
        self._resource = resource
        self._request = request or _request
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._asked: tuple[list[float], frozenset[str]] | None = None
        self._at = 0.0

    async def ask(self, units: Sequence[float], without: frozenset[str] = frozenset()) -> None:
        """``units``: what each actor takes. ``without``: nodes, by id, whose room does not count.

        An autoscaler that cannot be reached is asked again the next time.
        """
        asking = (list(units), without)
        again = asking == self._asked
        if again and self._clock() - self._at < _AGAIN:
            return
        # A node that is asked for would never count as idle, so each piece of room says where it must not be.
        label = {"ray.io/node-id": f"!in({','.join(sorted(without))})"} if without else {}
        try:
            await asyncio.to_thread(self._request, [{self._resource: each} for each in units], [label for _ in units])
        except Exception as error:  # noqa: BLE001 - whatever Ray raises: it is asked again
            _log.warning("autoscaler_not_asked", reason=str(error).splitlines()[0] if str(error) else "")
            return
        if not again:
            _log.info("nodes_asked_for", resource=self._resource, units=sum(units), without=sorted(without))
        self._asked, self._at = asking, self._clock()


def _request(bundles: _Bundles, labels: _Labels) -> None:
    from ray.autoscaler import sdk  # noqa: PLC0415 - Ray comes late

    ask: Any = sdk.request_resources
    ask(bundles=bundles, bundle_label_selectors=labels)
