"""What a question asks for, read off its words without a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import pairwise

from environment.episodes.words import STOPWORDS, compounds, stems
from environment.messages import Perception


class Asks(StrEnum):
    """What kind of answer is wanted."""

    WHO = "who"
    WHEN = "when"
    WHERE = "where"
    HOW_MUCH = "how much"
    WHY = "why"
    WHETHER = "whether"
    PROMISE = "promise"
    TROUBLE = "trouble"
    STORY = "story"
    WHAT = "what"


_KINDS: tuple[tuple[Asks, str], ...] = (
    (Asks.PROMISE, r"\b(?:promis\w*|owes?|committed|agreed to|said \w+ would|(?:has|have|is) \w+ (?:left )?to do|still open|outstanding|unfinished|not (?:yet )?done)\b"),  # noqa: E501
    (Asks.TROUBLE, r"\b(?:wrong|broken?|the (?:matter|problem|trouble)|(?:problems?|trouble|issues?|faults?) with)\b"),
    (Asks.WHEN, r"\b(?:when|until what|how soon|what (?:time|day|date)|which day|by what)\b"),
    (Asks.WHO, r"\b(?:who|whose|whom|which (?:person|people))\b"),
    (Asks.WHERE, r"\bwhere\b"),
    (Asks.WHY, r"\b(?:why|how come|what (?:caused|made)|the (?:cause|reason)|because of what)\b"),
    (Asks.HOW_MUCH, r"\bhow (?:many|much|long|far|often|high|low|large|big|hot|cold|warm|old|fast|full)\b|\bwhat (?:number|amount|percentage|temperature|value)\b"),  # noqa: E501
    (Asks.STORY, r"\bwhat(?:'s| is| has| was)? (?:happen\w*|going on|new)\b|\bwhat became of\b|\btell me (?:more )?about\b|\bwhat (?:about|of)\b"),  # noqa: E501
    (Asks.WHETHER, r"^\W*(?:and |but |so )?(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|any)\b"),  # noqa: E501
)  # fmt: skip
_ASKING = frozenset(
    stems(
        """happen happened happening become became know known told tell mean happens please still latest news
        problem trouble matter issue fault broke broken anything
        something someone somebody anyone everyone kind sort many much long far often wrong"""
    )
)
"""Words of asking rather than of what is asked for."""
_STOP = frozenset(stem for word in STOPWORDS for stem in stems(word) if not stem.isdigit())
_TIMES = frozenset(
    stems("today tonight tomorrow yesterday noon midnight morning afternoon evening night day week month hour minute")
)
TROUBLE = re.compile(
    r"\b(?:won't|can't|cannot|doesn't|didn't|isn't|not|no longer|never|nothing's|wrong|broke\w*|fail\w*|faults?|faulty|"
    r"errors?|stuck|leak\w*|"
    r"down|dead|died|lost|missing|"
    r"out of (?:order|stock|service)|smell\w*|alarm|warn\w*|problem|trouble|slow|late|burst|crack\w*|jam\w*|sorry|"
    r"repair\w*|"
    r"replac\w+)\b",
    re.IGNORECASE,
)
"""What tells of trouble."""
_ROLE = re.compile(
    r"\b(?:look(?:s|ed|ing)? after|(?:is|are|was) responsible for|in charge of|"
    r"tak(?:es?|ing) care of|car(?:es?|ing) for)\b",
    re.IGNORECASE,
)
_EMPTY_OF_PROMISE = frozenset(
    stems("promise promised promises owe owes committed agreed left outstanding unfinished open said")
)
_NAME = re.compile(r"(?<!^)(?<![.!?:] )\b[A-Z][\w'’-]+|\b\w*\d[\w.:-]*")
_OWNING = re.compile(r"['’]s$")
_POINTING = re.compile(
    r"\b(?:he|she|it|they|him|her|his|hers|its|them|their|that|this|those|these|there|then|one|ones)\b|"
    r"^\W*(?:and|but|so|what about|how about|since when|until when|why|when|where|who|how (?:much|many|long))\W*\??$|"
    r"^\W*(?:and|but|what about|how about)\b",
    re.IGNORECASE,
)
_VERB = r"(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had)"
_ASKED = re.compile(
    r"\?(?=\W*(?:\s|$))|^\W*(?:(?:and|but|so|or|please|ok|okay|hey|hi|hello)\b\W*)*(?:"
    r"(?:what(?! an?\b)|who|whose|whom|why|how|which|(?:until|since) when|tell (?:me|us)|any (?:news|word|sign))\b|"
    rf"(?:when|where)(?:'s|\W*$| {_VERB}\b)|"
    r"(?:is|are|was|were|does|did|has) (?:the|an?|that|this|my|your|there|it|he|she|they|we|you|i|any\w*|some\w*)\b|"
    r"(?:do|have|can|could|will|would|should) (?:it|he|she|they|we|you|i|any\w*|some(?:one|body))\b)",
    re.IGNORECASE,
)
"""A question mark at the end of a word; without one, words that open a question and no statement."""
_NAMED, _EARLIER = 1.5, 0.6
"""What a name or a number counts, and a term of the question before; other terms count 1."""
_TIMED = 0.4
"""What a word for a time counts: what happened then seldom says so."""


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks."""

    text: str
    kind: Asks
    terms: Mapping[str, float] = field(default_factory=dict)
    """What it is about, each term with its weight."""
    names: tuple[str, ...] = ()
    """Names and numbers, as they are written."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Terms that stand beside each other."""

    @classmethod
    def of(cls, text: str, before: Question | None = None) -> Question:
        """Read a question; one that points back keeps the subject of the one ``before`` it."""
        low = text.casefold()
        kind = next((kind for kind, pattern in _KINDS if re.search(pattern, low)), Asks.WHAT)
        empty = _STOP | _ASKING | (_EMPTY_OF_PROMISE if kind is Asks.PROMISE else frozenset())
        names = tuple(dict.fromkeys(_OWNING.sub("", match[0].rstrip(".:,-")) for match in _NAME.finditer(text)))
        named = {stem for name in names for stem in stems(name)}
        run = stems(_ROLE.sub(" ", text))
        terms = {
            stem: _NAMED if stem in named else _TIMED if stem in _TIMES else 1.0
            for stem in run
            if stem not in empty or stem in named
        }
        pairs = tuple((a, b) for a, b in pairwise(run) if a in terms and b in terms)
        read = cls(text, kind, terms, names, pairs)
        return read._after(before) if before is not None and before.terms and read._points_back() else read

    @property
    def joined(self) -> tuple[tuple[str, str, str], ...]:
        """Pairs, and the one word that they may be written as."""
        return tuple((a, b, *compounds(f"{a}-{b}"))[:3] for a, b in self.pairs if a.isalpha() and b.isalpha())  # type: ignore[misc]

    def _points_back(self) -> bool:
        return not self.terms or _POINTING.search(self.text) is not None

    def _after(self, before: Question) -> Question:
        earlier = {term: _EARLIER * weight for term, weight in before.terms.items()}
        if len(self.terms) and self.names:  # another subject takes the place of the one before
            named = {stem for name in before.names for stem in stems(name)}
            earlier = {term: weight for term, weight in earlier.items() if term not in named}
        kind = before.kind if self.kind is Asks.STORY and self.text.casefold().find("about") >= 0 else self.kind
        pairs = (*self.pairs, *(p for p in before.pairs if p[0] in earlier and p[1] in earlier))
        names = (*self.names, *(n for n in before.names if set(stems(n)) <= set(earlier)))
        return replace(self, kind=kind, terms={**earlier, **self.terms}, pairs=pairs, names=names)


def asks(text: str) -> bool:
    """Whether a text asks for anything."""
    return _ASKED.search(text) is not None


def addressed(source: str, interlocutors: Sequence[str]) -> bool:
    """Whether a source is one of those who speak to the mind, given as shell patterns."""
    return any(fnmatchcase(source, pattern) for pattern in interlocutors)


def asked_by(perception: Perception, interlocutors: Sequence[str]) -> bool:
    """Whether somebody who speaks to the mind, as ``addressed`` tells, asks it something."""
    return perception.text is not None and addressed(perception.source, interlocutors) and asks(perception.text)
