"""Monitoring: watches rates, loops, repetition and budget, and says what it notices."""

from collections import Counter, deque

import msgspec
import numpy as np

from actors.core import Description, Inward
from actors.effects import Count, Effect, Send
from actors.events import Broadcast, Configured, Event, Observation, Observed, Posted, Started, Tick, Vitals
from actors.growth import Gone
from actors.metacognition.settings import MetacognitionSettings
from actors.names import CONTROL
from actors.snapshots import pack, unpack
from actors.submind.retransmit import RetransmitBuffer
from environment.identity import thought_id
from environment.messages import EntryKind, Instant, PerceptionRef, Thought, ThoughtKind, Vector

_DROPS = ("messages_dropped_total", "limit_hits:mailbox")
_LEAST = 4


class _Seen(msgspec.Struct):
    id: str
    source: str
    about: str
    perceptions: tuple[PerceptionRef, ...]
    trust: float
    vector: Vector


class MonitoringCore(Inward):
    """Watches every entry of the stream and every actor's figures.

    Guarantees: each trouble is said once when it begins, once when it is over, and no more often than ``say_every``;
    what it says is a trace like any other, resting on the entries it is about.
    """

    def __init__(self, name: str, goal: str, dim: int, settings: MetacognitionSettings) -> None:
        self.name, self.saved = name, _Saved
        self._goal = goal
        self._dim = dim
        self._settings = settings
        self._seen: deque[_Seen] = deque(maxlen=settings.window)
        self._unacknowledged = RetransmitBuffer(name)
        self._troubles: dict[str, Instant] = {}
        self._said: dict[str, Instant] = {}
        self._drops: dict[str, tuple[float, Instant]] = {}
        self._fallbacks: dict[str, float] = {}

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        match event:
            case Broadcast():
                return self._entry(event, now)
            case Vitals():
                return self._vitals(event, now)
            case Posted():
                self._unacknowledged.arrived(event.ids)
                return []
            case Gone():
                return self._forget(event.name, now)
            case Configured(section=MetacognitionSettings() as settings):
                self._settings = settings
                return []
            case Started() | Tick():
                return self._unacknowledged.tend(now)
            case _:
                return []

    def _entry(self, broadcast: Broadcast, now: Instant) -> list[Effect]:
        entry, focus = broadcast.entry, broadcast.focus
        if entry.kind is not EntryKind.THOUGHT or entry.vector is None or entry.id in {s.id for s in self._seen}:
            return []
        if focus is not None and focus.thought.kind is ThoughtKind.REFLECTION:
            return []
        source = entry.perceptions[0].source if entry.perceptions else entry.author
        about = focus.thought.associations[0] if focus is not None and focus.thought.associations else ""
        self._seen.append(_Seen(entry.id, source, about, entry.perceptions, entry.trust, entry.vector))
        if len(self._seen) < _LEAST:
            return []
        return [*self._repetition(now), *self._dominance(now), *self._loop(now)]

    def _repetition(self, now: Instant) -> list[Effect]:
        rows = np.stack([s.vector for s in self._seen])
        figure = float((rows[1:] * rows[:-1]).sum(axis=1).mean())
        bound = self._settings.repetition
        return self._judge(
            Observation.REPETITION, figure > bound, f"neighbours in the stream are alike: cosine {figure:.2f}", now
        )

    def _dominance(self, now: Instant) -> list[Effect]:
        counts = Counter(s.source for s in self._seen)
        source, most = counts.most_common(1)[0]
        share = most / len(self._seen)
        full = len(self._seen) == self._seen.maxlen and len(counts) > 1
        return self._judge(
            Observation.DOMINANCE,
            full and share > self._settings.dominance,
            f"{source} has {share:.0%} of the last {len(self._seen)} thoughts",
            now,
        )

    def _loop(self, now: Instant) -> list[Effect]:
        about, most = Counter(s.about for s in self._seen if s.about).most_common(1)[0] if self._abouts() else ("", 0)
        reason = f"“{about}” came back {most} times in {len(self._seen)} thoughts"
        return self._judge(Observation.LOOP, most > self._settings.loop, reason, now)

    def _abouts(self) -> bool:
        return any(s.about for s in self._seen)

    def _vitals(self, vitals: Vitals, now: Instant) -> list[Effect]:
        drops = max((vitals.figures.get(name, 0.0) for name in _DROPS), default=0.0)
        before, since = self._drops.get(vitals.sender, (drops, now))
        hours = max((now - since) / 3600.0, 1 / 60)
        rate = max(0.0, drops - before) / hours
        self._drops[vitals.sender] = (drops, now)
        effects = self._judge(
            Observation.OVERLOAD,
            rate > self._settings.drops_per_hour,
            f"{vitals.sender} drops {rate:.0f} thoughts an hour",
            now,
            key=f"overload:{vitals.sender}",
        )
        left = vitals.figures.get("budget_left_share", 1.0)
        fallbacks = vitals.figures.get("fallbacks_total", 0.0)
        fresh = fallbacks > self._fallbacks.get(vitals.sender, 0.0)
        self._fallbacks[vitals.sender] = fallbacks
        return effects + self._judge(
            Observation.BUDGET,
            left < self._settings.budget_low or fresh,
            f"{vitals.sender} thinks without its model" if fresh else f"{left:.0%} of the budget is left",
            now,
            key=f"budget:{vitals.sender}",
        )

    def _forget(self, gone: str, now: Instant) -> list[Effect]:
        """One that has ended is in no trouble any more, and nobody bears its name again."""
        effects: list[Effect] = []
        for observation in (Observation.OVERLOAD, Observation.BUDGET):
            key = f"{observation.value}:{gone}"
            effects += self._judge(observation, trouble=False, reason=f"{gone} has ended", now=now, key=key)
            self._said.pop(key, None)
        self._drops.pop(gone, None)
        self._fallbacks.pop(gone, None)
        return effects

    def _judge(self, observation: Observation, trouble: bool, reason: str, now: Instant, key: str = "") -> list[Effect]:
        """Say a trouble when it begins and when it is over; in between be silent."""
        key = key or observation.value
        if trouble and key not in self._troubles:
            self._troubles[key] = now
            return [*self._say(key, f"Noticed {observation.value}: {reason}.", now), self._tell(observation, reason)]
        if not trouble and key in self._troubles:
            del self._troubles[key]
            return [Send(CONTROL, Observed(observation, over=True, reason=reason))]
        return []

    def _tell(self, observation: Observation, reason: str) -> Effect:
        return Send(CONTROL, Observed(observation, over=False, reason=reason))

    def _say(self, key: str, text: str, now: Instant) -> list[Effect]:
        if not self._seen or now - self._said.get(key, float("-inf")) < self._settings.say_every:
            return []
        self._said[key] = now
        latest = list(self._seen)[-3:]
        last = latest[-1]
        refs = tuple({p.id: p for s in reversed(latest) for p in s.perceptions}.values())[:16]
        thought = Thought(
            id=thought_id(self.name, [s.id for s in latest], key),
            author=self.name,
            kind=ThoughtKind.REFLECTION,
            text=text,
            time=refs[0].time if refs else now,
            at=now,
            vector=last.vector,
            salience=0.4,
            confidence=0.9,
            trust=min(s.trust for s in latest),
            perceptions=refs,
            parents=tuple(s.id for s in latest),
            topic="the mind itself",
            depth=1,
            insights=(key,),
            worded_by="rule",
        )
        return [*self._unacknowledged.post([thought], now), Count("reflections_total")]

    def describe(self) -> Description:
        return Description("metacognitive", self._goal, tuple(self._troubles), {"troubles": float(len(self._troubles))})

    def snapshot(self) -> bytes:
        return pack(
            _Saved(
                seen=list(self._seen),
                troubles=self._troubles,
                said=self._said,
                drops=list(self._drops.items()),
                fallbacks=self._fallbacks,
                waiting=self._unacknowledged.dump(),
            )
        )

    def restore(self, state: bytes) -> None:
        saved = unpack(state, _Saved)
        self._seen.extend(saved.seen)
        self._troubles, self._said = saved.troubles, saved.said
        self._drops, self._fallbacks = dict(saved.drops), saved.fallbacks
        self._unacknowledged.load(saved.waiting)


class _Saved(msgspec.Struct):
    seen: list[_Seen]
    troubles: dict[str, Instant]
    said: dict[str, Instant]
    drops: list[tuple[str, tuple[float, Instant]]]
    fallbacks: dict[str, float]
    waiting: list[Thought]
