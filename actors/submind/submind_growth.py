"""How a submind grows and ends: it proposes, is told, lets go, takes over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from actors.effects import Commit, Count, Effect, Retire, Send, Settled, WakeAt
from actors.events import Event, Message, Post
from actors.growth import Born, Divided, Gone, GrowthRefused, Inherited, Moved, Permitted, Pressure
from actors.handover import Goal, HandoverState
from actors.names import ENVIRONMENT
from actors.settings import CognitiveSettings
from actors.submind.apoptosis import Apoptosis
from actors.submind.budget import Allowance
from actors.submind.division import Division, HandoverSource
from actors.submind.load import Load, LoadState
from actors.submind.message_router import MessageRouter
from environment.latest import Latest
from environment.messages import Instant, Thought, Via
from environment.ports import WriteState

_TRIES = 5
_REMEMBERED = 256


class Owner(Protocol):
    """What growing needs of the submind around it."""

    name: str
    allowance: Allowance

    def belongings(self, now: Instant) -> HandoverSource: ...

    def take_up(self, thought: Thought, via: Via | None, now: Instant) -> list[Effect]: ...

    def seek(self, event: Thought, now: Instant) -> list[Effect]: ...

    def let_go(self, events: Sequence[str]) -> None: ...

    def allow(self, share: float, now: Instant) -> None: ...

    def post(self, thoughts: Sequence[Thought], now: Instant) -> list[Effect]: ...

    def at_work(self) -> bool: ...

    def snapshot(self) -> bytes: ...


@dataclass(slots=True)
class _Asked:
    """A proposal under way."""

    growth: str
    at: Instant
    tries: int
    heir: str = ""
    """Set for a retirement."""
    promised: frozenset[str] = frozenset()
    """Events that would go along: not bound meanwhile."""
    saved: float = 0.0
    """Thoughts that would go along: put by, so that they are had once."""


class SubmindGrowth:
    """Division and apoptosis of one submind.

    Guarantees: until it is told that a child lives it keeps what it proposed to give; letting go and taking over are
    durable before anybody hears of them, and done once however often they are told; what comes for a topic that is
    another's now is passed on.
    """

    def __init__(self, owner: Owner, goals: Sequence[Goal], router: MessageRouter, settings: CognitiveSettings) -> None:
        self.share = 1.0
        self._goals = tuple(goals)
        self.load = Load(settings.division, settings.apoptosis.idle_for)
        self._owner = owner
        self._router = router
        self._settings = settings
        self._division = Division(settings.division, self.load)
        self._apoptosis = Apoptosis(settings.apoptosis, self.load)
        self._asked: _Asked | None = None
        self._as_of = 0
        self._made = 0
        self._children = Latest[str, None](_REMEMBERED)
        self._took = Latest[str, None](_REMEMBERED)
        self._given_goals: set[str] = set()
        self._inherited: list[tuple[Thought, Via | None]] = []

    @property
    def goals(self) -> tuple[Goal, ...]:
        """Its objectives: those it began with but for what it gave away; at least one."""
        return tuple(g for g in self._goals if g.text not in self._given_goals) or self._goals

    def configure(self, settings: CognitiveSettings) -> None:
        """The next proposal is judged by other settings."""
        self._settings = settings
        self.load.configure(settings.division, settings.apoptosis.idle_for)
        self._division.configure(settings.division)
        self._apoptosis.configure(settings.apoptosis)

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        """What it is told about growth; anything else is not its business."""
        match event:
            case Pressure():
                return self.pressed(event, now)
            case Divided():
                return self.divided(event, now)
            case Inherited():
                return self.inherited(event, now)
            case GrowthRefused():
                return self.refused(event, now)
            case Permitted():
                return self.permitted(event, now)
            case Gone():
                return self.gone(event, now)
            case Born():
                self._router.born(event.peer)
            case Moved():
                self._router.moved(event, now)
            case _:
                pass
        return []

    def begin(self, handover: HandoverState, now: Instant) -> None:
        """A child's life begins with what it was given."""
        self.share = handover.share
        self.load.began(handover.rounds, now)
        self._apoptosis.born, self._apoptosis.last_work = True, now
        self._inherited = [(event, handover.via.get(event.id)) for event in handover.events]
        self._router.tie(handover.owner, self._settings.division.ties, now, "its parent")

    def worked(self, now: Instant) -> None:
        """There was something to do."""
        self._apoptosis.last_work = now

    def holds(self, event_id: str) -> bool:
        """Whether an event is promised to somebody else for the moment."""
        return self._asked is not None and event_id in self._asked.promised

    # --- what comes for others ---

    def passed_on(self, message: Message, now: Instant) -> list[Effect] | None:
        """Pass a message on whose topic is another's; None for one that is its own business."""
        self.worked(now)
        if self._asked is not None and self._asked.heir:
            return self._pass(message, self._asked.heir)
        if not len(self._router.given):
            return None
        given = self._router.given_to(message.thought.vector)
        if given is not None and given.holder in (message.sender, message.thought.author):
            return None
        tell = self._router.given.came(message.sender, message.topic, belongs=given is not None)
        if given is None:
            return None
        effects = self._pass(message, given.holder)
        if tell and message.sender != self._owner.name:
            effects.append(Send(message.sender, Moved(message.topic, self._owner.name, given.holder), 1.0))
        return effects

    @staticmethod
    def _pass(message: Message, to: str) -> list[Effect]:
        return [Send(to, message, message.weight * message.thought.salience), Count("messages_passed_on_total")]

    # --- proposing ---

    def pressed(self, event: Pressure, now: Instant) -> list[Effect]:
        """Propose to divide when the overload has lasted."""
        self.load.pressed(event.use, now)
        return self._divide(now)

    def _divide(self, now: Instant) -> list[Effect]:
        """Propose it, where it is time to."""
        if self._asked is not None or not self.load.due(now):
            return []
        self._made += 1
        effects = self._propose_division(f"{self._owner.name}/{self._made}", 0, now)
        if not effects:
            self._made -= 1
            self.load.pause(now + self._settings.division.sustained)
            effects = [Count("divisions_inseparable_total")]
        return effects

    def tend(self, now: Instant) -> list[Effect]:
        """Begin with what was inherited, repeat what was not answered, propose to end when idle for long."""
        effects: list[Effect] = []
        inherited, self._inherited = self._inherited, []
        for event, via in inherited:
            effects += self._owner.take_up(event, via, now)
        within = self._settings.division.answer_within
        if self._asked is not None:
            if now - self._asked.at < within:
                return [*effects, WakeAt(self._asked.at + within)]
            return [*effects, *self._again(self._asked, now)]
        ends_at = self._apoptosis.ends_at(now)
        if ends_at is None or self._owner.at_work():
            return effects
        if now < ends_at:
            return [*effects, WakeAt(ends_at)]
        self._made += 1
        return [*effects, *self._propose_end(f"{self._owner.name}/{self._made}", 0, now)]

    def _again(self, asked: _Asked, now: Instant) -> list[Effect]:
        """No answer came: ask again under the same name, and after some tries rest."""
        if asked.tries >= _TRIES:
            rest = now + self._settings.division.cooldown
            asked.saved = 0.0  # it may be granted all the same: then another has them
            return self.refused(GrowthRefused(asked.growth, "no answer", rest), now)
        propose = self._propose_end if asked.heir else self._propose_division
        effects = propose(asked.growth, asked.tries, now)
        if not effects:
            return self.refused(GrowthRefused(asked.growth, "no longer wanted", now), now)
        return effects

    def _propose_division(self, growth: str, tries: int, now: Instant) -> list[Effect]:
        proposal = self._division.proposal(growth, self._owner.belongings(now), self._router, now)
        if proposal is None:
            return []
        saved = self._put_by(0.5, now)
        handover = replace(proposal.handover, saved=saved)
        self._asked = _Asked(growth, now, tries + 1, "", frozenset(e.id for e in handover.events), saved)
        return [*self._asking(now), replace(proposal, handover=handover), Count("divisions_proposed_total")]

    def _propose_end(self, growth: str, tries: int, now: Instant) -> list[Effect]:
        has = self._owner.belongings(now)
        proposal: Retire | None = self._apoptosis.proposal(growth, has, self._router, now)
        if proposal is None:
            return []
        saved = self._put_by(1.0, now)
        self._asked = _Asked(growth, now, tries + 1, proposal.heir, frozenset(e.id for e in has.events), saved)
        proposal = replace(proposal, handover=replace(proposal.handover, saved=saved))
        return [*self._asking(now), proposal, Count("retirements_proposed_total")]

    def _put_by(self, part: float, now: Instant) -> float:
        """Thoughts that go along with what is proposed: the same however often it is."""
        return self._asked.saved if self._asked is not None else self._owner.allowance.put_by(part, now)

    def _asking(self, now: Instant) -> list[Effect]:
        """What it proposes to hand over is what it will have after a crash: its names mean the same to both."""
        return [WakeAt(now + self._settings.division.answer_within), self._save()]

    def _save(self) -> Effect:
        return Commit(WriteState(self._owner.name, self._owner.snapshot()))

    def refused(self, event: GrowthRefused, now: Instant) -> list[Effect]:
        """Go on as before; what was held back is taken up again."""
        asked = self._asked
        if asked is None or asked.growth != event.growth:
            return []
        self._asked = None
        self._owner.allowance.add(asked.saved, now)
        if asked.heir:
            self._apoptosis.refused(event.retry_at)
        else:
            self.load.refused(event.retry_at)
        effects: list[Effect] = [Count("growth_refused_total")]
        for thought in self._owner.belongings(now).events:
            if thought.id in asked.promised:
                effects += self._owner.seek(thought, now)
        return effects

    def permitted(self, event: Permitted, now: Instant) -> list[Effect]:
        """An operator has said yes: propose it anew, with what it has now, where it is still wanted."""
        if not event.end:
            self.load.permitted()
            return self._divide(now)
        self._apoptosis.permitted()
        return self.tend(now)

    def divided(self, event: Divided, now: Instant) -> list[Effect]:
        """The child lives: let go of its topics, and hand on what came for them since."""
        if event.child in self._children:
            return [Settled(event.child)]
        if self._asked is not None and not self._asked.heir:
            if self._asked.growth != event.growth:
                self._owner.allowance.add(self._asked.saved, now)
            self._asked = None
        self._router.give(frozenset(event.topics), event.child, now)
        if set(event.goals) < {goal.text for goal in self.goals}:  # where all were of use to both, both have them
            self._given_goals.update(event.goals)
        self._share_in(event, now)
        self.load.divided(now)
        effects: list[Effect] = [Count("divisions_total")]
        has = self._owner.belongings(now)
        for thought in has.events:
            given = self._router.given_to(thought.vector)
            if given is not None and given.holder == event.child:
                effects += self._hand_on(thought, has.via.get(thought.id), event.child)
                self._owner.let_go([thought.id])
        self._router.tie(event.child, self._settings.division.ties, now, "its child")
        self._children[event.child] = None
        return [*effects, self._save(), Settled(event.child)]

    def _share_in(self, event: Divided | Inherited, now: Instant) -> None:
        """Its part of the budget is another, as far as that is news."""
        if event.as_of >= self._as_of:
            self.share, self._as_of = event.share, event.as_of
            self._owner.allow(event.share, now)

    @staticmethod
    def _hand_on(thought: Thought, via: Via | None, to: str) -> list[Effect]:
        sender, topic = (via.sender, via.topic) if via is not None else (thought.author, "")
        return [Send(to, Message(thought, sender, topic, thought.topic, 1.0), 1.0), Count("messages_passed_on_total")]

    def inherited(self, event: Inherited, now: Instant) -> list[Effect]:
        """Take over what one that ended has left."""
        if event.name in self._took:
            return [Settled(event.name)]
        handover = event.handover
        kept = self._heirless(event.name, now)
        self._router.gone(Gone(event.name, self._owner.name), now)
        self._router.take(handover, now)
        self._given_goals -= {goal.text for goal in handover.goals}
        self._share_in(event, now)
        self._owner.allowance.add(handover.saved, now)
        self.load.merged(handover.rounds, now)
        effects = [*kept, Count("inheritances_total"), *self._owner.post(handover.waiting, now)]
        for thought in handover.events:
            effects += self._owner.take_up(thought, handover.via.get(thought.id), now)
        self._took[event.name] = None
        return [*effects, self._save(), Settled(event.name)]

    def gone(self, event: Gone, now: Instant) -> list[Effect]:
        """A peer has ended, or this one does: then what came since it proposed to goes to the heir."""
        if event.name != self._owner.name:
            self._router.gone(event, now)
            return self._heirless(event.name, now)
        has = self._owner.belongings(now)
        effects: list[Effect] = []
        for thought in has.events:
            effects += self._hand_on(thought, has.via.get(thought.id), event.heir)
        if has.waiting:
            effects.append(Send(ENVIRONMENT, Post(self._owner.name, tuple(has.waiting)), 1.0))
        return effects

    def _heirless(self, gone: str, now: Instant) -> list[Effect]:
        """Whom it wanted to leave everything to has ended first: it goes on."""
        if self._asked is None or self._asked.heir != gone:
            return []
        return self.refused(GrowthRefused(self._asked.growth, f"{gone} has ended", now), now)

    def figures(self) -> dict[str, float]:
        """Gauges by metric name."""
        return {
            "share": self.share,
            "overloaded": float(self.load.overloaded),
            "topics_given": float(len(self._router.given)),
        }

    def dump(self) -> SubmindGrowthState:
        """For a snapshot. A proposal under way is made again."""
        return SubmindGrowthState(
            share=self.share,
            born=self._apoptosis.born,
            last_work=self._apoptosis.last_work,
            made=self._made,
            load=self.load.dump(),
            children=list(self._children),
            took=list(self._took),
            given_goals=sorted(self._given_goals),
            inherited=self._inherited,
            as_of=self._as_of,
        )

    def restore(self, state: SubmindGrowthState) -> None:
        """From a snapshot."""
        self.share, self._made, self._as_of = state.share, state.made, state.as_of
        self._apoptosis.born, self._apoptosis.last_work = state.born, state.last_work
        self.load.load(state.load)
        self._children.update(dict.fromkeys(state.children))
        self._took.update(dict.fromkeys(state.took))
        self._given_goals = set(state.given_goals)
        self._inherited = state.inherited


class SubmindGrowthState(msgspec.Struct):
    """What of growing is saved."""

    share: float
    born: bool
    last_work: Instant
    made: int
    load: LoadState
    children: list[str]
    took: list[str]
    given_goals: list[str]
    inherited: list[tuple[Thought, Via | None]]
    as_of: int = 0
