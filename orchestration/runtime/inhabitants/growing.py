"""How births and ends that were granted come to pass: in a process of one's own, or in a pack."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import structlog

from environment.collections import RESERVED, Collection
from environment.errors import StoreUnavailable
from environment.ports import Stores
from orchestration.clock import wall
from orchestration.faculties import growing_roles
from orchestration.growth.actor_messages import living_heir
from orchestration.links.control import Share
from orchestration.runtime.inhabitants.packing import Pack, is_pack

if TYPE_CHECKING:
    from orchestration.runtime.inhabitants.household import Household
    from orchestration.runtime.inhabitants.population import Population
    from orchestration.runtime.machines.backend import ClusterBackend
    from orchestration.runtime.orders import ActorOrders
    from orchestration.settings import Settings
    from orchestration.wiring import ActorPlan

_log = structlog.get_logger(__name__)
LODGINGS = Collection(f"{RESERVED}lodgings", bytes)
_SAVED = "packs"
_AGAIN = 0.5


async def lodge(stores: Stores, population: Population, plans: Sequence[ActorPlan], fence: int) -> list[Pack]:
    """Everybody's process at the start of a mind. Raises ``StoreUnavailable``, ``FencedOut``."""
    lodgings = population.lodgings
    saved = await LODGINGS.get(stores.collections, _SAVED)
    if saved:
        lodgings.restore(saved)
    packs = lodgings.begin(plans, population.members, population.part, population.log.policy.left, wall())
    if saved or lodgings.known:
        await stores.commit([LODGINGS.write(_SAVED, lodgings.saved(wall()))], fence)
    return packs


class Growing:
    """Begins and ends the lives that the population grants and takes.

    Guarantees: who lives in which pack is in the store before it does; a pack has one that was born only where there is
    room for it, on a node that takes newborns in; one that everybody has left ends.
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        population: Population,
        household: Household,
        backend: ClusterBackend,
        order: Callable[[str, tuple[ActorPlan, ...], str], ActorOrders],
        fence: int,
    ) -> None:
        """``order`` makes the orders of a process: its name, who lives in it, and from whose spending it goes on."""
        self._settings = settings
        self._density = settings.runtime.subminds_per_actor
        self._stores = stores
        self._population = population
        self._household = household
        self._backend = backend
        self._order = order
        self._fence = fence
        self._moving = asyncio.Lock()

    def crowds(self, living: int) -> Mapping[str, int]:
        """How many of so many subminds live, or may come to, on each machine that has room for one more."""
        return self._backend.crowds(living, self._open_to(*growing_roles()))

    async def join(self, plan: ActorPlan, parent: str) -> bool:
        """Start one who was born; whether its process has yet to be told what it has of the budgets."""
        name, role = plan.name, plan.role
        source = self._household.home(parent)
        if self._density.of(role) == 1:
            self._backend.add(name, role)
            self._household.add(self._order(name, (plan,), source))
            return False
        async with self._moving:
            population, lodgings = self._population, self._population.lodgings
            most, crowds = self._settings.growth.per_node, self.crowds(len(population.log.policy.living))
            found = lodgings.choose(role, parent, self._open_to(role), crowds, most)
            process = found or lodgings.new(role)
            lodgings.lodge(name, process)
            lodgings.moved(f"born:{name}", name, source, population.part(name), population.part, wall())
            await self._keep()
            if found is None:
                self._backend.add(process, role)
                self._household.add(self._order(process, (plan,), ""))
            else:
                self._household.admit(process, plan)
                self._backend.resize(process, len(lodgings.members(process)))
            _log.info("lodged", submind=name, process=process, new=found is None)
        return found is not None

    async def leave(self, name: str) -> None:
        """End one that retired; returns when it has, and spends nothing more."""
        process = self._household.home(name)
        settle = self._settings.runtime.supervision.settle
        population, lodgings = self._population, self._population.lodgings
        if is_pack(process):
            await self._household.dismiss(process, name)
        else:
            await self._household.remove(name, settle)
            self._backend.remove(name)
        if self._density.of(population.members[name].role) == 1:
            return
        async with self._moving:
            heir = living_heir(name, population.members)
            empty = lodgings.leave(name, heir)
            if is_pack(process):
                lodgings.moved(f"left:{name}", heir, process, population.log.policy.left(name), population.part, wall())
            await self._keep()
            if empty:
                await self._household.remove(process, settle)
                self._backend.remove(process)
                _log.info("pack_ended", process=process)
            elif is_pack(process):
                self._backend.resize(process, len(lodgings.members(process)))

    def share(self, name: str, told: Share) -> None:
        """What one has of the budgets in its next lives."""
        keeper = self._household.keepers.get(self._household.home(name))
        if keeper is not None:
            keeper.share(name, told)

    def _open_to(self, *kinds: str) -> dict[str, str]:
        """Packs that may take one in, with their nodes."""
        found = {}
        for process in (one for kind in kinds for one in self._population.lodgings.packs(kind)):
            keeper, node = self._household.keepers.get(process), self._backend.node(process)
            if keeper is not None and not keeper.quarantined and node is not None:
                found[process] = node
        return found

    async def _keep(self) -> None:
        """Write down who lives where. Raises ``FencedOut``."""
        while True:
            try:
                saved = self._population.lodgings.saved(wall())
                await self._stores.commit([LODGINGS.write(_SAVED, saved)], self._fence)
            except StoreUnavailable as error:
                await asyncio.sleep(max(error.retry_after, _AGAIN))
            else:
                return
