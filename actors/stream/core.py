"""Temporal binding and the stream of consciousness: ordered within a window, then numbered once and for ever."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import replace

from actors.core import Description, Inward
from actors.effects import Commit, Count, Effect, Generate, Send, WakeAt
from actors.events import Broadcast, Candidate, Configured, Conscious, Event, Generated, Said, Started, Tick, Utterance
from actors.names import ATTENTION, ENVIRONMENT, MONITORING, THINKING
from actors.perception.wording import read
from actors.stream.settings import StreamSettings
from actors.submind.composing import clock_time, material, perceptions_of
from actors.submind.topics import Centre
from actors.substrate.ports import Act, Material, Request, Role
from environment.identity import segue_id
from environment.messages import EntryKind, Instant, PerceptionRef, StreamEntry
from environment.ports import WriteEntries

_GAPS, _LEAST_GAPS = 32, 4
"""Pauses between thoughts that are remembered, and how many tell what is usual."""
_TERMS = 3


class StreamCore(Inward):
    """The one writer of the stream.

    Guarantees: sequence numbers go up by one, never change and never repeat; a thought handed over again is confirmed,
    not repeated, however long ago it was said; nothing is broadcast before it is durable. Nothing of it needs saving:
    it is restored from the log, and what was not numbered yet is handed over again by attention.
    """

    def __init__(
        self,
        name: str,
        dim: int,
        recent: Sequence[StreamEntry],
        settings: StreamSettings,
        always: Sequence[str] = (ATTENTION, ENVIRONMENT, THINKING, MONITORING),
    ) -> None:
        """``always``: who is told of every entry."""
        self.name = name
        self._always = tuple(always)
        self._settings = settings
        self._centre = Centre(dim, settings.memory)
        self._next = recent[-1].seq + 1 if recent else 1
        self._known: OrderedDict[str, StreamEntry] = OrderedDict((e.id, e) for e in recent)
        self._waiting: dict[str, tuple[Candidate, Instant]] = {}
        self._bridging: tuple[str, Candidate, StreamEntry, Instant] | None = None
        self._last: StreamEntry | None = None
        self._terms: tuple[str, ...] = ()
        self._gaps: deque[float] = deque(maxlen=_GAPS)
        for entry in recent:
            if entry.kind is EntryKind.THOUGHT and entry.vector is not None:
                self._follow(entry)
                self._centre.learn(entry.vector)

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        match event:
            case Conscious():
                return self._receive(event.candidate, now)
            case Utterance():
                return self._say(event.entry, now)
            case Generated():
                return self._bridged(event, now)
            case Said():
                return self._take_back(event)
            case Tick() | Started():
                return self._advance(now)
            case Configured(section=StreamSettings() as settings):
                self._settings = settings
                return []
            case _:
                return []

    def finish(self, now: Instant) -> list[Effect]:
        """Number what still waits, at the end of a replay."""
        effects: list[Effect] = []
        if self._bridging:
            effects += self._number(self._bridging[1], None, now)
            self._bridging = None
        for candidate in self._in_order():
            effects += self._number(candidate, None, now)
        self._waiting.clear()
        return effects

    def _receive(self, candidate: Candidate, now: Instant) -> list[Effect]:
        known = self._known.get(candidate.id)
        if known is not None:  # numbered before a crash: who was to hear of it may not have
            return self._tell(known, candidate)
        bridging = self._bridging is not None and self._bridging[1].id == candidate.id
        if candidate.id not in self._waiting and not bridging:
            self._waiting[candidate.id] = (candidate, now + self._settings.reorder)
        return self._advance(now)

    def _say(self, entry: StreamEntry, now: Instant) -> list[Effect]:
        """Number what is said to somebody at once: it waits for no earlier thought, and none leads over to it."""
        effects: list[Effect] = []
        said = self._known.get(entry.id)
        if said is None:
            said = replace(entry, seq=self._next, at=now)
            self._next += 1
            self._remember([said])
            effects += [Commit(WriteEntries((said,))), Count("stream_entries_total"), Count("answers_total")]
        return [*effects, *(Send(name, Broadcast(said, None), 1.0) for name in self._always)]

    def _remember(self, entries: Sequence[StreamEntry]) -> None:
        self._known.update((e.id, e) for e in entries)
        while len(self._known) > self._settings.remembered:
            self._known.popitem(last=False)

    def _dues(self) -> list[Instant]:
        """When each that waits has waited long enough."""
        return [due for _, due in self._waiting.values()]

    def _take_back(self, said: Said) -> list[Effect]:
        """Number again from the head of the log; who handed over what it holds already hears so, and does it no more.

        What was numbered beside it is handed over again.
        """
        self._known = OrderedDict((i, e) for i, e in self._known.items() if e.seq <= said.head)
        self._known[said.entry.id] = said.entry
        self._next = said.head + 1
        thoughts = [e for e in self._known.values() if e.kind is EntryKind.THOUGHT and e.vector is not None]
        self._last = max(thoughts, key=lambda e: e.seq, default=None)
        self._terms = ()  # they were those of a thought that is not said
        told = (ATTENTION, ENVIRONMENT) if said.entry.kind is not EntryKind.ANSWER else (said.entry.author,)
        return [Send(name, Broadcast(said.entry, None), 1.0) for name in told]

    def _in_order(self) -> list[Candidate]:
        return sorted((c for c, _ in self._waiting.values()), key=lambda c: (c.time, c.id))

    def _advance(self, now: Instant) -> list[Effect]:
        """Number, in order of event time, all up to the latest one whose window is over."""
        effects: list[Effect] = []
        if self._bridging is not None:
            if now < self._bridging[3]:
                return [WakeAt(self._bridging[3])]
            effects += self._number(self._bridging[1], None, now)
            self._bridging = None
        while self._waiting and min(self._dues()) <= now:
            candidate = self._in_order()[0]
            del self._waiting[candidate.id]
            bridge = self._bridge(candidate, now)
            if bridge is not None:
                return [*effects, bridge, WakeAt(now + self._settings.segue_patience)]
            effects += self._number(candidate, None, now)
        if self._waiting:
            effects.append(WakeAt(min(self._dues())))
        return effects

    def _bridge(self, candidate: Candidate, now: Instant) -> Effect | None:
        """Ask for a segue when the thought leads away from the one before it."""
        last = self._last
        if last is None or last.vector is None or abs(candidate.time - last.time) > self._soon():
            return None
        here, there = self._centre.remove(last.vector), self._centre.remove(candidate.focus.thought.vector)
        if max(-1.0, float(here @ there)) >= self._settings.segue_below:
            return None
        token = segue_id(last.id, candidate.id)
        self._bridging = (token, candidate, last, now + self._settings.segue_patience)
        source = last.perceptions[0].source if last.perceptions else ""
        before = Material(
            Role.EVENT, last.text, source, clock_time(last.time), self._terms or read(last.text).terms[:3]
        )
        after = material(Role.EVENT, candidate.focus.thought, clock_time(candidate.time))
        return Generate(token, Request(Act.BRIDGE, self.name, (before, after), max_tokens=60))

    def _soon(self) -> float:
        """Seconds within which a change of subject wants a transition: within what is usual it is no surprise."""
        if len(self._gaps) < _LEAST_GAPS:
            return self._settings.segue_within
        return min(self._settings.segue_within, sorted(self._gaps)[len(self._gaps) // 2] / 2)

    def _bridged(self, generated: Generated, now: Instant) -> list[Effect]:
        if self._bridging is None or self._bridging[0] != generated.token:
            return []
        candidate = self._bridging[1]
        self._bridging = None
        return [*self._number(candidate, generated, now), *self._advance(now)]

    def _number(self, candidate: Candidate, segue: Generated | None, now: Instant) -> list[Effect]:
        """Append a thought, after its segue where there is one, and tell whom it concerns."""
        effects: list[Effect] = []
        entries: list[StreamEntry] = []
        thought = candidate.focus.thought
        if segue is not None and self._last is not None:
            entries.append(self._segue(self._last, candidate, segue, now))
        entry = StreamEntry(
            seq=self._next + len(entries),
            id=candidate.id,
            kind=EntryKind.THOUGHT,
            text=candidate.text,
            time=candidate.time,
            at=now,
            salience=candidate.salience,
            confidence=candidate.confidence,
            trust=candidate.trust,
            perceptions=perceptions_of([thought, *(t.thought for t in candidate.bound)]),
            lineage=(candidate.focus.id, *(t.id for t in candidate.bound)),
            focus=candidate.focus.id,
            author=thought.author,
            vector=thought.vector,
            links=candidate.links,
            worded_by=candidate.worded_by,
            severity=candidate.severity,
            why=candidate.why,
        )
        entries.append(entry)
        self._next = entry.seq + 1
        self._follow(entry)
        self._terms = thought.associations[:_TERMS]
        self._centre.learn(thought.vector)
        self._remember(entries)
        effects.append(Commit(WriteEntries(tuple(entries))))
        effects += [Count("stream_entries_total", len(entries)), Count("segues_total", len(entries) - 1)]
        return [*effects, *self._tell(entry, candidate)]

    def _follow(self, entry: StreamEntry) -> None:
        """This one is the latest thought."""
        if self._last is not None:
            self._gaps.append(abs(entry.time - self._last.time))
        self._last = entry

    def _tell(self, entry: StreamEntry, candidate: Candidate) -> list[Effect]:
        broadcast = Broadcast(entry, candidate.focus)
        to = dict.fromkeys((*self._always, *candidate.concerns))
        return [Send(name, broadcast, 1.0) for name in to]

    def _segue(self, before: StreamEntry, after: Candidate, words: Generated, now: Instant) -> StreamEntry:
        sides: list[tuple[PerceptionRef, ...]] = [before.perceptions[:1], after.focus.thought.perceptions[:1]]
        return StreamEntry(
            seq=self._next,
            id=segue_id(before.id, after.id),
            kind=EntryKind.SEGUE,
            text=words.generation.text,
            time=after.time,
            at=now,
            salience=min(before.salience, after.salience),
            confidence=min(before.confidence, after.confidence),
            trust=min(before.trust, after.trust),
            perceptions=tuple(dict.fromkeys(p for side in sides for p in side)),
            lineage=(before.id, after.id),
            worded_by=words.generation.model,
        )

    def describe(self) -> Description:
        figures = {"stream_head": float(self._next - 1), "reordering": float(len(self._waiting))}
        return Description("stream", "put conscious thoughts in order and number them", (), figures)

    def snapshot(self) -> bytes:
        return b""

    def restore(self, state: bytes) -> None:
        raise ValueError(f"the stream is restored from its log, not from {len(state)} bytes")
