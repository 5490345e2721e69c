"""Follows matters: what belongs to them, where they stand, what is owed, and when it is over."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from actors.core import Description, Inward
from actors.effects import Commit, Count, Effect, Send, WakeAt
from actors.events import Broadcast, Configured, Event, Marked, Muted, Posted, Reinforce, Salient, Started, Tick
from actors.matters.cues import CueReader
from actors.matters.marked import StandingMarks, reminder, settled
from actors.matters.matter import (
    ENTRIES,
    MATTERS,
    Matter,
    MatterLine,
    OpenLoop,
    begun,
    join,
    linked_to,
    merge,
    most_salient,
    part,
    settled_text,
    split,
)
from actors.matters.members import Members
from actors.matters.owed import TOLD, Owed
from actors.matters.settings import MattersSettings
from actors.matters.summing import Summaries
from actors.names import ATTENTION, ENVIRONMENT
from actors.snapshots import pack, unpack
from actors.submind.budget import Allowance
from actors.submind.linking import Rarity, Tie
from actors.submind.retransmit import RetransmitBuffer
from environment.identity import derived, thought_id
from environment.marks import FeedbackMark, MarkKind
from environment.messages import EntryKind, Instant, StreamEntry, Thought, ThoughtKind, Trace, Vector

_MEMBERS = 8
"""Lines of a matter, on average, by which others find it."""
_PATIENCE = 60.0
"""Seconds between two looks at what is due, at least."""


class MattersCore(Inward):
    """The one that follows matters.

    Guarantees: a matter and a loop are written in the step that changes them; a reminder is said at most twice, a
    settlement once for each time that a matter was settled; the number of those followed is bounded. What is told
    to it while it is away is missed: a matter is found again by the next line of it.
    """

    def __init__(
        self,
        name: str,
        dim: int,
        matters: Mapping[str, Matter],
        loops: Mapping[str, OpenLoop],
        settings: MattersSettings,
        model: bool = False,
    ) -> None:
        self.name, self.saved = name, _Saved
        self._settings = settings
        self._reader = CueReader(settings)
        self._owed = Owed(loops, settings)
        self._matters: OrderedDict[str, Matter] = OrderedDict(
            sorted(matters.items(), key=lambda kept: (kept[1].changed, kept[0]))[-settings.most :]
        )
        self._of = {line.trace: key for key, matter in self._matters.items() for line in matter.lines}
        self._members = Members(dim, settings.most * _MEMBERS)
        self._recent: OrderedDict[str, Trace] = OrderedDict()
        self._rarity, self._marks = Rarity(), StandingMarks()
        self._allowance = Allowance(settings.reminders_per_hour, settings.reminders_per_hour / 2)
        self._unacknowledged = RetransmitBuffer(name)
        self._summaries = Summaries(name, settings, model=model)
        self._later: list[tuple[str, Thought]] = []

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        match event:
            case Salient(again=False):
                return [effect for trace in event.traces for effect in self._perceived(trace, now)]
            case Broadcast():
                return self._conscious(event.entry, event.focus, now)
            case Posted():
                self._unacknowledged.arrived(event.ids)
                return []
            case Marked():
                return self._marked(event.marks, now)
            case Configured(section=MattersSettings() as settings):
                self._settings, self._reader = settings, CueReader(settings)
                self._owed.configure(settings)
                self._summaries.configure(settings, now)
                self._allowance.configure(settings.reminders_per_hour, now, settings.reminders_per_hour / 2)
                return self._tend(now)
            case Started() | Tick():
                return [*self._unacknowledged.tend(now), *self._tend(now)]
            case _:
                summed_up = self._summaries.heard(event, self._matters)
                return [Count("matters_summed_total"), *self._write(summed_up, now)] if summed_up else []

    def _perceived(self, trace: Trace, now: Instant) -> list[Effect]:
        """A line was perceived: it may belong to a matter, open a loop, or close one."""
        thought = trace.thought
        known = trace.id in self._recent or trace.id in self._of
        if known or thought.kind is not ThoughtKind.PERCEPT or not thought.perceptions:
            return []
        effects = self._owed.heard(thought, self._rarity, now)
        matter, link = self._cited(thought), ("cites one of its lines", "")
        found = self._members.nearest(thought, self._rarity, self._settings.join, self._marks.tie)
        if matter is None and found:
            matter, link = self._matters[found[0][0]], (found[0][1].reason, found[0][2])
        if matter is not None:
            matter, merged = self._merge(matter, found, now)
            effects += merged
            effects += self._add(matter, trace, link, now)
            if matter.entries and self._settings.lift:
                effects.append(Send(ENVIRONMENT, Reinforce(trace.id, self.name, self._settings.lift)))
        self._rarity.learn(thought.associations)
        self._recent[trace.id] = trace
        while len(self._recent) > self._settings.recent:
            self._recent.popitem(last=False)
        return effects

    def _cited(self, thought: Thought) -> Matter | None:
        """The latest matter of which the thought cites a line, beside what it focuses on."""
        earlier = {perception.id for perception in thought.perceptions[1:]}
        if not earlier:
            return None
        every = reversed(self._matters.values())
        return next((m for m in every if any(line.perception.id in earlier for line in m.lines)), None)

    def _add(self, matter: Matter, trace: Trace, link: tuple[str, str], now: Instant) -> list[Effect]:
        cue = self._reader.settles(trace.thought.text, [each.text for each in matter.lines], all_of=True)
        said = any(cue in each.text.lower() for each in matter.lines)
        cites = {perception.id for perception in trace.thought.perceptions[1:]}  # of what it says that it is over
        worst = most_salient(matter.lines)
        alarms = {matter.lines[0].perception.id, worst.perception.id}
        settles = bool(cue) and (not cites.isdisjoint(alarms) if cites else not said)
        ends = settles and matter.open
        line = join(matter, trace, link, now, self._settings.lines, settles=settles, over=bool(cue))
        self._belongs(trace, matter)
        until = self._marks.muted(matter.id)
        told = ends and until <= now and matter.take_back(self._settings.worth)
        effects = [*self._write(matter, now), *self._summaries.touch(matter, now)]
        if until > now:
            return [*effects, Send(ATTENTION, Muted((trace.id,), until))]
        if told:
            text = settled_text(matter, line)
            effects += self._say(text, (line, worst), trace.thought.vector, matter.terms, "settled", now, matter.id)
            effects += [Count("matters_settled_total")]
        return effects

    def _belongs(self, trace: Trace, matter: Matter) -> None:
        """A line is of a matter; of those that are not kept only so many are remembered."""
        self._of[trace.id] = matter.id
        self._members.add(matter.id, trace)
        if len(self._of) > self._settings.most * (self._settings.lines + _MEMBERS):
            kept = {line.trace for each in self._matters.values() for line in each.lines}
            self._of = {line: key for line, key in self._of.items() if line in kept}

    def _conscious(self, entry: StreamEntry, focus: Trace | None, now: Instant) -> list[Effect]:
        """What became conscious is a matter, or belongs to one."""
        if entry.kind is not EntryKind.THOUGHT or focus is None:
            return []
        effects = self._owed.conscious(focus.thought.perceptions[0]) if focus.thought.perceptions else []
        of = focus.thought.parents
        if focus.thought.kind is ThoughtKind.RESULT:  # a reminder is of what was perceived
            of = tuple(trace.id for trace in self._recent.values() if trace.thought.perceptions[0].id in of)
        if known := [self._of[i] for i in (*entry.lineage, *of) if i in self._of]:
            matter = self._matters[known[0]]
        else:
            lines = (self._recent[i] for i in of if i in self._recent)
            trace = focus if focus.thought.kind is ThoughtKind.PERCEPT else next(lines, None)
            if trace is None:
                return effects
            matter, more = self._begin(trace, now)
            effects += more
            if self._reader.makeshift(trace.thought.text):  # its end is wanted as much as that it has none so far
                matter.salience = max(matter.salience, focus.thought.salience)
        if entry.seq not in matter.entries:
            matter.entries = [*matter.entries, entry.seq][-ENTRIES:]
        return [*effects, *self._write(matter, now)]

    def _begin(self, trace: Trace, now: Instant) -> tuple[Matter, list[Effect]]:
        matter = begun(trace, derived("m", trace.id), now)
        self._matters[matter.id] = matter
        self._belongs(trace, matter)
        effects: list[Effect] = [Count("matters_begun_total")]
        for other in [each for each in self._recent.values() if each.id not in self._of]:
            tied = self._marks.tie(trace.thought, other.thought, self._rarity)
            if tied is not None and tied.strength >= self._settings.join:
                join(matter, other, (tied.reason, trace.id), now, self._settings.lines)
                self._belongs(other, matter)
        while len(self._matters) > self._settings.most:
            gone = min(self._matters.values(), key=lambda m: (m.open, m.changed, m.id))
            effects.append(Count("limit_hits:matters"))
            self._let_go(gone)
        return matter, effects

    def _merge(
        self, matter: Matter, found: Sequence[tuple[str, Tie, str]], now: Instant
    ) -> tuple[Matter, list[Effect]]:
        """One matter of all that a line is about, which began first; what a line only turns to stays apart."""
        effects: list[Effect] = []
        least = self._settings.merge or float("inf")
        about = {key: tied.reason for key, tied, _ in found if not tied.turn and tied.strength >= least}
        if matter.id in about:
            for key in [key for key in about if key != matter.id]:
                matter, other = sorted((matter, self._matters[key]), key=lambda each: (each.began, each.id))
                effects += self._absorb(matter, other, about[other.id], now)
        return matter, effects

    def _absorb(self, matter: Matter, other: Matter, why: str, now: Instant) -> list[Effect]:
        merge(matter, other, why, now, self._settings.lines)
        self._move(self._lines_of(other), matter)
        del self._matters[other.id]
        return [Commit(MATTERS.remove(other.id, time=now)), Count("matters_merged_total")]

    def _lines_of(self, matter: Matter) -> tuple[str, ...]:
        known = [trace for trace, key in self._of.items() if key == matter.id]
        return tuple(dict.fromkeys([*known, *self._members.of(matter.id)]))

    def _move(self, lines: Iterable[str], matter: Matter) -> None:
        """Lines belong to another matter from now on."""
        held = {trace.id: trace for trace in self._members.all()}
        for line in lines:
            self._of[line] = matter.id
            if line in held:
                self._members.add(matter.id, held[line])

    def _let_go(self, matter: Matter) -> None:
        del self._matters[matter.id]
        self._members.release(matter.id)
        self._of = {trace: key for trace, key in self._of.items() if key != matter.id}

    def _write(self, matter: Matter, now: Instant) -> list[Effect]:
        return [Commit(MATTERS.write(matter.id, matter, time=matter.began, expires=now + self._settings.keep))]

    def _tend(self, now: Instant) -> list[Effect]:
        """Remind of what falls due or was missed; say what had to wait; let go of what rests."""
        effects = [*self._say_later(now), *self._summaries.tend(now)]
        for loop, text, told in self._owed.due(now, self._room):
            effects += told
            if text:
                line = MatterLine("", loop.text, loop.perception, TOLD if loop.dated else loop.salience, loop.trust)
                effects += self._say(text, (line,), self._vector(loop), loop.terms, f"due/{loop.told}", now)
        for matter in [m for m in self._matters.values() if now - m.changed > self._settings.rest]:
            self._let_go(matter)
        due = self._owed.next
        return [*effects, WakeAt(max(due, now + _PATIENCE))] if due is not None else effects

    def _marked(self, marks: tuple[FeedbackMark, ...], now: Instant) -> list[Effect]:
        """Do what the marks say; what was done is not done again."""
        before, effects = self._marks, list[Effect]()
        self._marks = StandingMarks(marks)
        for mark in marks:
            matter = self._matters.get(mark.matter)
            if mark.kind is MarkKind.REMIND and (loop := reminder(mark)) is not None:
                effects += self._owed.remind(loop, now)
            elif matter is not None and mark.kind is MarkKind.SETTLED and settled(matter, mark, now):
                effects += self._write(matter, now)
            elif matter is not None and mark.kind is MarkKind.WRONG:
                effects += self._rejoin(matter, mark, now) if mark.undone else self._part(matter, mark, now)
            elif matter is not None and mark.kind is MarkKind.MUTE:
                until = self._marks.muted(matter.id)
                if max(until, before.muted(matter.id)) > now:
                    effects.append(Send(ATTENTION, Muted(self._lines_of(matter), until)))
        return effects

    def _part(self, matter: Matter, mark: FeedbackMark, now: Instant) -> list[Effect]:
        """Take lines out of a matter; one that others were linked to is a matter of its own, with these."""
        effects: list[Effect] = []
        for line in [line for line in matter.lines[1:] if line.trace in mark.traces]:
            gone = linked_to(matter, line)
            if not gone:  # with one before it
                continue
            part(matter, gone)
            for each in gone:
                self._of.pop(each.trace, None)
            effects += self._write(matter, now)
            if len(gone) == 1:
                self._members.drop(line.trace)
                continue
            other = split(gone, derived("m", line.trace), f"was taken out of “{matter.title}”", now)
            self._matters[other.id] = other
            self._move([each.trace for each in gone], other)
            effects += [*self._write(other, now), Count("matters_split_total")]
        return effects

    def _rejoin(self, matter: Matter, mark: FeedbackMark, now: Instant) -> list[Effect]:
        """Put lines back that are remembered and belong to no other matter since, but to one that was split off."""
        effects: list[Effect] = []
        for other in [m for trace in mark.traces if (m := self._matters.get(derived("m", trace)))]:
            if other is not matter:
                effects += self._absorb(matter, other, "put back", now)
        back = [self._recent[i] for i in mark.traces if i in self._recent and i not in self._of]
        return [
            *effects,
            *(self._write(matter, now) if effects else ()),
            *(effect for trace in back for effect in self._add(matter, trace, ("put back", ""), now)),
        ]

    def _vector(self, loop: OpenLoop) -> Vector:
        said = (trace.thought for trace in self._recent.values())
        return next((t.vector for t in said if t.perceptions[0].id == loop.perception.id), self._members.nothing)

    def _say(
        self,
        text: str,
        lines: tuple[MatterLine, ...],
        vector: Vector,
        terms: list[str],
        part: str,
        now: Instant,
        settled: str = "",
    ) -> list[Effect]:
        """Post something that is to be said at once; later, where there is no room to say that a matter is settled."""
        perceptions = tuple(dict.fromkeys(line.perception for line in lines))
        parents = tuple(perception.id for perception in perceptions)  # what was perceived is never revised
        thought = Thought(
            id=thought_id(self.name, parents, part),
            author=self.name,
            kind=ThoughtKind.RESULT,
            text=text,
            time=lines[0].perception.time if settled else now,
            at=now,
            vector=vector,
            salience=TOLD if settled else min(line.salience for line in lines),
            confidence=0.6,
            trust=min(line.trust for line in lines),
            perceptions=perceptions,
            parents=parents,
            depth=1,
            associations=tuple(terms[:8]),
            insights=(part.partition("/")[0],),
            worded_by="rule",
        )
        if self._allowance.take(now):
            return self._unacknowledged.post([thought], now)
        self._later = [*self._later, (settled, thought)][-ENTRIES:]
        return [Count("limit_hits:reminders"), WakeAt(now + _PATIENCE)]

    def _room(self, now: Instant) -> bool:
        """Whether there is room for a reminder: it leaves some for what settles a matter, which cannot wait."""
        return self._allowance.ready(now) and self._allowance.left >= min(2.0, self._settings.reminders_per_hour / 2)

    def _say_later(self, now: Instant) -> list[Effect]:
        """What had no room, if it still holds."""
        effects: list[Effect] = []
        while self._later and self._allowance.ready(now):
            key, thought = self._later.pop(0)
            matter = self._matters.get(key)
            if (matter is None or not matter.open) and self._allowance.take(now):
                effects += self._unacknowledged.post([replace(thought, time=now, at=now)], now)
        return [*effects, WakeAt(now + _PATIENCE)] if self._later else effects

    def describe(self) -> Description:
        still = sum(matter.open for matter in self._matters.values())
        figures = {"matters_open": float(still), "loops_open": float(len(self._owed))}
        return Description("matters", "follow what is going on until it is settled", (), figures)

    def snapshot(self) -> bytes:
        return pack(
            _Saved(
                members=self._members.dump(),
                recent=list(self._recent.values()),
                rarity=self._rarity.dump(),
                left=self._allowance.left,
                at=self._allowance.at,
                waiting=self._unacknowledged.dump(),
                later=self._later,
                owed=self._owed.dump(),
            )
        )

    def restore(self, state: bytes) -> None:
        saved = unpack(state, _Saved)
        for key, trace in saved.members:
            if key in self._matters:
                self._members.add(key, trace)
        self._recent.update((trace.id, trace) for trace in saved.recent)
        self._rarity.load(saved.rarity)
        self._allowance.left, self._allowance.at = saved.left, saved.at
        self._unacknowledged.load(saved.waiting)
        self._later = saved.later
        self._owed.load(saved.owed)


class _Saved(msgspec.Struct):
    members: list[tuple[str, Trace]]
    recent: list[Trace]
    rarity: dict[str, int]
    left: float
    at: Instant | None
    waiting: list[Thought]
    later: list[tuple[str, Thought]] = []
    owed: tuple[list[Thought], dict[str, int]] = ([], {})
