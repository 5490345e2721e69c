"""The population of a simulated mind: the guard decides as in a living one, and who is granted life gets it."""

from __future__ import annotations

from collections.abc import Iterable

from actors.effects import Divide, Retire, Settled
from actors.events import Event
from actors.growth import Born, Gone
from environment.errors import StoreUnavailable
from environment.population import Member
from environment.ports import Stores
from orchestration.growth import actor_messages
from orchestration.growth.log import HANDOVERS, GrowthLog
from orchestration.settings import Settings
from orchestration.simulation.world import World
from orchestration.wiring import ActorPlan, peer_of, plan, plan_of

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
        self._stores = stores
        self._world = world
        configured = {s.name: s.role for s in settings.mind.everyone()}
        self.log = GrowthLog(stores, settings.growth, configured, lambda: world.now)
        self._plans = {p.name: p for p in plan(settings)}
        self._again = False
        world.growth = self

    @property
    def members(self) -> Iterable[Member]:
        """Everybody that was ever born."""
        return self.log.policy.members.values()

    def plan(self, name: str) -> ActorPlan:
        """How an actor is put together."""
        return self._plans[name] if name in self._plans else plan_of(self.log.policy.members[name])

    async def begin(self) -> tuple[str, ...]:
        """Who lives when the world begins."""
        await self.log.follow()
        return tuple(p.name for p in plan(self._settings, self.members))

    def present(self, name: str) -> str:
        return actor_messages.living_heir(name, self.log.policy.members)

    async def consider(self, owner: str, effect: Divide | Retire | Settled) -> None:
        """Decide, see to it that who lives lives, and answer. Where the store refuses, the proposer asks again."""
        now = self._world.now
        try:
            if isinstance(effect, Settled):
                await self.log.settle(effect.name, owner)
                return
            if owner not in self._world.shells:
                return
            bequest = actor_messages.handover_writes(effect, self._settings.submind, now)
            decision = await self.log.consider(actor_messages.proposal_of(owner, effect), bequest)
        except StoreUnavailable:
            self._try_again()
            return
        if decision.limit:
            limit = f"limit_hits:growth_{decision.limit}"
            self._world.tally[limit] = self._world.tally.get(limit, 0.0) + 1
        await self._settle()
        told = actor_messages.answer(owner, effect, decision, self.log.policy)
        if told is not None:
            self._tell(owner, told)

    async def look(self) -> None:
        """An operator has ordered something: whoever has an approval by it hears so."""
        await self.log.follow()
        for event in self.log.policy.permits(self._world.now):
            self._tell(event.submind, actor_messages.permitted(event))

    async def returned(self, name: str) -> None:
        """Tell one that came back from a crash what it may not know."""
        await self._tell_unsettled(name)

    async def _settle(self) -> None:
        """Bring about what the log says: births, ends, and that all are told."""
        for member in list(self.members):
            if member.living and member.name not in self._world.shells:
                await self._world.join(member.name)
                self._spread(member.name)
            elif not member.living and member.name in self._world.shells:
                if not await self._world.leave(member.name, self.present(member.name)):
                    self._try_again()
                    continue
                self._spread(member.name)
        await self._tell_unsettled()

    def _tell(self, to: str, event: Event) -> None:
        self._world.send(GROWTH, to, event, 1.0)

    def _spread(self, name: str) -> None:
        """Tell all of a birth or an end, and again after ever longer pauses: what is told may be lost."""
        self._news(name)
        for pause in actor_messages.NEWS_AGAIN:

            async def again() -> None:
                self._news(name)

            self._world.later(pause, again)

    def _news(self, name: str) -> None:
        member = self.log.policy.members[name]
        self._tell_all(Born(peer_of(member)) if member.living else Gone(name, self.present(name)))

    def _tell_all(self, event: Born | Gone) -> None:
        for name in list(self._world.shells):
            if type(event) in self.plan(name).faculty.accepts:
                self._tell(name, event)

    async def _tell_unsettled(self, name: str = "") -> None:
        """Tell parents and heirs, all or one, what they have not confirmed; and again after a while."""
        policy = self.log.policy
        for to, member in actor_messages.unsettled(self.members):
            self._try_again()
            if name not in ("", to):
                continue
            if member.living:
                self._tell(to, actor_messages.divided(to, member, policy))
                continue
            try:
                will = await HANDOVERS.get(self._stores.collections, member.name)
            except StoreUnavailable:
                continue
            if will:
                self._tell(to, actor_messages.inherited(member, will, policy))

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
