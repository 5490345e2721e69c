"""What usually happens: questions that a gist of many episodes answers better than any one of them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from actors.answering.answer import Reply
from actors.knowledge.fact import FACTS, GISTS, RECURS, FactStanding
from actors.knowledge.routines import day
from actors.substrate.plain import plain
from environment.collections import Collections
from environment.episodes.index import EpisodeIndex
from environment.episodes.question import Question
from environment.episodes.recall import Quotation
from environment.episodes.words import stems
from environment.messages import Instant, PerceptionRef

_USUAL = re.compile(
    r"\b(?:how (?:often|frequently|regularly|many times)|(?:usual|normal|typical|general|regular)(?:ly)?|"
    r"(?:what time|which days?|what days?|when) (?:do|does)|(?:every|each) (?:day|night|week|hour|morning|evening))\b",
    re.IGNORECASE,
)
_ASKING = frozenset(
    stems("usual usually normal normally typical generally regular regularly frequently time every each")
)
_ENOUGH = 0.5
"""Share of what is asked for that a gist has to be about."""
_SURE = 0.65
"""... from which it is said as known."""
_AS_GOOD = 0.95
_MOST = 3


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A gist of many episodes."""

    about: str
    told: str
    """When it comes, how often it came, and what speaks against it."""
    last: PerceptionRef
    """The last of the episodes."""
    trust: float
    confidence: float
    since: Instant
    over: bool
    """Whether it came otherwise, or no more, after that."""


async def gists(collections: Collections) -> list[Recurrence]:
    """Those that nobody denied. Raises ``StoreUnavailable``."""
    found = (await FACTS.all_of(collections, GISTS)).values()
    return [
        Recurrence(
            fact.subject,
            f"{fact.value}, until {day(fact.until, fact.until)}" if fact.until is not None else fact.value,
            fact.evidence[-1],
            fact.trust,
            fact.confidence,
            fact.since,
            over=not fact.open,
        )
        for fact in found
        if fact.relation == RECURS and fact.standing is FactStanding.HELD
    ]


def asks_usual(question: Question) -> bool:
    """Whether it asks for what comes again and again."""
    return _USUAL.search(question.text) is not None


def usual(question: Question, index: EpisodeIndex, known: Iterable[Recurrence]) -> Reply | None:
    """What is known of a question; None where nothing is. What still is so comes before what is over."""
    if any(not index.knows(stem) for name in question.names for stem in stems(name)):
        return None
    terms = {term: weight for term, weight in question.terms.items() if term not in _ASKING and index.knows(term)}
    asked = {term: weight * index.rarity(term) for term, weight in terms.items()}
    found: list[tuple[float, Recurrence]] = []
    for one in known:
        about = set(stems(f"{one.about} {one.told}"))
        found.append((sum(weight for term, weight in asked.items() if term in about), one))
    most = max((score for score, _ in found), default=0.0)
    if not asked or most < _ENOUGH * sum(asked.values()):
        return None
    best = [one for score, one in found if score >= _AS_GOOD * most]
    best.sort(key=lambda one: (one.over, -one.since, one.about))
    best = [one for one in best if one.over == best[0].over][:_MOST]
    lines = [f"“{plain(one.about, 120)}”: {plain(one.told, 400)}." for one in best]
    parts = tuple(Quotation(line, one.last) for line, one in zip(lines, best, strict=True))
    trust, sure = min(one.trust for one in best), min(one.confidence for one in best) * most / sum(asked.values())
    if most < _SURE * sum(asked.values()):
        lines.insert(0, "I don't know for sure, but nearest to it:")
    return Reply("\n".join(lines), parts, trust, known=len(lines) == len(parts), confidence=sure)
