"""What is owed: promises, requests and deadlines with a time, questions without one; opened, closed and asked after."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from actors.effects import Commit, Count, Effect, WakeAt
from actors.matters.cues import CueReader
from actors.matters.matter import LOOPS, REMINDERS, OpenLoop
from actors.matters.settings import MattersSettings
from actors.submind.composing import apart, clock_time
from actors.submind.linking import Rarity, answers
from actors.substrate.sentences import speaker, words
from environment.identity import derived
from environment.messages import Instant, Thought
from environment.severity import salience_of

_WHOLE = 200
"""Characters of a line that is quoted whole; of a longer one only the sentence that says what is owed."""
_SAYS = 2
"""Terms of a question, at least: "any news?" is none to come back to."""
_DAY = 86_400.0
_CLOSES = 0.8
"""How telling must be what a line and an open loop both name, for the line to close it."""


class Owed:
    """The loops that are open, at most ``settings.loops``; one without a time makes room for another."""

    def __init__(self, loops: Mapping[str, OpenLoop], settings: MattersSettings) -> None:
        self.configure(settings)
        self._loops = {key: loop for key, loop in loops.items() if loop.open}
        self._asking: OrderedDict[str, Thought] = OrderedDict()

    def configure(self, settings: MattersSettings) -> None:
        """From now on by these settings."""
        self._settings, self._reader = settings, CueReader(settings)

    def __len__(self) -> int:
        return len(self._loops)

    def heard(self, thought: Thought, rarity: Rarity, now: Instant) -> list[Effect]:
        """A line was perceived: it may close loops, and open one."""
        effects = [*self._close(thought, rarity), *self._answer(thought, rarity)]
        loop = self._opened(thought, now)
        if loop is None or loop.id in self._loops:
            return effects
        if len(self._loops) >= self._settings.loops:
            least = min((each for each in self._loops.values() if not each.dated), key=_weight, default=loop)
            effects.append(Count("limit_hits:loops"))
            if _weight(least) >= _weight(loop):
                return effects
            effects.append(self._let_go(least))
        self._loops[loop.id] = loop
        if not loop.dated:
            self._asking[loop.id] = thought
        return [*effects, self._keep(loop), Count("loops_opened_total"), WakeAt(self.remind_at(loop))]

    def _opened(self, thought: Thought, now: Instant) -> OpenLoop | None:
        """What a line owes or asks for, if anything."""
        first, terms = thought.perceptions[0], list(thought.associations)
        due = self._reader.due(thought.text, thought.time)
        text = thought.text if len(thought.text) <= _WHOLE else ""
        key, trust = derived("l", thought.id), thought.trust
        if due is not None:
            if due.at <= now or due.at - thought.time < self._settings.soon:
                return None
            if any(o.dated and o.due == due.at and set(o.terms) & set(terms) for o in self._loops.values()):
                return None
            return OpenLoop(key, text or due.clause, first, due.at, due.asked, trust, terms)
        clause, at = self._reader.asks(thought.text), thought.time + self._settings.patience
        if not clause or at <= now or not self._settings.patience or len(terms) < _SAYS:
            return None
        loop = OpenLoop(key, text or clause, first, at, asked=True, trust=trust, terms=terms)
        loop.dated, loop.salience = False, round(salience_of(thought.salience), 3)
        return loop

    def _close(self, thought: Thought, rarity: Rarity) -> list[Effect]:
        """What says that something is done, and names it."""
        voice = set(words(speaker(thought.text)))
        named = set(thought.associations)
        said = {term for term in named if not voice.issuperset(words(term))}
        effects: list[Effect] = []
        for loop in [loop for loop in self._loops.values() if not named.isdisjoint(loop.terms)]:
            both = (named if loop.dated else said).intersection(loop.terms)
            worth = sum(rarity.of(term) ** 2 for term in both)
            if worth >= _CLOSES and thought.time > loop.perception.time and self._reader.settles(thought.text):
                effects += self._closed(loop, thought)
        return effects

    def _answer(self, thought: Thought, rarity: Rarity) -> list[Effect]:
        """What others say to a question, or of what it names; who only promises to see to it gets as long again."""
        effects: list[Effect] = []
        for key, asked in list(self._asking.items()):
            if key not in self._loops:
                del self._asking[key]
            elif answers(thought, asked, rarity, self._settings.join):
                if self._reader.promises(thought.text):
                    self._loops[key].due = thought.time + self._settings.patience
                    effects.append(self._keep(self._loops[key]))
                else:
                    effects += self._closed(self._loops[key], thought)
        return effects

    def _closed(self, loop: OpenLoop, thought: Thought) -> list[Effect]:
        loop.closed_by = thought.perceptions[0]
        if loop.dated:
            del self._loops[loop.id]
            return [self._keep(loop), Count("loops_closed_total")]
        return [self._let_go(loop), Count("loops_closed_total")]

    def _let_go(self, loop: OpenLoop) -> Effect:
        """Of a question that needs no word any more nothing is kept."""
        del self._loops[loop.id]
        self._asking.pop(loop.id, None)
        return Commit(LOOPS.remove(loop.id, time=loop.due))

    def _keep(self, loop: OpenLoop) -> Effect:
        return Commit(LOOPS.write(loop.id, loop, time=loop.due, expires=loop.due + self._settings.keep))

    def remind_at(self, loop: OpenLoop) -> Instant:
        """When it is to be told next."""
        if loop.told or loop.exact or not loop.dated:
            return loop.due
        return loop.due - min(self._settings.notice, (loop.due - loop.perception.time) / 4)

    @property
    def next(self) -> Instant | None:
        """When one is to be told; None: no loop is open."""
        return min(map(self.remind_at, self._loops.values()), default=None)

    def due(
        self, now: Instant, room: Callable[[Instant], bool], told: Callable[[str], bool]
    ) -> Iterator[tuple[OpenLoop, str, list[Effect]]]:
        """Each loop that is to be told by now, with the words, as long as there is room: what has a time first.

        Without words one that is let go instead, and one that has to wait. ``told``: whether a trace became conscious.
        """
        for loop in sorted(self._loops.values(), key=lambda each: (not each.dated, each.due, each.id)):
            if self.remind_at(loop) > now:
                continue
            asked = self._asking.get(loop.id)
            if not loop.dated and (asked is None or not told(asked.id)):  # of small talk nobody wants to know
                yield loop, "", [self._let_go(loop)]
                continue
            if not room(now):
                yield loop, "", [Count("limit_hits:reminders")]
                return
            missed = now >= loop.due and not loop.exact and loop.dated
            once = loop.exact or not loop.dated or loop.due - loop.perception.time < self._settings.long
            loop.told = REMINDERS if missed or once else 1
            if not loop.open:
                del self._loops[loop.id]
            said = f"“{loop.text}” ({loop.perception.source}, {apart(loop.perception.time, now)})"
            text = f"Due {_when(loop.due, now)}: {said}."
            if not loop.dated:
                text = f"No answer so far: {said}."
            elif missed:
                text = f"Missed, it was due {_when(loop.due, now)}: {said}. Nothing since says that it is done."
            yield loop, text, [self._keep(loop), Count("reminders_total")]

    def dump(self) -> list[Thought]:
        """For a snapshot; the loops themselves are documents."""
        return list(self._asking.values())

    def load(self, asking: list[Thought]) -> None:
        """From a snapshot."""
        self._asking.update((derived("l", thought.id), thought) for thought in asking)

    def remind(self, loop: OpenLoop, now: Instant) -> list[Effect]:
        """Put in a reminder that somebody asks for, or take it out."""
        known = self._loops.get(loop.id)
        if known == loop or (known is None and (not loop.open or loop.due <= now)):
            return []
        self._loops[loop.id] = loop
        if not loop.open:
            del self._loops[loop.id]
        return [self._keep(loop), WakeAt(loop.due)]


def _weight(loop: OpenLoop) -> float:
    return 1.0 if loop.dated else loop.salience


def _when(due: Instant, now: Instant) -> str:
    if due // _DAY == now // _DAY:
        return f"at {clock_time(due)}"
    return f"{datetime.fromtimestamp(due, UTC):%a %-d %b} {clock_time(due)}"
