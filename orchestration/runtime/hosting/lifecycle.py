"""How births and ends that were granted come to pass: in a process of one's own, or in a pack."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from environment.collections import RESERVED, Collection
from environment.errors import StoreUnavailable
from environment.ports import Stores
from orchestration.clock import wall
from orchestration.faculties import growing_roles
from orchestration.growth.actor_messages import living_heir
from orchestration.links.control import Share
from orchestration.runtime.hosting.packing import Pack, is_pack

if TYPE_CHECKING:
    from orchestration.growth.policy import GrowthPolicy
    from orchestration.runtime.hosting.placement_map import PlacementMap
    from orchestration.runtime.hosting.supervisors import SupervisorRegistry
    from orchestration.runtime.machines.backend import Backend
    from orchestration.runtime.orders import ActorOrders
    from orchestration.settings import Settings
    from orchestration.wiring import ActorPlan

_log = structlog.get_logger(__name__)
PLACEMENTS = Collection(f"{RESERVED}lodgings", bytes)
_SAVED = "packs"
_AGAIN = 0.5


async def place_all(
    stores: Stores,
    policy: GrowthPolicy,
    placement_map: PlacementMap,
    part: Callable[[str], float],
    plans: Sequence[ActorPlan],
    fence: int,
) -> list[Pack]:
    """Everybody's process at the start of a mind. Raises ``StoreUnavailable``, ``FencedOut``."""
    saved = await PLACEMENTS.get(stores.collections, _SAVED)
    if saved:
        placement_map.restore(saved)
    packs = placement_map.begin(plans, policy.members, part, policy.left, wall())
    if saved or placement_map.known:
        await stores.commit([PLACEMENTS.write(_SAVED, placement_map.saved(wall()))], fence)
    return packs


@dataclass(eq=False, repr=False)
class Lifecycle:
    """Begins and ends the lives that the population grants and takes.

    Guarantees: who lives in which pack is in the store before it does; a pack has one that was born only where there is
    room for it, on a node that takes newborns in; one that everybody has left ends.

    ``order`` makes the orders of a process: its name, who lives in it, and from whose spending it goes on.

    ``part``: what an actor has of a configured submind's budgets. ``counted`` is told what was granted and refused
    so far, by metric name.
    """

    _settings: Settings
    _stores: Stores
    _policy: GrowthPolicy
    _placement_map: PlacementMap
    _part: Callable[[str], float]
    _supervisors: SupervisorRegistry
    _backend: Backend
    _order: Callable[[str, tuple[ActorPlan, ...], str], ActorOrders]
    _fence: int
    counted: Callable[[Mapping[str, float]], None]

    def __post_init__(self) -> None:
        self._density = self._settings.runtime.subminds_per_actor
        self._moving = asyncio.Lock()

    def crowds(self, living: int) -> Mapping[str, int]:
        """How many of so many subminds live, or may come to, on each machine that has room for one more."""
        return self._backend.crowds(living, self._open_to(*growing_roles()))

    async def join(self, plan: ActorPlan, parent: str) -> bool:
        """Start one who was born; whether its process has yet to be told what it has of the budgets."""
        name, role = plan.name, plan.role
        source = self._supervisors.home(parent)
        if self._density.of(role) == 1:
            self._backend.add(name, role)
            self._supervisors.add(self._order(name, (plan,), source))
            return False
        async with self._moving:
            placement_map = self._placement_map
            most, crowds = self._settings.growth.per_node, self.crowds(len(self._policy.living))
            found = placement_map.choose(role, parent, self._open_to(role), crowds, most)
            process = found or placement_map.new(role)
            placement_map.assign(name, process)
            placement_map.moved(f"born:{name}", name, source, self._part(name), self._part, wall())
            await self._keep()
            if found is None:
                self._backend.add(process, role)
                self._supervisors.add(self._order(process, (plan,), ""))
            else:
                self._supervisors.by_process[process].admit(plan)
                self._backend.resize(process, len(placement_map.members(process)))
            _log.info("lodged", submind=name, process=process, new=found is None)
        return found is not None

    async def leave(self, name: str) -> None:
        """End one that retired; returns when it has, and spends nothing more."""
        process = self._supervisors.home(name)
        settle = self._settings.runtime.supervision.settle
        policy, placement_map = self._policy, self._placement_map
        if is_pack(process):
            await self._supervisors.by_process[process].dismiss(name)
        else:
            await self._supervisors.remove(name, settle)
            self._backend.remove(name)
        if self._density.of(policy.members[name].role) == 1:
            return
        async with self._moving:
            heir = living_heir(name, policy.members)
            empty = placement_map.leave(name, heir)
            if is_pack(process):
                placement_map.moved(f"left:{name}", heir, process, policy.left(name), self._part, wall())
            await self._keep()
            if empty:
                await self._supervisors.remove(process, settle)
                self._backend.remove(process)
                _log.info("pack_ended", process=process)
            elif is_pack(process):
                self._backend.resize(process, len(placement_map.members(process)))

    def share(self, name: str, told: Share) -> None:
        """What one has of the budgets in its next lives."""
        supervisor = self._supervisors.by_process.get(self._supervisors.home(name))
        if supervisor is not None:
            supervisor.share(name, told)

    def cramped(self) -> None:
        """Somebody could not be born for want of room."""
        self._backend.cramped()

    def fenced_out(self) -> None:
        """It turns out that another run leads."""
        self._supervisors.fenced.set()

    def _open_to(self, *kinds: str) -> dict[str, str]:
        """Packs that may take one in, with their nodes."""
        found = {}
        for process in (one for kind in kinds for one in self._placement_map.packs(kind)):
            supervisor, node = self._supervisors.by_process.get(process), self._backend.node(process)
            if supervisor is not None and not supervisor.quarantined and node is not None:
                found[process] = node
        return found

    async def _keep(self) -> None:
        """Write down who lives where. Raises ``FencedOut``."""
        while True:
            try:
                saved = self._placement_map.saved(wall())
                await self._stores.commit([PLACEMENTS.write(_SAVED, saved)], self._fence)
            except StoreUnavailable as error:
                await asyncio.sleep(max(error.retry_after, _AGAIN))
            else:
                return
