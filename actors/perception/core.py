"""The perceptual submind: reads the perception log from its cursor and leaves what is worth a thought as traces."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from actors.core import Description
from actors.effects import Effect, Read, Send, WakeAt
from actors.events import Configured, Credit, Event, Perceived, Posted, Register, Salient, Seen, Started, Tick
from actors.growth import Born, Gone, Moved
from actors.names import ATTENTION
from actors.perception.image import ImageInterpreter
from actors.perception.percept import Interpreter, Percept
from actors.perception.settings import PerceptionSettings
from actors.settings import CognitiveSettings
from actors.snapshots import pack, unpack
from actors.submind.message_router import MessageRouter, RouterState
from actors.submind.retransmit import RetransmitBuffer
from environment.episodes.question import addressed, asks
from environment.identity import thought_id
from environment.messages import Instant, Modality, Perception, Thought, ThoughtKind

_TEND_EVERY = 300.0

State = TypeVar("State")


@dataclass(eq=False, repr=False)
class PerceptualCore:
    """One modality's way into the mind.

    Guarantees: the cursor in its snapshot never passes a percept that the environment has not made durable
    (waiting ones are part of the snapshot and are posted again), and posting again names the same traces.
    """

    name: str
    _goal: str
    _modality: Modality
    _interpreter: Interpreter
    _router: MessageRouter
    _settings: PerceptionSettings

    def __post_init__(self) -> None:
        self.saved: type[_Saved[Any]] = _Saved[self._interpreter.saved]  # type: ignore[name-defined]
        self._cursor = 0
        self._unacknowledged = RetransmitBuffer(self.name, self._settings.resend_after)
        self._reading = False
        self._event_time: Instant = 0.0
        self._heard_at: Instant = 0.0
        self._tended: Instant = 0.0

    def texts(self, perceptions: Sequence[Perception]) -> list[str]:
        return self._interpreter.texts(perceptions)

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        match event:
            case Perceived():
                return self._perceive(event, now)
            case Seen() if isinstance(self._interpreter, ImageInterpreter):
                self._interpreter.seen(event.looks)
                return []
            case Posted():
                return self._arrived(event, now)
            case Credit():
                return [*self._router.credited(event, now), *self._router.record()]
            case Register():
                return [*self._router.asked(event, now), *self._router.record()]
            case Born():
                self._router.born(event.peer)
                return []
            case Gone():
                self._router.gone(event, now)
                return self._router.record()
            case Moved():
                self._router.moved(event, now)
                return self._router.record()
            case Started():
                self._heard_at = now
                return [*self._unacknowledged.tend(now), *self._read_on()]
            case Tick():
                return self._tick(now)
            case Configured(section=PerceptionSettings() as settings):
                self._settings = settings
                return []
            case Configured(section=CognitiveSettings() as settings):
                self._router.configure(settings)
                return []
            case _:
                return []

    def _perceive(self, event: Perceived, now: Instant) -> list[Effect]:
        self._reading = False
        self._heard_at = now
        thoughts: list[Thought] = []
        folded: Counter[str] = Counter()
        for perception in event.perceptions:
            if perception.seq <= self._cursor:
                continue
            self._cursor = perception.seq
            self._event_time = max(self._event_time, perception.time)
            percepts = self._interpreter.interpret(perception, event.vectors)
            folded[perception.source] += 1 - len(percepts)
            thoughts += [self._think(percept, now) for percept in percepts]
        thoughts += [self._think(percept, now) for percept in self._interpreter.quiet(self._event_time)]
        passed = folded.total()
        told: list[Effect] = [Send(ATTENTION, Salient((), passed, sources=+folded))] if passed > 0 else []
        return [*self._unacknowledged.post(thoughts, now), *told, *self._router.record(), *self._read_on()]

    def _think(self, percept: Percept, now: Instant) -> Thought:
        topic = self._router.place(percept.vector, percept.terms, now)
        source = percept.perceptions[0].source
        told = addressed(source, self._settings.interlocutors) and not asks(percept.text)  # what is asked is answered
        discount = 1.0 - self._settings.trust_weight * (1.0 - percept.trust)
        return Thought(
            id=thought_id(self.name, [p.id for p in percept.perceptions], percept.part),
            author=self.name,
            kind=ThoughtKind.PERCEPT,
            text=percept.text,
            time=percept.time,
            at=now,
            vector=percept.vector,
            salience=self._settings.addressed if told else percept.salience * discount,
            confidence=percept.confidence,
            trust=percept.trust,
            perceptions=percept.perceptions,
            parents=tuple(p.id for p in percept.perceptions),
            topic=topic.label,
            emotions=percept.emotions,
            evidence=percept.evidence,
            associations=percept.terms,
            insights=percept.insights,
            count=percept.count,
        )

    def _arrived(self, event: Posted, now: Instant) -> list[Effect]:
        """What is durable may be told to others."""
        effects: list[Effect] = []
        for thought in self._unacknowledged.arrived(event.ids):
            if thought.salience >= self._settings.speak_at:
                effects += self._router.speak(thought, now)
        return [*effects, *self._router.record(), *self._read_on()]

    def _read_on(self) -> list[Effect]:
        """Ask for more, unless too much waits for the environment: back-pressure ends in the log, which is durable."""
        if self._reading or len(self._unacknowledged) >= self._settings.unacknowledged:
            return []
        self._reading = True
        settings = self._settings
        batch = settings.images if self._modality is Modality.IMAGE else settings.batch
        return [Read(self._cursor, batch, self._modality), *self._listen()]

    def _listen(self) -> list[Effect]:
        """Wake when something may have fallen silent, should nothing at all be perceived until then."""
        due = self._interpreter.due()
        if due is None:
            return []
        return [WakeAt(self._heard_at + self._settings.resend_after + max(0.0, due - self._event_time))]

    def _silences(self, now: Instant) -> list[Effect]:
        """What has fallen silent while the log held nothing new: event time then passes as mind time does.

        It trails by ``resend_after``, so that a perception on its way is waited for.
        """
        if not self._reading:
            return []
        passed = max(0.0, now - self._heard_at - self._settings.resend_after)
        thoughts = [self._think(percept, now) for percept in self._interpreter.quiet(self._event_time + passed)]
        return [*self._unacknowledged.post(thoughts, now), *self._router.record(), *self._listen()]

    def _tick(self, now: Instant) -> list[Effect]:
        effects = self._silences(now)
        if now - self._tended >= _TEND_EVERY:
            self._tended = now
            self._router.tend(now)
            effects += self._router.record()
        return [*effects, *self._unacknowledged.tend(now), *self._read_on()]

    def describe(self) -> Description:
        figures = {
            "unacknowledged": float(len(self._unacknowledged)),
            "cursor": float(self._cursor),
            **self._interpreter.figures(),
            **self._router.registry.figures(),
        }
        return Description("perceptual", self._goal, self._router.topics.labels, figures)

    def snapshot(self) -> bytes:
        return pack(
            _Saved(
                cursor=self._cursor,
                event_time=self._event_time,
                waiting=self._unacknowledged.dump(),
                voice=self._router.dump(),
                interpreter=self._interpreter.dump(),
            )
        )

    def restore(self, state: bytes) -> None:
        saved = unpack(state, self.saved)
        self._cursor, self._event_time = saved.cursor, saved.event_time
        self._unacknowledged.load(saved.waiting)
        self._router.load(saved.voice)
        self._interpreter.load(saved.interpreter)


class _Saved(msgspec.Struct, Generic[State]):
    cursor: int
    event_time: Instant
    waiting: list[Thought]
    voice: RouterState
    interpreter: State
