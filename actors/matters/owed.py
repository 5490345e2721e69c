"""What is owed: promises, requests and deadlines with a time, questions without one; opened, closed and asked after."""

import re
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from actors.effects import Commit, Count, Effect, WakeAt
from actors.matters.cues import CueReader, heads
from actors.matters.matter import LOOPS, REMINDERS, OpenLoop
from actors.matters.settings import MattersSettings
from actors.running import FadingCounts
from actors.submind.composing import apart, clock_time
from actors.submind.linking import Rarity, answers, soon
from actors.substrate.sentences import is_numbered, mentions, speaker, words
from environment.episodes.words import STOPWORDS
from environment.identity import derived
from environment.messages import Instant, PerceptionRef, Thought
from environment.severity import salience_of

_WHOLE = 200
"""Characters of a line that is quoted whole; of a longer one only the sentence that says what is owed."""
_SAYS = 2
"""Terms of a question, at least: "any news?" is none to come back to."""
_DAY = 86_400.0
TOLD = 0.97
"""Salience of what must be said in time; what is left open without a time and was never conscious has its own."""
_CLOSES = 0.8
"""How telling must be what a line and an open loop both name, for the line to close it."""
_LEAD, _VAGUE_LEAD = 1 / 4, 1 / 6
"""Share of the time there was that is left when one is reminded; a time that is vague has some to spare."""
_ASKED = 0.4
"""Salience of what is left open without a time, at least."""
_PLACES = 512
"""Counts of answers kept: two for a source."""
_REPLIED, _DRAW = 0.75, 4
"""Share of what is asked outright that is answered where nothing is known yet, and how many cases that counts as."""
_SAME = 2
"""Terms that two debts due at one time share which are one."""
_NUMBERS = 3
"""Figures of a number that names a thing and no speaker: "TICKET 412: ..."."""


class Owed:
    """The loops that are open, at most ``settings.loops``; one without a time makes room for another."""

    def __init__(self, loops: Mapping[str, OpenLoop], settings: MattersSettings) -> None:
        self.configure(settings)
        self._loops: dict[str, OpenLoop] = {}
        self._named: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """By term: a line is held against those alone that it may concern."""
        self._asking: dict[str, Thought] = {}
        self._asked_at: list[tuple[Instant, str]] = []
        """The same in the order of time."""
        self._replies = FadingCounts(_PLACES)
        for loop in loops.values():
            if loop.open:
                self._hold(loop)

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
        self._hold(loop)
        if not loop.dated:
            self._ask(loop.id, thought)
        return [*effects, self._keep(loop), Count("loops_opened_total"), WakeAt(self.remind_at(loop))]

    def _hold(self, loop: OpenLoop) -> None:
        self._loops[loop.id] = loop
        for term in loop.terms:
            self._named[term][loop.id] = None

    def _ask(self, key: str, thought: Thought) -> None:
        self._asking[key] = thought
        insort(self._asked_at, (thought.time, key))

    def _drop(self, loop: OpenLoop) -> None:
        del self._loops[loop.id]
        asked = self._asking.pop(loop.id, None)
        if asked is not None:
            del self._asked_at[bisect_left(self._asked_at, (asked.time, loop.id))]
        for term in loop.terms:
            self._named[term].pop(loop.id, None)
            if not self._named[term]:
                del self._named[term]

    def _about(self, terms: Sequence[str]) -> list[OpenLoop]:
        """The loops that share a term with some."""
        return [self._loops[key] for key in {key: None for term in terms for key in self._named.get(term, ())}]

    def _opened(self, thought: Thought, now: Instant) -> OpenLoop | None:
        """What a line owes or asks for, if anything."""
        first, terms = thought.perceptions[0], list(thought.associations)
        due = self._reader.due(thought.text, thought.time)
        text = thought.text if len(thought.text) <= _WHOLE else ""
        key, trust = derived("l", thought.id), thought.trust
        if due is not None:
            if due.at <= now or due.at - thought.time < self._settings.soon:
                return None
            if any(o.due == due.at and len(set(o.terms) & set(terms)) >= _SAME for o in self._loops.values()):
                return None
            return OpenLoop(key, text or due.clause, first, due.at, due.asked, trust, terms, vague=due.vague)
        clause, patience = self._reader.asks(thought.text), self._settings.patience
        asks = bool(clause)
        clause = clause or self._reader.makeshift(thought.text)
        at = thought.time + (patience if asks else 2 * patience)
        if not clause or at <= now or not patience or len(terms) < _SAYS:
            return None
        loop = OpenLoop(key, text or clause, first, at, asks, trust, terms, dated=False)
        least = _ASKED if asks else max(_ASKED, self._settings.worth)  # what is only helped is still a trouble
        loop.salience = round(least + (1 - least) * salience_of(thought.salience), 3)
        loop.known = not asks
        return loop

    def _close(self, thought: Thought, rarity: Rarity) -> list[Effect]:
        """What says that something is done, and names it."""
        voice = _voice(thought.text)
        said = [term for term in thought.associations if not voice.issuperset(words(term))]
        begun, effects = heads(thought.text), list[Effect]()
        for loop in self._about(said):
            worth = {term: rarity.of(term) ** 2 for term in said if term in loop.terms}
            if sum(worth.values()) < _CLOSES or thought.time <= loop.perception.time or _others(said, loop.terms):
                continue
            asks = loop.asked and not loop.dated
            over = next((head for head in begun if self._reader.fulfils(head, loop.text, asks)), "")
            if over and sum(telling for term, telling in worth.items() if mentions(over, term)) >= _CLOSES:
                effects += self._closed(loop, thought)
        return effects

    def _answer(self, thought: Thought, rarity: Rarity) -> list[Effect]:
        """What others say to a question, or of what it names; who only promises to see to it gets as long again."""
        effects: list[Effect] = []
        begun = bisect_left(self._asked_at, (thought.time - soon(thought), ""))
        recent = [self._loops[key] for _, key in self._asked_at[begun:]]
        for loop in {loop.id: loop for loop in (*recent, *self._about(thought.associations))}.values():
            asked = self._asking.get(loop.id)
            if asked is not None and loop.asked and answers(thought, asked, rarity, self._settings.join):
                if self._reader.hands_on(thought.text) or _others(thought.associations, asked.associations):
                    continue
                if self._reader.promises(thought.text):
                    loop.due = thought.time + self._settings.patience
                    effects.append(self._keep(loop))
                else:
                    effects += self._closed(loop, thought)
        return effects

    def _replied(self, place: str, before: float) -> float:
        """Share of what was asked outright in a place that was answered in words, drawn towards ``before``."""
        return (self._replies.get(f"+{place}") + _DRAW * before) / (self._replies.get(f"?{place}") + _DRAW)

    def _outright(self, loop: OpenLoop) -> bool:
        return loop.asked and not loop.dated and self._reader.requests(loop.text)

    def _learn(self, loop: OpenLoop, *, answered: bool) -> None:
        """Whether what was asked outright got an answer tells what to expect there, and elsewhere a little."""
        if self._outright(loop):
            places = ("", loop.perception.source)
            self._replies.add(f"{sign}{place}" for place in places for sign in ("?+" if answered else "?"))

    def _missing(self, loop: OpenLoop) -> bool:
        """Whether that nobody answered is news: somebody was asked outright where one is answered as a rule.

        Where requests are met by deeds, or by nobody, an answer that did not come says nothing.
        """
        usual = self._replied(loop.perception.source, self._replied("", _REPLIED))
        return self._outright(loop) and usual >= self._settings.replies

    def _closed(self, loop: OpenLoop, thought: Thought) -> list[Effect]:
        loop.closed_by = thought.perceptions[0]
        self._learn(loop, answered=True)
        if loop.dated:
            self._drop(loop)
            return [self._keep(loop), Count("loops_closed_total")]
        return [self._let_go(loop), Count("loops_closed_total")]

    def _let_go(self, loop: OpenLoop) -> Effect:
        """Of a question that needs no word any more nothing is kept."""
        self._drop(loop)
        return Commit(LOOPS.remove(loop.id, time=loop.due))

    def _keep(self, loop: OpenLoop) -> Effect:
        return Commit(LOOPS.write(loop.id, loop, time=loop.due, expires=loop.due + self._settings.keep))

    def remind_at(self, loop: OpenLoop) -> Instant:
        """When it is to be told next."""
        if loop.told or loop.exact or not loop.dated:
            return loop.due
        return loop.due - min(
            self._settings.notice, (loop.due - loop.perception.time) * (_VAGUE_LEAD if loop.vague else _LEAD)
        )

    @property
    def next(self) -> Instant | None:
        """When one is to be told; None: no loop is open."""
        return min(map(self.remind_at, self._loops.values()), default=None)

    def conscious(self, said: PerceptionRef) -> list[Effect]:
        """What is owed without a time became conscious: one wants to know what comes of it."""
        found = [loop for loop in self._loops.values() if loop.perception.id == said.id and not loop.dated]
        for loop in found:
            loop.known, loop.salience = True, TOLD
        return [self._keep(loop) for loop in found]

    def due(self, now: Instant, room: Callable[[Instant], bool]) -> Iterator[tuple[OpenLoop, str, list[Effect]]]:
        """Each loop that is to be told by now, with the words, as long as there is room: what has a time first.

        Without words one that is let go instead, and one that has to wait.
        """
        for loop in sorted(self._loops.values(), key=lambda each: (not each.dated, each.due, each.id)):
            if self.remind_at(loop) > now:
                continue
            if not loop.dated and not loop.known and not self._missing(loop):  # of small talk nobody wants to know
                self._learn(loop, answered=False)
                yield loop, "", [self._let_go(loop)]
                continue
            if not room(now):
                yield loop, "", [Count("limit_hits:reminders")]
                return
            self._learn(loop, answered=False)
            missed = now >= loop.due and not loop.exact and loop.dated
            once = loop.exact or not loop.dated or loop.due - loop.perception.time < self._settings.long
            loop.told = REMINDERS if missed or once else 1
            if not loop.open:
                self._drop(loop)
            said = f"“{loop.text}” ({loop.perception.source}, {apart(loop.perception.time, now)})"
            text = f"Due {_when(loop, now)}: {said}."
            if not loop.dated:
                text = f"{'No answer' if loop.asked else 'No end of it'} so far: {said}."
            elif missed:
                text = f"Missed, it was due {_when(loop, now)}: {said}. Nothing since says that it is done."
            yield loop, text, [self._keep(loop), Count("reminders_total")]

    def dump(self) -> tuple[list[Thought], dict[str, int]]:
        """For a snapshot; the loops themselves are documents."""
        return list(self._asking.values()), self._replies.dump()

    def load(self, saved: tuple[list[Thought], dict[str, int]]) -> None:
        """From a snapshot."""
        for thought in saved[0]:
            if (key := derived("l", thought.id)) in self._loops:
                self._ask(key, thought)
        self._replies.load(saved[1])

    def remind(self, loop: OpenLoop, now: Instant) -> list[Effect]:
        """Put in a reminder that somebody asks for, or take it out."""
        known = self._loops.get(loop.id)
        if known == loop or (known is None and (not loop.open or loop.due <= now)):
            return []
        if known is not None:
            self._drop(known)
        if loop.open:
            self._hold(loop)
        return [self._keep(loop), WakeAt(loop.due)]


def _weight(loop: OpenLoop) -> float:
    return 1.0 if loop.dated else loop.salience


def _when(loop: OpenLoop, now: Instant) -> str:
    hour = f"{'about' if loop.vague else 'at'} {clock_time(loop.due)}"
    if loop.due // _DAY == now // _DAY:
        return hour
    return f"{datetime.fromtimestamp(loop.due, UTC):%a %-d %b} {hour.removeprefix('at ')}"


def _voice(text: str) -> frozenset[str]:
    """The words of who speaks; none where a thing stands there: "the order 727: ..."."""
    who = speaker(text)
    thing = who.partition(" ")[0].lower() in STOPWORDS or re.search(rf"\d{{{_NUMBERS}}}", who)
    return frozenset() if thing else frozenset(words(who))


def _others(said: Iterable[str], terms: Iterable[str]) -> bool:
    """Whether one calls by another number what the other calls by one: "invoice 7698" is not "invoice 7712"."""
    mine, theirs = (dict(t.rsplit(" ", 1) for t in each if is_numbered(t) and " " in t) for each in (said, terms))
    both = mine.keys() & theirs.keys()
    return bool(both) and all(mine[name] != theirs[name] for name in both)
