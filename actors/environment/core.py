"""The environment as an actor: single writer of the traces, it answers posts, crawls and reinforcements."""

import heapq
from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from random import Random

from actors import events
from actors.chance import Chance
from actors.core import Description, Inward
from actors.effects import Commit, Count, Effect, Embed, Note, Send, WakeAt
from actors.names import ATTENTION
from environment import salience
from environment.errors import StaleRevision
from environment.messages import Instant, Thought, ThoughtKind, Trace
from environment.ports import Write
from environment.settings import EnvironmentSettings
from environment.subliminal import Outcome, SubliminalEnvironment

_AT_ONCE = 32
"""Traces embedded anew at a time."""
_PATIENCE = 60.0
"""Seconds after which they are asked for again: an answer may be lost."""


@dataclass(eq=False, repr=False)
class EnvironmentCore(Inward):
    """Keeps the live traces of a mind.

    Guarantees: a post is answered once it is durable, and posting again changes nothing; whoever sent a message that
    led to a useful trace is credited; what changes is told to attention. Traces are restored from the store, the
    counts of who reinforced what from the snapshot. Those that another embedder placed are near to nothing until they
    have been embedded anew, a few at a time.

    ``followers``: who, beside attention, is told of every new percept, however little it says.
    """

    name: str
    _environment: SubliminalEnvironment
    _settings: EnvironmentSettings
    _chance: Chance
    followers: InitVar[Sequence[str]] = ()

    def __post_init__(self, followers: Sequence[str]) -> None:
        self._followers = tuple(followers)
        self._swept: Instant = float("-inf")
        self._embedding: dict[str, str] = {}
        self._asked: Instant = float("-inf")

    def handle(self, event: events.Event, now: Instant) -> list[Effect]:
        match event:
            case events.Post():
                return self._post(event, now)
            case events.Crawl():
                return [self._crawl(event, now), Count("crawls_total")]
            case events.Reinforce():
                return self._reinforce(event, now)
            case events.Diminish():
                outcome = self._environment.diminish(event.trace_id, event.loss, now)
                return self._done(outcome.writes, outcome.rose)
            case events.Revise():
                return self._revise(event, now)
            case events.Broadcast():
                return self._conscious(event, now)
            case events.Survey():
                return [Send(event.sender, events.Salient(tuple(self._survey(event.k, now)), again=True), 1.0)]
            case events.Started() | events.Tick():
                return [*self._sweep(now), *self._embed(now)]
            case events.Embedded():
                return self._embedded(event, now)
            case events.Configured(section=EnvironmentSettings() as settings):
                self._settings = settings
                self._environment.configure(settings)
                return self._sweep(now)
            case _:
                return []

    def _post(self, post: events.Post, now: Instant) -> list[Effect]:
        outcome = self._environment.post(post.thoughts, now)
        effects = self._done(outcome.writes, outcome.rose)
        new = tuple(t for t in outcome.rose if t.thought.kind is ThoughtKind.PERCEPT)
        effects += [Send(follower, events.Salient(new), 1.0) for follower in self._followers if new]
        effects.append(Send(post.sender, events.Posted(post.token, outcome.result), 1.0))
        for trace in outcome.rose:
            for parent in trace.thought.parents:
                built = self._environment.get(parent)
                if built is not None and built.thought.author != trace.thought.author:
                    effects += self._credits(built.thought, "built on")
        return effects

    def _crawl(self, crawl: events.Crawl, now: Instant) -> Effect:
        met = self._environment.crawl(
            crawl.kind.value,
            crawl.k,
            now,
            Random(self._chance.below(1 << 32)),  # noqa: S311  # for wandering, not for secrets
            vector=crawl.vector,
            terms=crawl.terms,
            exclude_author=crawl.exclude_author,
            exclude_lineage=crawl.exclude_lineage,
            before=crawl.before,
        )
        return Send(crawl.sender, events.Found(crawl.token, tuple(t for t, _ in met), tuple(s for _, s in met)), 1.0)

    def _reinforce(self, event: events.Reinforce, now: Instant) -> list[Effect]:
        outcome = self._environment.reinforce(event.trace_id, event.by, event.gain, event.lineage, now)
        effects = self._done(outcome.writes, outcome.rose)
        for trace in outcome.rose:
            effects += self._credits(trace.thought, "reinforced")
        return effects

    def _revise(self, event: events.Revise, now: Instant) -> list[Effect]:
        before = self._environment.get(event.trace_id)
        try:
            outcome: Outcome[Trace | None] = self._environment.revise(
                event.trace_id, event.base, event.by, event.thought, now
            )
        except StaleRevision:
            return [Send(event.by, events.Refused(event.trace_id), 1.0)]
        if outcome.result is None:
            return [Send(event.by, events.Refused(event.trace_id), 1.0)]
        effects = self._done(outcome.writes, outcome.rose)
        effects.append(Send(event.by, events.Posted("", (event.trace_id,)), 1.0))
        if before is not None and outcome.rose:
            effects += self._credits(before.thought, "built on")
        return effects

    def _conscious(self, event: events.Broadcast, now: Instant) -> list[Effect]:
        """A trace became conscious: note it, credit those who led to it, raise what was bound with it."""
        outcome = self._environment.conscious(event.entry.focus, event.entry.seq)
        effects: list[Effect] = [Commit(write) for write in outcome.writes]
        if not outcome.result:
            return effects
        if event.focus is not None:
            effects += self._credits(event.focus.thought, "conscious")
        for bound in event.entry.lineage[1:]:
            raised = self._environment.reinforce(bound, ATTENTION, self._settings.broadcast_gain, (), now)
            effects += [Commit(write) for write in raised.writes]
        return effects

    def _survey(self, k: int, now: Instant) -> list[Trace]:
        """The most salient that have not been conscious; ties in order of id, so that a replay repeats itself."""
        waiting = (
            (salience.at(t.level, now), t.thought.id, t) for t in self._environment.live() if t.conscious is None
        )
        return [trace for _, _, trace in heapq.nlargest(k, waiting)]

    def _sweep(self, now: Instant) -> list[Effect]:
        every = self._settings.sweep_every
        if now - self._swept >= every:
            ahead = self._environment.settle(now).writes if self._swept == float("-inf") else []
            self._swept = now
            outcome = self._environment.sweep(now)
            effects: list[Effect] = [Commit(write) for write in (*ahead, *outcome.writes)]
        else:
            effects = []
        due = self._environment.next_expiry()
        return [*effects, WakeAt(max(self._swept + every, due))] if due is not None else effects

    def _embed(self, now: Instant) -> list[Effect]:
        """Have the next strange traces embedded, unless some are being."""
        if self._embedding and now - self._asked < _PATIENCE:
            return []
        self._embedding, self._asked = self._environment.strange(_AT_ONCE), now
        if not self._embedding:
            return []
        return [Embed(tuple(dict.fromkeys(self._embedding.values()))), WakeAt(now + _PATIENCE)]

    def _embedded(self, event: events.Embedded, now: Instant) -> list[Effect]:
        had = {name: event.vectors[text] for name, text in self._embedding.items() if text in event.vectors}
        effects: list[Effect] = [Commit(write) for write in self._environment.embedded(had)]
        self._embedding = {}
        left = self._embed(now)
        if effects and not left:
            effects.append(Note("embedded_anew", "info", {"live": len(self._environment)}))
        return effects + left

    def _done(self, writes: Sequence[Write], rose: Sequence[Trace]) -> list[Effect]:
        """Commit, and tell attention what rose."""
        effects: list[Effect] = [Commit(write) for write in writes]
        if rose:
            told = tuple(t for t in rose if t.level.value >= self._settings.announce)
            passed = sum(t.thought.kind is ThoughtKind.PERCEPT for t in rose) - sum(
                t.thought.kind is ThoughtKind.PERCEPT for t in told
            )
            effects.append(Send(ATTENTION, events.Salient(told, passed), 1.0))
            due = self._environment.next_expiry()
            if due is not None:
                effects.append(WakeAt(max(self._swept + self._settings.sweep_every, due)))
        return effects

    def _credits(self, thought: Thought, reason: str) -> list[Effect]:
        return [Send(v.sender, events.Credit(thought.author, v.topic, thought.id, reason)) for v in thought.via]

    def describe(self) -> Description:
        return Description("environment", "keep the traces", (), self._environment.figures())

    def snapshot(self) -> bytes:
        return self._environment.snapshot()

    def restore(self, state: bytes) -> None:
        self._environment.restore(state)
