"""Active thinking: ignore a conscious thought, or act on it; results go back into the environment as traces."""

import re
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import msgspec

from actors import events
from actors.core import Description, Inward
from actors.effects import Count, Effect, Generate, Note, Read, Send, WakeAt
from actors.names import ENVIRONMENT
from actors.running import RunningRank
from actors.snapshots import pack, unpack
from actors.submind.budget import Allowance
from actors.submind.composing import apart, clock_time, material, perceptions_of
from actors.submind.retransmit import RetransmitBuffer
from actors.substrate.ports import Act, Request, Role
from actors.thinking.conversations import Conversations, SavedConversations
from actors.thinking.memory import Slot, WorkingMemory
from actors.thinking.settings import ThinkingSettings
from environment.identity import thought_id
from environment.messages import EntryKind, Instant, Modality, StreamEntry, Thought, ThoughtKind, Vector
from environment.severity import level_of

_BATCH = 512
"""Perceptions that are read at a time."""
_WAITING = 32
_LOOP_LOSS = 0.5
_ASK_AGAIN, _GIVE_UP = 30.0, 600.0
_DUE = re.compile(
    r"\b(must|need(s|ed)? to|please|should|by \d|deadline|before|due|asap|urgent|can (you|someone)|don't forget)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Act:
    entry: StreamEntry
    thought: Thought
    act: Act
    crawl: events.Crawl
    asked: Instant
    memories: tuple[Thought, ...] = ()


class ThinkingCore(Inward):
    """The one active thinking of a mind. It reads the log as well, and answers what is asked: ``Conversations``.

    Guarantees: at most ``per_hour`` acts; no result is more trusted than what it came from; lineage deeper than
    ``max_depth`` is not acted upon; a loop is ended, and that it was is itself a trace.
    """

    def __init__(self, name: str, interlocutors: Sequence[str], settings: ThinkingSettings) -> None:
        self.name, self.saved = name, _Saved
        self._interlocutors = tuple(interlocutors)
        self._settings = settings
        self._rank = RunningRank(200)
        self._allowance = Allowance(settings.per_hour)
        self._memory = WorkingMemory(settings.slots, settings.half_life, settings.latent)
        self._acts: OrderedDict[str, _Act] = OrderedDict()
        self._unacknowledged = RetransmitBuffer(name)
        self._about: deque[str] = deque(maxlen=settings.loop_window)
        self._done: deque[str] = deque(maxlen=256)
        self._conversations = Conversations(name, interlocutors, settings)
        self._cursor = 0

    def handle(self, event: events.Event, now: Instant) -> list[Effect]:
        match event:
            case events.Perceived():
                return self._hear(event, now)
            case events.Broadcast(StreamEntry(kind=EntryKind.ANSWER) as entry):
                self._conversations.said(entry)
                return []
            case events.Broadcast():
                return self._attend(event, now)
            case events.Found():
                return self._recalled(event, now)
            case events.Generated():
                return [*self._conversations.found(event, now), *self._result(event, now)]
            case events.Posted():
                for thought in self._unacknowledged.arrived(event.ids):
                    self._memory.hold(thought, thought.salience, now)
                return []
            case events.Configured(section=ThinkingSettings() as settings):
                self._settings = settings
                self._allowance.configure(settings.per_hour, now)
                self._memory.half_life = settings.half_life
                self._conversations.configure(settings, now)
                return []
            case events.Started() | events.Tick():
                reading = [self._read()] if isinstance(event, events.Started) else []
                tended = (self._unacknowledged.tend(now), self._ask_again(now), self._conversations.tend(now))
                return [*reading, *chain.from_iterable(tended)]
            case _:
                return []

    def _hear(self, event: events.Perceived, now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for perception in event.perceptions:
            if perception.seq > self._cursor:
                self._cursor = perception.seq
                effects += self._conversations.hear(perception, now)
        return [*effects, self._read()]

    def _read(self) -> Effect:
        return Read(self._cursor, _BATCH, Modality.TEXT)

    def _attend(self, broadcast: events.Broadcast, now: Instant) -> list[Effect]:
        """Decide whether to let the thought pass by, as in meditation, or to act."""
        entry, focus = broadcast.entry, broadcast.focus
        if focus is None or entry.kind is not EntryKind.THOUGHT or entry.id in self._done:
            return []
        self._done.append(entry.id)
        rank = self._rank.update(entry.salience)
        thought = focus.thought
        returned = self._memory.cue(set(thought.associations), level_of(entry.salience), now)
        self._memory.hold(thought, level_of(entry.salience), now)
        return [*([Count("returned_total", returned)] if returned else []), *self._decide(entry, thought, rank, now)]

    def _decide(self, entry: StreamEntry, thought: Thought, rank: float, now: Instant) -> list[Effect]:
        passing = thought.kind in {ThoughtKind.RESULT, ThoughtKind.REFLECTION} or rank < self._settings.act_above
        if passing or self._conversations.answers(thought):
            return [Count("thoughts_ignored_total")]
        if thought.depth >= self._settings.max_depth:
            return [Count("limit_hits:depth")]
        about = thought.associations[0] if thought.associations else thought.topic
        loop = about != "" and Counter(self._about)[about] >= self._settings.loop_repeats
        self._about.append(about)
        if loop:
            return self._loop(entry, thought, about, now)
        if not self._allowance.take(now):
            return [Count("limit_hits:acts")]
        act = Act.PLAN if _DUE.search(thought.text) else Act.RECALL
        crawl = events.Crawl(
            sender=self.name,
            token=entry.id,
            kind=events.CrawlKind.DIRECTED,
            k=self._settings.memories,
            vector=thought.vector,
            terms=thought.associations,
            exclude_author=self.name,
            exclude_lineage=(thought.id, *thought.parents),
            before=thought.time,
        )
        self._acts[entry.id] = _Act(entry, thought, act, crawl, now)
        while len(self._acts) > _WAITING:
            self._acts.popitem(last=False)
        return [Send(ENVIRONMENT, crawl), Count("acts_total"), WakeAt(now + _ASK_AGAIN)]

    def _ask_again(self, now: Instant) -> list[Effect]:
        """An act whose memories or words never came is begun again, a few times."""
        effects: list[Effect] = []
        for key, act in list(self._acts.items()):
            if now - act.entry.at > _GIVE_UP:
                del self._acts[key]
                effects.append(Count("acts_given_up_total"))
            elif now - act.asked >= _ASK_AGAIN:
                act.asked = now
                effects.append(Send(ENVIRONMENT, act.crawl))
        if self._acts:
            effects.append(WakeAt(now + _ASK_AGAIN))
        return effects

    def _recalled(self, found: events.Found, now: Instant) -> list[Effect]:
        act = self._acts.get(found.token)
        if act is None:
            return []
        terms = set(act.thought.associations)
        near = [
            trace.thought
            for trace, score in zip(found.traces, found.scores, strict=True)
            if score >= self._settings.recall_above or len(terms & set(trace.thought.associations)) >= 2  # noqa: PLR2004
        ]
        held = [t for t in self._memory.held(now) if t.id != act.thought.id and terms & set(t.associations)]
        unique = {t.id: t for t in [*near, *held]}
        act.memories = tuple(unique.values())[:3]
        if act.act is Act.RECALL and not act.memories:
            del self._acts[found.token]
            return [Count("nothing_recalled_total")]
        event = material(Role.EVENT, act.thought, clock_time(act.thought.time))
        memories = (material(Role.MEMORY, m, apart(m.time, act.thought.time)) for m in act.memories)
        return [Generate(found.token, Request(act.act, self.name, (event, *memories)))]

    def _result(self, generated: events.Generated, now: Instant) -> list[Effect]:
        act = self._acts.pop(generated.token, None)
        if act is None:
            return []
        parts = [act.thought, *act.memories]
        salience = level_of(act.entry.salience) * self._settings.result_share
        thought = self._thought(parts, generated.generation.text, generated.vector, salience, act.act.value, now)
        thought = replace(thought, worded_by=generated.generation.model)
        return [
            *self._unacknowledged.post([thought], now),
            Count("results_total"),
        ]

    def _thought(
        self, parts: Sequence[Thought], text: str, vector: Vector, salience: float, part: str, now: Instant
    ) -> Thought:
        first = parts[0]
        parents = tuple(p.id for p in parts)
        return Thought(
            id=thought_id(self.name, parents, part),
            author=self.name,
            kind=ThoughtKind.RESULT,
            text=text,
            time=first.time,
            at=now,
            vector=vector,
            salience=salience,
            confidence=0.5,
            trust=min(p.trust for p in parts),
            perceptions=perceptions_of(parts),
            parents=parents,
            topic=first.topic,
            depth=1 + max(p.depth for p in parts),
            emotions=first.emotions,
            associations=first.associations,
            insights=(part,),
            worded_by="rule",
        )

    def _loop(self, entry: StreamEntry, thought: Thought, about: str, now: Instant) -> list[Effect]:
        """The same thing again and again: stop, forget that it was looked for, and say so."""
        repeats = Counter(self._about)[about]
        self._about.clear()
        text = f"Going round in circles about “{about}”: {repeats} of the last acts; letting it pass."
        reflection = self._thought([thought], text, thought.vector, level_of(entry.salience) * 0.5, "loop", now)
        return [
            *self._unacknowledged.post([replace(reflection, kind=ThoughtKind.REFLECTION)], now),
            Send(ENVIRONMENT, events.Diminish(thought.id, self.name, _LOOP_LOSS)),
            Count("loops_ended_total"),
            Note("loop ended", "info", {"about": about, "repeats": repeats}),
        ]

    def describe(self) -> Description:
        return Description(
            "thinking",
            "act on conscious thoughts, or let them pass",
            (),
            {
                "working_memory": float(len(self._memory)),
                "acts_waiting": float(len(self._acts)),
                "answers_waiting": float(len(self._conversations)),
            },
        )

    def snapshot(self) -> bytes:
        slots, latent = self._memory.dump()
        return pack(
            _Saved(
                rank=self._rank.dump(),
                left=self._allowance.left,
                at=self._allowance.at,
                about=list(self._about),
                done=list(self._done),
                waiting=self._unacknowledged.dump(),
                acts=list(self._acts.values()),
                cursor=self._cursor,
                conversations=self._conversations.dump(),
                slots=slots,
                latent=latent,
            )
        )

    def restore(self, state: bytes) -> None:
        saved = unpack(state, _Saved)
        self._rank.load(saved.rank)
        self._allowance.left, self._allowance.at = saved.left, saved.at
        self._about.extend(saved.about)
        self._done.extend(saved.done)
        self._unacknowledged.load(saved.waiting)
        self._acts = OrderedDict((act.entry.id, act) for act in saved.acts)
        self._cursor = saved.cursor
        self._conversations.load(saved.conversations)
        self._memory.load(saved.slots, saved.latent)


class _Saved(msgspec.Struct):
    rank: list[float]
    left: float
    at: Instant | None
    about: list[str]
    done: list[str]
    waiting: list[Thought]
    acts: list[_Act]
    cursor: int
    conversations: SavedConversations
    slots: list[Slot] = []
    latent: list[Slot] = []
