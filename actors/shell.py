"""The one shell around every core: restores it, feeds it, and performs what it asks for.

Both drivers of a mind, the live one under Ray and the deterministic simulator, run this same shell; they differ
only in the ``Driver`` they hand it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import Protocol

import msgspec

from actors.chance import phase
from actors.core import Core
from actors.effect_policy import check
from actors.effects import Commit, Count, Divide, Effect, Embed, Generate, Note, Read, Retire, Send, Settled, WakeAt
from actors.events import (
    Configured,
    Credit,
    Event,
    Generated,
    Message,
    Perceived,
    Register,
    Said,
    Seen,
    Started,
    Tick,
    Vitals,
)
from actors.growth import Gone, Pressure
from actors.image_features import ImageFeatures
from actors.mailbox import Mailbox
from actors.names import MONITORING
from actors.settings import ShellSettings
from actors.snapshots import fitted
from actors.substrate.ports import Embedder, Generation
from environment.clocks import ClockSetBack, believed, redated, was_wrong
from environment.errors import DuplicateEntry, StoreUnavailable
from environment.messages import Instant, Perception, SubmindReport, SubmindState
from environment.ports import Stores, Write, WriteConnections, WriteReport, WriteState


class Driver(Protocol):
    """What differs between a live mind and a simulated one. None of these may fail or wait."""

    def send(self, sender: str, to: str, event: Event, priority: float) -> None:
        """Pass an event on: at most once."""

    def generate(self, owner: str, effect: Generate | Embed) -> None:
        """Ask the substrate or the embedder; later offers ``Generated`` or ``Embedded`` to the owner."""

    def read(self, owner: str, effect: Read) -> None:
        """Watch the perception log; later calls ``perceive`` on the owner's shell."""

    def note(self, owner: str, effect: Note) -> None:
        """Write a log line."""

    def propose(self, owner: str, effect: Divide | Retire | Settled) -> None:
        """Hand a proposal of growth, or word that one is settled, to the one place that decides."""


class Meter(Protocol):
    """Measures how long things take, where somebody wants to know: a live mind has one, a simulated one has none."""

    def now(self) -> float:
        """Seconds of a clock that only goes forward."""

    def observe(self, name: str, seconds: float) -> None:
        """Take in a duration."""

    def flat(self) -> Mapping[str, float]:
        """All figures by metric name, and what the substrate says of itself."""


@dataclass(eq=False, repr=False)
class ActorShell:
    """Runs one core.

    Guarantees: what a step commits is durable before anything the step sends leaves; when the store refuses,
    the step is kept and finished later by ``finish``, in order, and no further event is handled before that.
    What a core asks for that is not its to decide (``actors/effect_policy.py``) ends its life with ``EffectForbidden``.
    To a core time never goes back for long: a clock that was set back ends its life with ``ClockSetBack``, and nothing
    that is restored lies long ahead.
    A crash loses the mailbox and what changed since the last ``save``: cores are written so that nothing
    acknowledged depends on either.

    ``accepts``: if it takes in a type of event. ``monitors``: told its figures; ``collections``: its own.
    """

    core: Core
    _stores: Stores
    _driver: Driver
    _settings: ShellSettings
    _: KW_ONLY
    embedder: Embedder
    fence: int = 0
    accepts: Callable[[type[Event]], bool] = lambda _: True
    monitors: InitVar[Sequence[str]] = (MONITORING,)
    collections: Collection[str] = ()

    def __post_init__(self, monitors: Sequence[str]) -> None:
        self.mailbox = Mailbox(self._settings.mailbox, self._settings.patience)
        self.counters: defaultdict[str, float] = defaultdict(float)
        self.wake_at: Instant | None = None
        self.wake_by: Instant | None = None
        self.meter: Meter | None = None
        self._monitors = tuple(name for name in monitors if name != self.core.name)
        self._writes: list[Write] = []
        self._others: list[Effect] = []
        self._state_bytes, self._fell_back = 0, ""
        self._changed = False
        self._vitals_at: Instant | None = None
        self._latest: Instant = float("-inf")
        self._gauge = _Gauge(self._settings.pressure_every)

    @property
    def name(self) -> str:
        """The core's name."""
        return self.core.name

    @property
    def unfinished(self) -> bool:
        """True while a step waits for the store."""
        return bool(self._writes or self._others)

    @property
    def unsaved(self) -> bool:
        """True while there is something that ``save`` would write."""
        return self._changed

    async def start(self, now: Instant) -> None:
        """Restore the core from the store and let it begin. Raises ``StoreUnavailable`` before anything changed."""
        state = await self._stores.registry.state(self.name)
        if state:
            try:
                saved = getattr(self.core, "saved", None)
                self.core.restore(fitted(redated(state, saved, now), saved, self.embedder.dim))
            except (ValueError, msgspec.MsgspecError) as error:  # another version's: better forgetful than dead
                self._others.append(Note("state_not_restored", "warning", {"reason": str(error)}))
        self._collect(Started(), now)
        await self.finish()

    def offer(self, event: Event, priority: float, now: Instant) -> None:
        """Put an event in the mailbox, unless it is none that the core takes in."""
        if not self.accepts(type(event)):
            self.counters["messages_not_taken_total"] += 1
            return
        self._gauge.pass_time(self.mailbox, now)
        if not self.mailbox.offer(event, priority, now):
            self.counters["messages_dropped_total"] += 1
            self.counters["limit_hits:mailbox"] += 1

    def hold_back(self, now: Instant, *, held: bool) -> None:
        """Its senders keep what they have for it, since there is no room, or do so no more.

        What waits with them is work as well: while they do the mailbox counts as full.
        """
        self._gauge.pass_time(self.mailbox, now)
        self._gauge.held = held

    async def step(self, now: Instant) -> int:
        """Handle what is due, a bounded batch of it; how many events were handled.

        Raises ``StoreUnavailable`` when the store refuses: call ``finish`` after a while.
        """
        if self.unfinished:
            await self.finish()
        self._pass_time(now)
        pressure = self._gauge.read(self.mailbox, now)
        if pressure is not None:
            self._collect(pressure, now)
        events = self.mailbox.take(self._settings.batch)
        if self.wake_at is not None and self.wake_at <= now:
            self.wake_at = self.wake_by = None
            events.append(Tick())
        for event in events:
            self._collect(event, now)
        await self.finish()
        return len(events)

    async def configure(self, events: Iterable[Configured], now: Instant) -> None:
        """Tell the core that settings were changed: beside the mailbox, so it is never dropped. Raises as ``step``.

        The step before must be finished.
        """
        for event in events:
            self._collect(event, now)
        await self.finish()

    async def perceive(
        self, perceptions: Sequence[Perception], now: Instant, looks: Mapping[bytes, ImageFeatures] | None = None
    ) -> None:
        """Embed what the core asks for and hand it the perceptions, after what was seen of images. As ``step``."""
        perceptions = [believed(each, now) for each in perceptions]
        if looks:
            self._collect(Seen(looks), now)
        texts = list(dict.fromkeys(self.core.texts(perceptions)))
        vectors = dict(zip(texts, await self.embedder.embed(texts), strict=True)) if texts else {}
        self._collect(Perceived(tuple(perceptions), vectors), now)
        self.counters["perceptions_processed_total"] += len(perceptions)
        await self.finish()

    async def bequeath(self, heir: str, now: Instant) -> None:
        """The last step of one that ends: its core hands on what it has, and mail that waits goes to the heir.

        Raises as ``step``; may then be repeated.
        """
        if self.unfinished:
            await self.finish()
        waiting = self.mailbox.take(len(self.mailbox))
        self._collect(Gone(self.name, heir), now)
        for event in waiting:
            if isinstance(event, Message | Credit | Register):
                priority = event.weight * event.thought.salience if isinstance(event, Message) else 0.5
                self._others.append(Send(heir, event, priority))
        await self.finish()
        rows = tuple((link.topic, link.peer) for link in await self._stores.registry.connections(self.name))
        if rows:  # also of topics that a crash made it forget
            await self._stores.commit([WriteConnections(self.name, (), rows, ())], self.fence)

    async def finish(self) -> None:
        """Commit what is to be committed, then let the rest of the step go. Raises ``StoreUnavailable``."""
        if self._writes:
            began = self.meter.now() if self.meter else 0.0
            try:
                await self._stores.commit(self._writes, self.fence)
            except StoreUnavailable:
                self.counters["store_refusals_total"] += 1
                raise
            except DuplicateEntry as error:
                await self._said(error)
            if self.meter:
                self.meter.observe("store_commit_seconds", self.meter.now() - began)
            self.counters["store_commits_total"] += 1
            self._writes = []
        others, self._others = self._others, []
        for effect in others:
            match effect:
                case Send():
                    self.counters["messages_sent_total"] += 1
                    self._driver.send(self.name, effect.to, effect.event, effect.priority)
                case Generate() | Embed():
                    self.counters["generations_total"] += isinstance(effect, Generate)
                    self._driver.generate(self.name, effect)
                case Read():
                    self._driver.read(self.name, effect)
                case Note():
                    self._driver.note(self.name, effect)
                case Divide() | Retire() | Settled():
                    self._driver.propose(self.name, effect)

    async def _said(self, error: DuplicateEntry) -> None:
        """Instead of a step that would say once more what was said: have the core take it back."""
        entry, head = await self._stores.stream.find(error.entry_id), await self._stores.stream.head()
        if entry is None:
            raise error
        self._others = []
        self._sort(self.core.handle(Said(entry, head), entry.at))

    async def save(self, wall: Instant, state: SubmindState = SubmindState.RUNNING, reason: str = "") -> None:
        """Write state and report, if anything changed since the last time. Raises ``StoreUnavailable``."""
        if self.unfinished or not (self._changed or reason or state is not SubmindState.RUNNING):
            return
        snapshot = self.core.snapshot()
        self._state_bytes = len(snapshot)
        writes: list[Write] = [WriteReport(self.report(wall, state, reason))]
        if snapshot:
            writes.append(WriteState(self.name, snapshot))
        await self._stores.commit(writes, self.fence)
        self._changed = False

    def figures(self) -> dict[str, float]:
        """Counters and gauges by metric name."""
        measured = self.meter.flat() if self.meter else {}
        own = {"mailbox_depth": float(len(self.mailbox)), "state_bytes": float(self._state_bytes)}
        return {**self.counters, **measured, **self.core.describe().figures, **own}

    def report(self, wall: Instant, state: SubmindState = SubmindState.RUNNING, reason: str = "") -> SubmindReport:
        """What this actor says of itself."""
        told = self.core.describe()
        return SubmindReport(
            name=self.name,
            role=told.role,
            goal=told.goal,
            state=state,
            at=wall,
            topics=told.topics,
            mailbox=len(self.mailbox),
            metrics=self.figures(),
            reason=reason or self._fell_back,
        )

    async def perform(self, effects: Sequence[Effect]) -> None:
        """Perform effects that came from elsewhere than an event. Raises as ``step``."""
        self._sort(effects)
        await self.finish()

    def _pass_time(self, now: Instant) -> None:
        if was_wrong(self._latest, now):
            raise ClockSetBack(self._latest - now)
        self._latest = max(self._latest, now)

    def _collect(self, event: Event, now: Instant) -> None:
        self._pass_time(now)
        self._changed = self._changed or not isinstance(event, Tick | Vitals | Pressure)
        if isinstance(event, Generated):
            self._account(event.generation)
        began = self.meter.now() if self.meter else 0.0
        effects = self.core.handle(event, now)
        if self.meter:
            self.meter.observe("handle_seconds", self.meter.now() - began)
        self._sort(effects)
        self.counters["events_handled_total"] += 1
        if self._vitals_at is None:  # not all at once where thousands begin together
            self._vitals_at = now + phase(self.name) * self._settings.vitals_every
        if now >= self._vitals_at and self._monitors:
            self._vitals_at = now + self._settings.vitals_every
            vitals = Vitals(self.name, self.figures())
            self._others += [Send(name, vitals) for name in self._monitors]

    def _account(self, generation: Generation) -> None:
        """Count what an answer of the substrate cost."""
        self.counters["tokens_in_total"] += generation.tokens_in
        self.counters["tokens_out_total"] += generation.tokens_out
        self.counters["cost_total"] += generation.cost
        self.counters["worded_total"] += generation.by_model
        self.counters["generations_cached_total"] += generation.cached
        if generation.fallback:
            self.counters["fallbacks_total"] += 1
            self.counters[f"fallback_causes_total:{generation.cause or 'other'}"] += 1
            self._fell_back = f"words by rule: {generation.fallback}"
            self._others.append(Note("substrate_fell_back", "warning", {"reason": generation.fallback}))

    def _sort(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            check(self.name, effect, self.collections)
        for effect in effects:
            self._changed = self._changed or not isinstance(effect, WakeAt)
            match effect:
                case Commit():
                    self._writes.append(effect.write)
                case WakeAt():
                    by = effect.at + effect.leeway
                    self.wake_at = effect.at if self.wake_at is None else min(self.wake_at, effect.at)
                    self.wake_by = by if self.wake_by is None else min(self.wake_by, by)
                case Count():
                    self.counters[effect.metric] += effect.amount
                case _:
                    self._others.append(effect)


class _Gauge:
    """How full a mailbox was, as a mean over time. Says nothing of one that stays empty."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._began: Instant | None = None
        self._at: Instant = 0.0
        self._area = 0.0
        self._dropped = 0
        self._quiet = True
        self.held = False
        """Whether senders are held back."""

    def pass_time(self, mailbox: Mailbox, now: Instant) -> None:
        """The mailbox has been as it is until ``now``; to be called before it changes."""
        if self._began is None:
            self._began = self._at = now
        if now > self._at:
            self._area += (1.0 if self.held else mailbox.use) * (now - self._at)
            self._at = now

    def read(self, mailbox: Mailbox, now: Instant) -> Pressure | None:
        """The mean since the last reading, when one is due and there is something to say."""
        self.pass_time(mailbox, now)
        if self._began is None or now - self._began < self._every:
            return None
        use, dropped = self._area / (now - self._began), mailbox.dropped - self._dropped
        self._began, self._area, self._dropped = now, 0.0, mailbox.dropped
        quiet, self._quiet = self._quiet, use == 0 and dropped == 0
        return None if quiet and self._quiet else Pressure(use, dropped)
