"""What comes of growth, whoever brings it about: whose lives begin and end, and who is told what."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import structlog

from actors.effects import Divide, Retire
from actors.events import Event
from actors.growth import Born, Gone, GrowthRefused
from environment.messages import Instant
from environment.population import Member
from environment.ports import Stores
from orchestration.growth import actor_messages
from orchestration.growth.log import HANDOVERS, GrowthLog
from orchestration.growth.proposals import GrowthDecision, GrowthVerdict
from orchestration.growth.recent import RecentMembers
from orchestration.settings import Settings
from orchestration.wiring import peer_of, plan

_log = structlog.get_logger(__name__)
Told: TypeAlias = tuple[str, Event]
"""An event, and who is to be told of it."""


class GrowthDriver:
    """Drives a population after its log: the shell around it sends what is told, begins lives and ends them.

    Guarantees: each life that the log grants is named once to be begun, and once to be ended; who has to let go or to
    take over is told at each ``returned`` and ``unsettled`` until it has. What raises may be repeated.
    """

    def __init__(self, settings: Settings, stores: Stores, clock: Callable[[], Instant], fence: int = 0) -> None:
        configured = {submind.name: submind.role for submind in settings.mind.everyone()}
        self.log = GrowthLog(stores, settings.growth, configured, clock, fence)
        self.recent = RecentMembers(self.log.policy)
        self._settings = settings
        self._stores = stores
        self._clock = clock
        self._joined: set[str] = set()
        self._permitted: set[int] = set()

    @property
    def members(self) -> Mapping[str, Member]:
        """Everybody who was ever born."""
        return self.log.policy.members

    def heir(self, name: str) -> str:
        """Who has what ``name`` had."""
        return actor_messages.living_heir(name, self.members)

    async def begin(self) -> list[Member]:
        """Read the log; who lives beside those configured, and is taken to have begun."""
        await self.log.follow()
        living = [member for member in self.members.values() if member.living]
        self._joined = {member.name for member in living}
        return living

    async def consider(
        self, owner: str, effect: Divide | Retire, now: Instant, nodes: Mapping[str, int] | None = None
    ) -> tuple[GrowthDecision, list[Told]]:
        """Decide on a proposal at mind time ``now`` (``GrowthLog.consider``), and what is told at once."""
        writes = actor_messages.handover_writes(effect, self._settings.submind, now)
        decision = await self.log.consider(actor_messages.proposal_of(owner, effect), writes, nodes)
        if decision.verdict is not GrowthVerdict.GRANTED:
            again = now + max(0.0, decision.retry_at - self._clock())
            return decision, [(owner, GrowthRefused(effect.growth, decision.reason, again))]
        return decision, [] if decision.event else await self.returned(owner)  # its answer was lost

    def turns(self) -> list[Member]:
        """Whose lives begin now, and whose end, for those that live to be those in the log."""
        turned = [member for member in self.members.values() if member.living is not (member.name in self._joined)]
        for member in turned:
            self.turned(member.name, joined=member.living)
        return turned

    def turned(self, name: str, *, joined: bool) -> None:
        """One lives, or does not: it is named again where the log says otherwise."""
        (self._joined.add if joined else self._joined.discard)(name)

    def news(self, member: Member) -> list[Told]:
        """What all others are told of a birth or an end."""
        event = self._event(member)
        others = (actor for actor in plan(self._settings, self.members.values()) if actor.name != member.name)
        return [(actor.name, event) for actor in others if type(event) in actor.faculty.accepts]

    def news_again(self, now: Instant, within: float) -> list[Told]:
        """The news that are told again, where their time for it came in the last ``within`` seconds."""
        found: list[Told] = []
        for member in self.recent.changed(now):
            age = now - (member.born if member.retired is None else member.retired)
            if any(age - within < pause <= age for pause in actor_messages.NEWS_AGAIN):
                found += self.news(member)
        return found

    def _event(self, member: Member) -> Born | Gone:
        return Born(peer_of(member)) if member.living else Gone(member.name, self.heir(member.name))

    async def ordered(self) -> list[Told]:
        """An operator has ordered something: what whoever has an approval by it is told."""
        await self.log.follow()
        new = [event for event in self.log.policy.permits(self._clock()) if event.seq not in self._permitted]
        self._permitted.update(event.seq for event in new)
        return [(event.submind, actor_messages.permitted(event)) for event in new]

    async def returned(self, name: str) -> list[Told]:
        """What one that begins a life is told, since it may not know."""
        member, now = self.members.get(name), self._clock()
        if member is not None and not member.living:
            return [(name, Gone(name, self.heir(name)))]
        permits = [event for event in self.log.policy.permits(now) if event.submind == name]
        told: list[Told] = [(name, actor_messages.permitted(event)) for event in permits]
        recent = [other for other in self.recent.changed(now) if other.name != name]  # the rest it read of the store
        return [*told, *((name, self._event(other)) for other in recent), *await self.unsettled(name)]

    async def unsettled(self, name: str = "") -> list[Told]:
        """What parents and heirs, all or one, are told since they have not confirmed it."""
        told: list[Told] = []
        for to, member in self.recent.unsettled(self._clock()):
            if name not in {"", to}:
                continue
            if member.living:
                if member.name in self._joined:
                    told.append((to, actor_messages.divided(to, member, self.log.policy)))
            elif will := await HANDOVERS.get(self._stores.collections, member.name):
                try:
                    told.append((to, actor_messages.inherited(member, will, self.log.policy)))
                except ValueError:  # one that cannot be read must not keep the others from their heirs
                    _log.exception("will_not_readable", submind=member.name)
        return told
