"""What makes two lines belong together, and how sure that is: who speaks to whom, and what few others name.

Words that two lines share are no link by themselves: names of sources and of who speaks say nothing, nor do words in
every such line, and what says the same again adds nothing. The figures here were chosen on every other file of
annotated chat; ``benchmarks/binding.py`` measures them on the rest.
"""

import math
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from actors.running import FadingCounts
from actors.substrate.sentences import is_numbered, sentences, speaker
from environment.episodes.question import asks
from environment.episodes.words import STOPWORDS
from environment.messages import Instant, Thought, Trace
from environment.relations import Relation, RelationKind

_LEAD = re.compile(r"\W{0,2}([^\s:,;.!?<>()\"“”]{2,32})(?:\s?[:,]|->)\s")
_BACK = re.compile(r"(?:no|not|nope|wrong|actually|false alarm|that's not|that is not|it isn't|never)\b", re.IGNORECASE)
_CAUSE = re.compile(r"\b(?:because|due to|caused by|thanks to|owing to|that's why|result of)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_REPLY, _GOES_ON, _AT_ONCE = 600.0, 300.0, 60.0
"""Seconds within which a line answers another, goes on from one's own, and does either without a name."""
_CALLED, _NEXT = 3600.0, 120.0
"""... and answers a question in the same room: of whom it names, and of whoever speaks next."""
_SURE, _LIKELY = 1.25, 1.0
"""How sure a link is that the form of a conversation shows, with and without a name."""
_TERM, _TERMS = 0.3, 3
"""What a shared association counts at most, and how many count."""
_NUMBER = 0.5
"""What it counts more that both call something by the same number."""
_SAME_SOURCE = 0.1
_PLAIN, _LONG = 0.1, 3600.0
"""How much less it says that two lines share one plain word and no name or number, or many such words so long ago."""
_REMEMBERED = 2048
"""Lines of which it is remembered how they read: each is compared with many."""
_FEW = 3
_SAME = 0.8
"""Share of the smaller line's words in the other from which it is a quote of it."""


@dataclass(frozen=True, slots=True)
class Tie:
    """Why two lines belong together."""

    kind: RelationKind
    reason: str
    strength: float
    """How sure: cosine, and more for each telling association."""
    turn: bool = True
    """Whether the form of a conversation shows it, and not what both name."""

    def to(self, thought_id: str) -> Relation:
        """As what a thought says of the one it leads to."""
        return Relation(thought_id, self.kind, self.reason)


class Rarity:
    """How telling an association is, learned from what a submind meets."""

    def __init__(self, capacity: int = 4096) -> None:
        self._counts = FadingCounts(capacity)

    def learn(self, terms: Sequence[str]) -> None:
        """Count the associations of one thought."""
        self._counts.add(terms)

    def of(self, term: str) -> float:
        """1 for what was met once or never, falling to 0 for what everything shares."""
        total = self._counts.total + 20
        return max(0.0, 1.0 - math.log1p(max(0, self._counts.get(term) - 2)) / math.log(total))

    def dump(self) -> dict[str, int]:
        """For a snapshot."""
        return self._counts.dump()

    def load(self, counts: object) -> None:
        """From a snapshot."""
        self._counts.load(counts)


@dataclass(frozen=True, slots=True)
class _Voice:
    source: str
    named: tuple[str, ...]
    """Who stands in front of the line, and in front of what is left then: who says it, or to whom."""
    body: str
    who: frozenset[str]
    """The words of those names, and of one of several words: of a name with a figure in it, a host, it is said."""


def _voice(thought: Thought) -> _Voice:
    return _heard(source_of(thought).casefold(), thought.text)


@lru_cache(_REMEMBERED)
def _heard(source: str, text: str) -> _Voice:
    named = []
    for _ in range(2):
        found = _LEAD.match(text)
        if found is None or found[1].casefold() in STOPWORDS:
            break
        named.append(found[1].casefold())
        text = text[found.end() :]
    lead = "" if named else speaker(text)
    return _Voice(source, tuple(named), text[len(lead) :], frozenset(filter(str.isalpha, _words(lead))).union(named))


def source_of(thought: Thought) -> str:
    """Who said what a thought focuses on."""
    return thought.perceptions[0].source if thought.perceptions else thought.author


def related(a: Thought, b: Thought) -> tuple[str, ...]:
    """The associations two thoughts share, in the first one's order, which is most telling first."""
    shared = set(a.associations) & set(b.associations)
    return tuple(t for t in a.associations if t in shared) if shared else ()


def kinship(a: Thought, b: Thought, rarity: Rarity) -> float:
    """How sure it is that two thoughts are about one thing: cosine, and more for each rare association they share.

    What one source says again is less of a connection than what another says of the same.
    """
    return _likeness(a, b, related(a, b), rarity) - _SAME_SOURCE * (source_of(a) == source_of(b))


def _likeness(a: Thought, b: Thought, shared: Sequence[str], rarity: Rarity) -> float:
    """Cosine, and more for each of the most telling associations they share."""
    worth = sorted((rarity.of(t) ** 2 for t in shared), reverse=True)[:_TERMS]
    return float(a.vector @ b.vector) + _TERM * sum(worth)


def spoken_to(thoughts: Iterable[Thought]) -> frozenset[str]:
    """Who is spoken to, or speaks, by name in some lines."""
    return frozenset(name for each in thoughts for name in _voice(each).named)


def tie(event: Thought, memory: Thought, rarity: Rarity, known: AbstractSet[str] = frozenset()) -> Tie | None:
    """Why an event belongs to what was before it, and how sure that is; None where nothing but chance speaks for it.

    None also for what came later, rests on the same perceptions, or is an echo or a quote. ``known`` are those who are
    spoken to by name: of others nobody can tell that they go on where they left off.
    """
    apart, shared = event.time - memory.time, related(event, memory)
    if apart < 0 or (apart > _REPLY and not shared):
        return None
    here, there = _voice(event), _voice(memory)
    turn = _turn(here, there, apart, here.source in known)
    if turn is None and not shared:
        return None
    words = _words(here.body), _words(there.body)
    if _quotes(*words) or {p.id for p in memory.perceptions} & {p.id for p in event.perceptions}:
        return None
    return turn or _topic(event, memory, (here, there), shared, words[0] & words[1], rarity)


def answers(line: Thought, asked: Thought, rarity: Rarity, least: float) -> bool:
    """Whether somebody else's line answers what one asked: who is spoken to, is named there or is next to speak.

    Or what is about the same, that surely. One that asks itself answers only whom it speaks to.
    """
    if line.time - asked.time > _CALLED and not related(line, asked):
        return False
    (here, mine), (there, theirs) = _who(source_of(line), line.text), _who(source_of(asked), asked.text)
    room, apart = here == there, line.time - asked.time
    if room and mine.casefold() == theirs.casefold():
        return False
    tied = tie(line, asked, rarity)
    asking = _asking(line.text)
    if asking or (tied is not None and (tied.turn or tied.strength >= least)):
        return tied is not None and (tied.turn or not asking)
    if not room or not mine or not 0 <= apart <= _CALLED:
        return False
    return apart <= _NEXT or not _words(mine).isdisjoint(_words(asked.text[len(speaker(asked.text)) :]))


def soon(line: Thought) -> float:
    """Seconds after which it ``answers`` only what is about the same: longer where one can tell who speaks."""
    return _CALLED if _who(source_of(line), line.text)[1] else _REPLY


@lru_cache(_REMEMBERED)
def _asking(text: str) -> bool:
    """Whether a line begins with a question."""
    return asks(sentences(text[len(speaker(text)) :] or text)[0])


@lru_cache(_REMEMBERED)
def _who(source: str, text: str) -> tuple[str, str]:
    """Where a line was said and by whom: ``chat`` by "Ann: yes", ``radio`` by a source ``radio/Ann``."""
    said = speaker(text)
    room, _, name = source.rpartition("/")
    return (source, said) if said or not room or not name.isalpha() else (room, name)


def kin(focus: Trace, recent: Sequence[Trace], rarity: Rarity, least: float) -> tuple[Trace, ...]:
    """The traces that belong to another one at least so surely, surest and latest first.

    Of who spoke in turn with it only the last line of each. Of a question also the first line that answered it.
    """
    known = spoken_to(trace.thought for trace in recent)
    found: list[tuple[float, Trace]] = []
    heard: set[str] = set()
    for trace in sorted({t.id: t for t in recent}.values(), key=lambda t: (-t.thought.time, -t.thought.at, t.id)):
        tied = tie(focus.thought, trace.thought, rarity, known)
        if tied is None or tied.strength < least or (tied.turn and source_of(trace.thought) in heard):
            continue
        if tied.turn:
            heard.add(source_of(trace.thought))
        found.append((tied.strength, trace))
    later = [t for t in recent if t.thought.time > focus.thought.time] if asks(focus.thought.text) else []
    answered = [t for t in later if answers(t.thought, focus.thought, rarity, least)]
    first = sorted(answered, key=lambda t: (t.thought.time, t.id))[:1]
    return (*first, *(trace for _, trace in sorted(found, key=lambda pair: -pair[0])))


@lru_cache(_REMEMBERED)
def _words(text: str) -> frozenset[str]:
    return frozenset(w.casefold() for w in _WORD.findall(text))


def _quotes(mine: AbstractSet[str], theirs: AbstractSet[str]) -> bool:
    small = min(len(mine), len(theirs))
    return small > _FEW and len(mine & theirs) > _SAME * small and not any(map(str.isdigit, "".join(mine | theirs)))


def _turn(here: _Voice, there: _Voice, apart: Instant, known: bool) -> Tie | None:
    """A turn of a conversation: one speaks to who spoke, or goes on."""
    if here.source == there.source:
        if here.named and here.named == there.named and len(here.named) == 1 and apart <= _GOES_ON:
            return Tie(RelationKind.CONTINUATION, f"goes on to or as {here.named[0]}", _SURE)
        if known and not here.named and apart <= _AT_ONCE:
            return Tie(RelationKind.CONTINUATION, f"{here.source} goes on", _LIKELY)
        spoke = there.named[:1] if len(here.named) > 1 and there.named[:1] == here.named[1:] else ()
        if not spoke or apart > _REPLY:
            return None
        who = spoke[0]
    elif there.source in here.named and apart <= _REPLY:
        who = there.source
    elif here.source in there.named and not here.named and apart <= _AT_ONCE:
        return Tie(RelationKind.ANSWER, f"{here.source} was spoken to", _LIKELY)
    else:
        return None
    mutual = here.source in there.named or (len(here.named) > 1 and here.named[0] in there.named[1:])
    if _BACK.match(here.body):
        return Tie(RelationKind.CONTRADICTION, f"says no to {who}", _SURE)
    if "?" in there.body:
        return Tie(RelationKind.ANSWER, f"answers a question of {who}", _SURE + mutual * 0.25)
    return Tie(RelationKind.ANSWER, f"speaks to {who}{' who spoke to them' * mutual}", _SURE + mutual * 0.25)


def _topic(
    event: Thought,
    memory: Thought,
    said: tuple[_Voice, _Voice],
    terms: Sequence[str],
    both: AbstractSet[str],
    rarity: Rarity,
) -> Tie | None:
    """Both name what few others do; ``terms`` are associations of both, ``both`` the words that stand in both."""
    here, there = said
    voices = (here.who | there.who) - both  # these are what the lines are about
    voices |= {here.source, there.source}
    shared: list[str] = []
    for term in terms:
        if term not in voices and not any(set(term.split()) & set(kept.split()) for kept in shared):
            shared.append(term)
    if not shared:
        return None
    same, plain = here.source == there.source, all(t.isalpha() and t.islower() for t in shared)
    plain &= len(shared) == 1 or event.time - memory.time > _LONG
    strength = _likeness(event, memory, shared, rarity) - same * _SAME_SOURCE - plain * _PLAIN
    strength += _NUMBER * max((rarity.of(t) for t in shared if is_numbered(t)), default=0.0)
    if _CAUSE.search(here.body):
        kind = RelationKind.CAUSE
    elif _BACK.match(here.body):
        kind = RelationKind.CONTRADICTION
    else:
        kind = RelationKind.CONTINUATION if same else RelationKind.ENTITY
    return Tie(kind, f"both name {', '.join(shared[:_TERMS])}", strength, turn=False)
