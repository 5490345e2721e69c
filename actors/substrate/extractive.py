"""The embedded default substrate: composes a thought from the material by rule. No model, no chance, no cost.

Every word of an answer stands in the material or in ``CONNECTIVES``. Curly double quotes are only ever this module's
own, so that outside text cannot end a quotation or forge a citation inside one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from zlib import crc32

from actors.substrate.plain import clip, plain
from actors.substrate.ports import Act, Generation, Material, Request, Role
from actors.substrate.sentences import (
    common,
    mentions,
    names_something,
    phrases,
    sentences,
    speaker,
    telling,
    words,
)
from environment.episodes.question import asks

LIMIT = 280
"""Characters of a thought."""
CONNECTIVES = frozenset(
    words(
        """recalls asked answered with seen before
        both in common and from leaving after attention turns to now for next still
        on bears by no clear bearing compare memory holds nothing is known of yet closest noted follow up watch says
        what do looking inward was given think about something without words"""
    )
)
"""The only words an answer may have that its material has not."""

_COMMON_ROOM = 34
_LEAST_QUOTE = 60

_OBLIGATION = re.compile(
    r"\b(?:must|should|needs? to|needed|have to|has to|please|due|deadline|until|expires?|closes|promised?|reminder|"
    r"i'll|we'll|somebody|put (?:it|them) back|by \d)\b|^(?:call|check|fix|replace|send|ask|ring|tell|order)\b",
    re.IGNORECASE,
)
_OWN_TAIL = re.compile(r" — (?:(?:recalls|asked|answered|with|compare) “|seen before\b).*$")
_OWN_LEAD = re.compile(
    r"^(?:(?:Bears on|No clear bearing on) “[^”]*”(?: by [^:“”]*)?: |(?:Memory on|Known of|Next for)[^:“”]{0,90}: "
    r"|(?:From memory|Closest in memory|Nothing in memory to compare|Looking inward|Noted|Next): (?:follow up )?)"
)
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"'})
_BRIDGES = (
    "Leaving {a}, attention turns to {b}.",
    "From {a}, attention turns to {b}.",
    "After {a}, now {b}.",
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A material made plain: no controls, no curly quotes, no composition of this module inside."""

    text: str
    source: str
    when: str
    terms: tuple[str, ...]

    @property
    def cite(self) -> str:
        """Where it is from and when, in brackets after a space; empty when neither is known."""
        known = ", ".join(part for part in (self.source, self.when) if part)
        return f" ({known})" if known else ""

    def quoted(self, limit: int, terms: Sequence[str] = ()) -> str:
        """Its most telling part in curly quotes, with its citation."""
        return f"“{telling(self.text, limit, terms or self.terms).replace(chr(34), chr(39))}”{self.cite}"

    def told(self, limit: int, terms: Sequence[str] = ()) -> str:
        """Its most telling part, opened by the source where the text does not name one."""
        text = telling(self.text, limit, terms or self.terms)
        if not self.source or speaker(text) or mentions(text, self.source):
            return text
        return f"{self.source}: {telling(self.text, max(limit - len(self.source) - 2, 20), terms or self.terms)}"

    def subjects(self, most: int = 2, apart_from: Sequence[str] = ()) -> list[str]:
        """What it is about: its weightiest phrases, its terms where the text has none of them, else its first words."""
        avoid = {t.casefold() for t in apart_from}
        named = [t for t in self.terms if t.casefold() not in avoid]
        if not named or any(mentions(self.text, t) for t in named):
            named = phrases(self.text, most + len(avoid), named)
        named = [t for t in _apart(named) if not any(mentions(t, a) or mentions(a, t) for a in avoid)][:most]
        if not named:
            return [f"“{clip(self.text, 40).replace(chr(34), chr(39))}”"]
        return [clip(t, 40) for t in named]


def bare(text: str) -> str:
    """A text made plain, without what this module composed around it."""
    text = plain(text, 4000)
    inner = _OWN_TAIL.sub("", text)
    while (shorter := _OWN_LEAD.sub("", inner, count=1)) != inner:
        inner = shorter
    return inner.replace("“", "").replace("”", "").strip() if inner != text else text.translate(_CURLY)


def _piece(material: Material) -> _Piece:
    terms = (plain(t, 60).translate(_CURLY) for t in material.terms[:12])
    return _Piece(
        text=bare(material.text) or "something without words",
        source=clip(plain(material.source, 200).translate(_CURLY), 40),
        when=clip(plain(material.when, 200).translate(_CURLY), 24),
        terms=tuple(t for t in terms if words(t)),
    )


def shared(first: _Piece, second: _Piece, most: int = 3) -> list[str]:
    """Terms of the one that the other has as well; else words that stand in both texts."""
    theirs = {t.casefold() for t in second.terms}
    both = [t for t in first.terms if t.casefold() in theirs or mentions(second.text, t)]
    both = both or [t for t in second.terms if mentions(first.text, t)]
    runs = common(first.text, second.text, 8)
    wide = [_widened(first.text, t, runs) for t in both] if both else runs
    return [clip(t, 40) for t in _apart(wide)[:most]]


def _widened(text: str, term: str, runs: Sequence[str]) -> str:
    """The run of words that names ``term`` within ``text``; else the term as the text writes it."""
    for run in runs:
        if len(run) <= 40 and mentions(run, term):  # noqa: PLR2004 - a longer run is no name
            return run
    written = re.search(rf"\b{re.escape(term)}\b", text, re.IGNORECASE)
    return written[0] if written else term


def _apart(terms: Sequence[str]) -> list[str]:
    """``terms`` without those that another one, standing before, already names."""
    kept: list[str] = []
    for term in terms:
        if not any(mentions(other, term) or mentions(term, other) for other in kept):
            kept.append(term)
    return kept


class ExtractiveSubstrate:
    """Composes by rule; the same request always gives the same text, in well under a millisecond.

    Guarantees: never empty, one line, no control or bidirectional characters, at most ``LIMIT`` characters.
    """

    MODEL = "rule"

    def __init__(self) -> None:
        self._requests = 0

    async def generate(self, request: Request) -> Generation:
        """Never fails and never suspends."""
        self._requests += 1
        return Generation(text=compose(request), model=self.MODEL)

    def status(self) -> dict[str, float | str]:
        return {"model": self.MODEL, "requests": self._requests}

    async def close(self) -> None:
        """Nothing to release."""


def compose(request: Request) -> str:
    """The thought for ``request``, by the rule of its act."""
    by_role: dict[Role, list[_Piece]] = {role: [] for role in Role}
    for material in request.materials[:32]:
        by_role[material.role].append(_piece(material))
    limit = min(LIMIT, max(80, request.max_tokens * 4))
    parts = _Parts(by_role[Role.EVENT], _distinct(by_role[Role.MEMORY]), by_role[Role.GOAL], limit)
    if not parts.events and parts.memories:
        parts = replace(parts, events=parts.memories[:1], memories=parts.memories[1:])
    if not parts.events and not parts.goals:
        return "Nothing was given to think about."
    if not parts.events:
        parts = replace(parts, events=parts.goals[:1])
    text = _RULES[request.act](parts)
    return clip(text, limit)


def _distinct(pieces: Sequence[_Piece]) -> list[_Piece]:
    """The first of those that differ only in their numbers."""
    kept: dict[tuple[str, ...], _Piece] = {}
    for piece in pieces:
        kept.setdefault(tuple(w for w in words(piece.text) if not any(c.isdigit() for c in w)) or (piece.text,), piece)
    return list(kept.values())


@dataclass(frozen=True, slots=True)
class _Parts:
    events: list[_Piece]
    memories: list[_Piece]
    goals: list[_Piece]
    limit: int

    @property
    def focus(self) -> _Piece:
        """The first event."""
        return self.events[0]

    @property
    def wanted(self) -> tuple[str, ...]:
        """What a telling sentence should name: the focus's terms, then the goals'."""
        return (*self.focus.terms, *(t for goal in self.goals for t in goal.terms))


def _bind(parts: _Parts) -> str:
    """``what happened — recalls “a memory” (source, when); both: what they share``."""
    focus, limit = parts.focus, parts.limit
    others = [("with", p) for p in parts.events[1:2]] + [(_verb(focus, p), p) for p in parts.memories[:2]]
    if not others:
        return focus.told(min(limit, 240), parts.wanted)
    needed = sum(min(len(p.text), _LEAST_QUOTE) + len(p.cite) for _, p in others[:2]) + 2 * _COMMON_ROOM
    text = focus.told(max(limit * 45 // 100, limit - needed), parts.wanted).rstrip(".;, ")
    told, before = [focus], ""
    for verb, piece in others[:2]:
        lead = " — " if not before else " and "
        if words(piece.text) == words(focus.text):
            text, before = f"{text}{lead}seen before{piece.cite}", "seen before"
            continue
        lead += "" if verb == before else f"{verb} "
        room = limit - len(text) - len(lead) - len(piece.cite) - 2 - (_COMMON_ROOM if not before else 0)
        if before and room < min(len(piece.text), _LEAST_QUOTE):
            break
        quote = piece.quoted(max(room, 30), (*shared(focus, piece), *piece.terms))
        text, before = f"{text}{lead}{quote}", verb
        told.append(piece)
    return _with_common(text, told, limit)


def _verb(focus: _Piece, memory: _Piece) -> str:
    """How a memory stands to what is told: a question that was asked, the answer that came, or else it is recalled."""
    if asks(focus.text):
        return "answered" if memory.when.endswith((" later", " after")) else "recalls"
    return "asked" if asks(memory.text) else "recalls"


def _with_common(text: str, pieces: Sequence[_Piece], limit: int) -> str:
    """``text`` and what its pieces have in common, where there is room to say it."""
    if len(pieces) == 1:
        return text
    voices = {word for p in pieces for word in words(f"{p.source} {speaker(p.text)}")}
    terms = [t for t in shared(pieces[0], pieces[1]) if all(mentions(p.text, t) or t in p.terms for p in pieces[2:])]
    terms = [t for t in terms if names_something(t.split()) and not voices.issuperset(words(t))]
    label = "both" if len(pieces) == 2 else "in common"  # noqa: PLR2004 - two are both
    while terms and len(text) + len(label) + 4 + len(", ".join(terms)) > limit:
        terms.pop()
    return f"{text}; {label}: {', '.join(terms)}" if terms else text


def _bridge(parts: _Parts) -> str:
    """A sentence that names what is left and what comes."""
    first, second = parts.focus, (parts.events[1] if len(parts.events) > 1 else (parts.memories or [parts.focus])[0])
    both = shared(first, second, 1)
    a = " and ".join(first.subjects(2, both))
    b = " and ".join(second.subjects(2, (*both, *first.subjects(2, both))))
    if both:
        return f"Still on {both[0]}: from {a} to {b}."
    return _BRIDGES[crc32(f"{a}|{b}".encode()) % len(_BRIDGES)].format(a=a, b=b)


def _recall(parts: _Parts) -> str:
    """What memory adds, quoted and cited, or that it adds nothing."""
    new = [m for m in parts.memories if words(m.text) != words(parts.focus.text)]
    if not new:
        return f"Memory holds nothing on {' and '.join(parts.focus.subjects())}."
    about = shared(parts.focus, new[0], 2)
    return _listed(f"Memory on {', '.join(about)}" if about else "From memory", new, parts)


def _plan(parts: _Parts) -> str:
    """What somebody has said should be done, or what to watch."""
    open_ends: list[tuple[_Piece, str]] = []
    for piece in (*(m for m in parts.memories if shared(parts.focus, m)), parts.focus):
        who = speaker(piece.text)
        asked = [s for s in sentences(piece.text[len(who) :]) if _OBLIGATION.search(s)]
        if asked:
            open_ends.append((piece, who + asked[0]))
    if not open_ends:
        return f"Next: watch {' and '.join(parts.focus.subjects())}; nothing known says what to do."
    piece, said = open_ends[0]
    lead = f"Next for {parts.focus.subjects(1)[0]}: follow up "
    return lead + replace(piece, text=said).quoted(max(40, parts.limit - len(lead) - len(piece.cite) - 2), parts.wanted)


def _listed(lead: str, pieces: Sequence[_Piece], parts: _Parts) -> str:
    """``lead: “one” (source, when); “two” (source, when)``: as many of three as say something in the room there is."""
    text = f"{lead}: "
    for at, piece in enumerate(pieces[:3]):
        room = (parts.limit - len(text)) if len(pieces) == 1 else (parts.limit - len(text)) * (2 if at == 0 else 3) // 3
        room -= len(piece.cite) + 4
        if at and room < 40:  # noqa: PLR2004 - shorter quotes say nothing
            break
        text += ("; " if at else "") + piece.quoted(max(room, 30), parts.wanted)
    return text


_RULES = {
    Act.BIND: _bind,
    Act.BRIDGE: _bridge,
    Act.RECALL: _recall,
    Act.PLAN: _plan,
    Act.REPLY: _recall,
    Act.SUM_UP: _bind,
    Act.JUDGE: _bind,
}
