"""The population of a simulated mind: the guard decides as in a living one, and who is granted life gets it."""

from collections.abc import Iterable

from actors.effects import Divide, Retire, Settled
from environment.errors import StoreUnavailable
from environment.population import Member
from environment.ports import Stores
from orchestration.growth.actor_messages import NEWS_AGAIN
from orchestration.growth.driver import GrowthDriver, Told
from orchestration.growth.log import GrowthLog
from orchestration.settings import Settings
from orchestration.simulation.world import World
from orchestration.wiring import ActorPlan, plan, plan_of

_AGAIN = 5.0
GROWTH = "growth"
"""Who tells, in the simulated net."""


class SimulatedPopulation:
    """Who lives in a world.

    Guarantees: who lives is who the log of growth says, as soon as the store lets it be read; whoever has to let go
    or take over is told until it has.
    """

    def __init__(self, settings: Settings, stores: Stores, world: World) -> None:
        self._settings = settings
        self._world = world
        self._driver = GrowthDriver(settings, stores, lambda: world.now)
        self._plans = {p.name: p for p in plan(settings)}
        self._again = False
        world.growth = self

    @property
    def log(self) -> GrowthLog:
        """What was decided."""
        return self._driver.log

    @property
    def members(self) -> Iterable[Member]:
        """Everybody that was ever born."""
        return self._driver.members.values()

    def plan(self, name: str) -> ActorPlan:
        """How an actor is put together."""
        return self._plans[name] if name in self._plans else plan_of(self._driver.members[name])

    async def begin(self) -> tuple[str, ...]:
        """Who lives when the world begins."""
        await self._driver.begin()
        return tuple(p.name for p in plan(self._settings, self.members))

    def present(self, name: str) -> str:
        return self._driver.heir(name)

    async def consider(self, owner: str, effect: Divide | Retire | Settled) -> None:
        """Decide, see to it that who lives lives, and answer. Where the store refuses, the proposer asks again."""
        try:
            if isinstance(effect, Settled):
                await self.log.settle(effect.name, owner)
                return
            if owner not in self._world.shells:
                return
            decision, told = await self._driver.consider(owner, effect, self._world.now)
        except StoreUnavailable:
            self._try_again()
            return
        if decision.limit:
            limit = f"limit_hits:growth_{decision.limit}"
            self._world.tally[limit] = self._world.tally.get(limit, 0.0) + 1
        await self._settle()
        self._tell(told)

    async def look(self) -> None:
        """An operator has ordered something: whoever has an approval by it hears so."""
        self._tell(await self._driver.ordered())

    async def returned(self, name: str) -> None:
        """Tell one that came back from a crash what it may not know."""
        try:
            self._tell(await self._driver.returned(name))
        except StoreUnavailable:
            self._try_again()

    async def _settle(self) -> None:
        """Bring about what the log says: births, ends, and that all are told."""
        for member in self._driver.turns():
            if member.living:
                await self._world.join(member.name)
            elif not await self._world.leave(member.name, self.present(member.name)):
                self._driver.turned(member.name, joined=True)
                self._try_again()
                continue
            self._spread(member.name)
        try:
            unsettled = await self._driver.unsettled()
        except StoreUnavailable:
            self._try_again()
        else:
            self._tell(unsettled)
            if unsettled:
                self._try_again()

    def _tell(self, told: Iterable[Told]) -> None:
        for to, event in told:
            self._world.send(GROWTH, to, event, 1.0)

    def _spread(self, name: str) -> None:
        """Tell all of a birth or an end, and again after ever longer pauses: what is told may be lost."""

        async def news() -> None:
            self._tell(self._driver.news(self._driver.members[name]))

        for pause in (0.0, *NEWS_AGAIN):
            self._world.later(pause, news)

    def _try_again(self) -> None:
        if not self._again:
            self._again = True
            self._world.later(_AGAIN, self._once_more)

    async def _once_more(self) -> None:
        self._again = False
        try:
            await self.log.follow()
        except StoreUnavailable:
            self._try_again()
            return
        await self._settle()
