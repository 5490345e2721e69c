"""The cognitive submind: binds what it is told and what it finds, under a goal, into thoughts of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from actors.chance import Chance, phase
from actors.core import Description, Inward
from actors.effects import Count, Effect, Generate, Send, WakeAt
from actors.events import (
    Broadcast,
    Configured,
    Crawl,
    CrawlKind,
    Credit,
    Event,
    Found,
    Generated,
    Message,
    Posted,
    Refused,
    Register,
    Reinforce,
    Revise,
    Started,
    Tick,
)
from actors.handover import Goal, Habits, HandoverState
from actors.names import ENVIRONMENT
from actors.running import RunningRank
from actors.settings import CognitiveSettings
from actors.snapshots import pack, unpack
from actors.submind.binding import Binder, BindingWindow, Bound
from actors.submind.budget import Allowance
from actors.submind.composing import compose, request
from actors.submind.division import HandoverSource
from actors.submind.message_router import MessageRouter, RouterState
from actors.submind.retransmit import RetransmitBuffer
from actors.submind.submind_growth import SubmindGrowth, SubmindGrowthState
from environment.latest import Latest
from environment.messages import Instant, Thought, ThoughtKind, Trace, Via
from environment.salience import at as level_at

_SEEN = 4096
_WAITING = 64
_GAIN = 0.15
_ANSWER_WITHIN = 60.0


@dataclass(slots=True)
class _Search:
    """A crawl under way: what it is for."""

    event: Thought | None
    at: Instant


class SubmindCore(Inward):
    """One cognitive submind.

    Guarantees: a doubled message is handled once; at most ``per_hour`` bindings; no thought deeper than
    ``max_depth``; no thought more trusted than the least of what it rests on.
    """

    def __init__(
        self, name: str, goals: Sequence[Goal], router: MessageRouter, settings: CognitiveSettings, chance: Chance
    ) -> None:
        self.name, self.saved = name, _Saved
        self._router = router
        self._settings = settings
        self._chance = chance
        self._binder = Binder(settings.binding)
        self._window = BindingWindow(settings.binding)
        self._interest = RunningRank(settings.binding.memory)
        self.allowance = Allowance(settings.binding.per_hour)
        self._seen = Latest[str, None](_SEEN)
        self._via = Latest[str, Via](_SEEN)
        self._searches = Latest[str, _Search](_WAITING)
        self._bindings = Latest[str, tuple[Bound, Trace]](_WAITING)
        self._revising = Latest[str, tuple[Thought, Instant]](_WAITING)
        self._unacknowledged = RetransmitBuffer(name)
        self._made = 0
        self._last_work: Instant = 0.0
        self._growing = SubmindGrowth(self, goals, router, settings)
        self._wandered: Instant | None = None

    @property
    def topics(self) -> frozenset[str]:
        """The keys of its topics."""
        return self._router.topics.keys

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        match event:
            case Message():
                effects = self._told(event, now)
            case Found():
                effects = self._found(event, now)
            case Generated():
                effects = self._thought(event, now)
            case Broadcast():
                effects = self._aware(event, now)
            case Credit():
                effects = self._router.credited(event, now)
            case Register():
                effects = self._router.asked(event, now)
            case Configured(section=CognitiveSettings() as settings):
                self._configure(settings, now)
                effects = []
            case Refused():
                effects = self._on_its_own(event.trace_id, now)
            case Started() | Tick():
                effects = [*self._unacknowledged.tend(now), *self._tend(now)]
                for trace_id in [i for i, (_, at) in self._revising.items() if now - at >= _ANSWER_WITHIN]:
                    effects += self._on_its_own(trace_id, now)
            case Posted():
                effects = self._arrived(event, now)
            case _:
                effects = self._growing.handle(event, now)
        return [*effects, *self._router.record()]

    def _configure(self, settings: CognitiveSettings, now: Instant) -> None:
        self._settings = settings
        self._binder.configure(settings.binding)
        self._window.configure(settings.binding)
        self.allowance.configure(settings.binding.per_hour * self._growing.share, now)
        self._router.configure(settings)
        self._growing.configure(settings)

    def _told(self, message: Message, now: Instant) -> list[Effect]:
        """A thought came along a connection."""
        thought = message.thought
        if thought.id in self._seen or thought.author == self.name:
            return []
        self._seen[thought.id] = None
        passed_on = self._growing.passed_on(message, now)
        if passed_on is not None:
            return passed_on
        self._via[thought.id] = Via(message.sender, message.topic)
        topic = self._router.place(thought.vector, thought.associations, now)
        self._growing.load.met(topic.key, now)
        return self._consider(thought, now)

    def _consider(self, thought: Thought, now: Instant) -> list[Effect]:
        """Seek memories for what is interesting enough."""
        if thought.depth >= self._settings.max_depth:
            return [Count("limit_hits:depth")]
        self._binder.rarity.learn(thought.associations)
        fit = max(float(thought.vector @ goal.vector) for goal in self._growing.goals)
        worth = thought.salience * (0.5 + 0.5 * max(fit, 0.0))
        if fit < self._settings.binding.least_fit or self._interest.update(worth) < self._settings.binding.interest:
            return []
        self._window.add(thought)
        self._last_work = now
        return self.seek(thought, now)

    def seek(self, thought: Thought, now: Instant) -> list[Effect]:
        """Look for memories of an event that waits to be bound."""
        if not self.allowance.ready(now):
            return [Count("limit_hits:bindings")]
        kind = CrawlKind.ASSOCIATIVE if self._chance.uniform() < 0.5 else CrawlKind.DIRECTED  # noqa: PLR2004  # either way leads on
        return [self._crawl(kind, thought, now)]

    def _crawl(self, kind: CrawlKind, event: Thought | None, now: Instant) -> Effect:
        self._made += 1
        token = f"{self.name}/{self._made}"
        self._searches[token] = _Search(event, now)
        terms, vector = (event.associations, event.vector) if event else ((), None)
        if kind is CrawlKind.ASSOCIATIVE and not terms:
            kind = CrawlKind.DIRECTED
        crawl = Crawl(
            sender=self.name,
            token=token,
            kind=kind,
            k=self._settings.binding.memories,
            vector=vector,
            terms=terms,
            exclude_author=self.name,
            exclude_lineage=(event.id, *(p.id for p in event.perceptions)) if event else (),
            before=event.time if event else None,
        )
        return Send(ENVIRONMENT, crawl)

    def _found(self, found: Found, now: Instant) -> list[Effect]:
        """Traces met on a crawl: memories for the event that sent it out, or events themselves."""
        search = self._searches.pop(found.token, None)
        if search is None:
            return []
        if search.event is None:
            return self._stumble(found.traces, now)
        events = [e for e in self._window.events(now) if not self._growing.holds(e.id)]
        if search.event.id not in {e.id for e in events}:
            return []
        bound = self._binder.bind(events, [t.thought for t in found.traces], self._growing.goals)
        if bound is None:
            return []
        if not self.allowance.take(now):
            return [Count("limit_hits:bindings")]
        self._window.remove([bound.event.id])
        trace = next(t for t in found.traces if t.thought is bound.memory)
        return [self._generate(bound, trace), *self._meet(bound, trace, now)]

    def _meet(self, bound: Bound, trace: Trace, now: Instant) -> list[Effect]:
        """The memory that was bound proved useful: raise its trace, and get to know its author."""
        effects: list[Effect] = [Send(ENVIRONMENT, Reinforce(trace.id, self.name, _GAIN, (bound.event.id,)))]
        for author in dict.fromkeys((trace.thought.author, bound.event.author)):
            effects += self._router.meet(author, trace.thought, now)
        return effects

    def _stumble(self, traces: Sequence[Trace], now: Instant) -> list[Effect]:
        """Met while wandering: each is taken as an event, as salient as it still is."""
        effects: list[Effect] = []
        for trace in (one for one in traces[:2] if one.id not in self._seen):
            self._seen[trace.id] = None
            self._router.place(trace.thought.vector, trace.thought.associations, now)
            effects += self._consider(replace(trace.thought, salience=level_at(trace.level, now), at=now), now)
        return effects

    def _generate(self, bound: Bound, memory: Trace) -> Effect:
        self._made += 1
        token = f"{self.name}/{self._made}"
        self._bindings[token] = (bound, memory)
        return Generate(token, request(self.name, bound))

    def _thought(self, generated: Generated, now: Instant) -> list[Effect]:
        """The substrate answered: leave the thought as a trace and tell the peers of its topic."""
        bound, memory = self._bindings.pop(generated.token, (None, None))
        if bound is None or memory is None:
            return []
        parts = [bound.event, bound.memory]
        via = tuple(dict.fromkeys(self._via[p.id] for p in parts if p.id in self._via))
        topic = self._router.place(generated.vector, bound.event.associations, now)
        thought = compose(self.name, bound, generated, via, topic.label, now)
        self._seen[thought.id] = None
        self._last_work = now
        self._growing.worked(now)
        return self._leave(thought, bound, memory, now)

    def _leave(self, thought: Thought, bound: Bound, memory: Trace, now: Instant) -> list[Effect]:
        """Build on a connection that somebody made before, so that a story grows in one place; else leave a trace."""
        if memory.thought.kind is not ThoughtKind.INSIGHT:
            return self._unacknowledged.post([thought], now)
        thought = replace(thought, depth=max(bound.event.depth + 1, memory.thought.depth))
        self._revising[memory.id] = (thought, now)
        revision = Revise(memory.id, memory.version, self.name, thought)
        return [Send(ENVIRONMENT, revision, 1.0), Count("thoughts_total"), WakeAt(now + _ANSWER_WITHIN)]

    def _on_its_own(self, trace_id: str, now: Instant) -> list[Effect]:
        """What could not be built on that trace becomes one of its own."""
        thought, _ = self._revising.pop(trace_id, (None, 0.0))
        return self._unacknowledged.post([thought], now) if thought is not None else []

    def _arrived(self, posted: Posted, now: Instant) -> list[Effect]:
        """A thought is durable: tell the peers of its topic, but not those it came from."""
        effects: list[Effect] = []
        for trace_id in posted.ids:
            self._revising.pop(trace_id, None)
        for thought in self._unacknowledged.arrived(posted.ids):
            if thought.depth < self._settings.max_depth:
                effects += self._router.speak(thought, now, frozenset(v.sender for v in thought.via))
        return effects

    def _aware(self, broadcast: Broadcast, now: Instant) -> list[Effect]:
        """Something became conscious: it is taken up like a thought that was told."""
        focus = broadcast.focus
        if focus is None or focus.thought.author == self.name or focus.id in self._seen:
            return []
        self._seen[focus.id] = None
        return self._consider(focus.thought, now)

    def _tend(self, now: Instant) -> list[Effect]:
        self._router.tend(now)
        effects = self._growing.tend(now)
        every, leeway = self._settings.wander_every, self._settings.wander_leeway
        first = now - (1.0 - phase(self.name)) * every  # not all at once where thousands begin together
        self._wandered = first if self._wandered is None else self._wandered
        if now - max(self._last_work, self._wandered) >= every and self.allowance.ready(now):
            self._wandered = now
            events = self._window.events(now)
            event = None if self._chance.uniform() < self._settings.random_share or not events else events[-1]
            effects.append(self._crawl(CrawlKind.DIRECTED if event else CrawlKind.RANDOM, event, now))
        return [*effects, WakeAt(max(self._last_work + every, self._wandered + every, now + every / 60), leeway)]

    # --- what growing asks of it ---

    def begin(self, handover: HandoverState, now: Instant) -> None:
        """A life that begins with what a parent gave, before ``snapshot`` makes its first state of it."""
        self._router.topics.begin(f"{self.name}.k", handover.mean, handover.seen)
        self._router.take(handover, now)
        self._growing.begin(handover, now)
        self.allow(handover.share, now)
        self.allowance.begin(handover.saved, now)
        self._interest.load(list(handover.habits.interest))
        self._binder.moments.load(handover.habits.moments)
        self._binder.rarity.load(dict(handover.habits.rarity))
        self._last_work = now

    def belongings(self, now: Instant) -> HandoverSource:
        """What it has that another could take over."""
        growing = self._growing
        waiting = [*self._unacknowledged.dump(), *(thought for thought, _ in self._revising.values())]
        habits = Habits(tuple(self._interest.dump()), tuple(self._binder.moments.dump()), self._binder.rarity.dump())
        events, rounds = self._window.events(now), growing.load.rounds(now)
        return HandoverSource(self.name, growing.goals, events, self._via, waiting, growing.share, rounds, habits)

    def take_up(self, thought: Thought, via: Via | None, now: Instant) -> list[Effect]:
        """An event that another was about to bind, once."""
        if thought.id in self._seen:
            return []
        self._seen[thought.id] = None
        if via is not None:
            self._via[thought.id] = via
        self._window.add(thought)
        return self.seek(thought, now)

    def let_go(self, events: Sequence[str]) -> None:
        """Events that are another's now."""
        self._window.remove(events)

    def allow(self, share: float, now: Instant) -> None:
        """Its part of the budget is another from now on."""
        self.allowance.configure(self._settings.binding.per_hour * share, now)

    def post(self, thoughts: Sequence[Thought], now: Instant) -> list[Effect]:
        """See to it that thoughts become durable."""
        return self._unacknowledged.post(thoughts, now)

    def at_work(self) -> bool:
        """Whether something of its own is under way."""
        return bool(len(self._unacknowledged) or self._revising)

    def describe(self) -> Description:
        figures = {"window": float(len(self._window)), **self._router.registry.figures(), **self._growing.figures()}
        return Description("cognitive", self._growing.goals[0].text, self._router.topics.labels, figures)

    def snapshot(self) -> bytes:
        return pack(
            _Saved(
                voice=self._router.dump(),
                waiting=[*self._unacknowledged.dump(), *(thought for thought, _ in self._revising.values())],
                drawn=self._chance.drawn,
                interest=self._interest.dump(),
                moments=self._binder.moments.dump(),
                rarity=self._binder.rarity.dump(),
                seen=list(self._seen),
                made=self._made,
                left=self.allowance.left,
                at=self.allowance.at,
                growing=self._growing.dump(),
            )
        )

    def restore(self, state: bytes) -> None:
        saved = unpack(state, _Saved)
        self._router.load(saved.voice)
        self._unacknowledged.load(saved.waiting)
        self._chance.drawn = saved.drawn
        self._interest.load(saved.interest)
        self._binder.moments.load(saved.moments)
        self._binder.rarity.load(saved.rarity)
        self._seen.update(dict.fromkeys(saved.seen))
        self._made = saved.made
        if saved.growing is not None:
            self._growing.restore(saved.growing)
            self.allowance = Allowance(self._settings.binding.per_hour * self._growing.share)
        self.allowance.left, self.allowance.at = saved.left, saved.at


class _Saved(msgspec.Struct):
    voice: RouterState
    waiting: list[Thought]
    drawn: int
    interest: list[float]
    moments: list[object]
    rarity: dict[str, int]
    seen: list[str]
    made: int
    left: float
    at: Instant | None
    growing: SubmindGrowthState | None = None
