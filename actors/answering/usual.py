"""What usually happens: questions that a gist of many episodes answers better than any one of them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from actors.answering.answer import Reply
from actors.knowledge.fact import FACTS, GISTS, HAPPENS, RECURS, FactStanding
from actors.knowledge.routines import day
from actors.substrate.plain import plain
from environment.collections import Collections
from environment.episodes.index import EpisodeIndex
from environment.episodes.question import Question
from environment.episodes.recall import Quotation
from environment.episodes.when import period
from environment.episodes.words import stems
from environment.messages import Instant, PerceptionRef

_USUAL = re.compile(
    r"\b(?:how (?:often|frequently|regularly|many times)|(?:usual|normal|typical|general|regular)(?:ly)?|"
    r"(?:what time|which days?|what days?|when) (?:do|does)|(?:every|each) (?:day|night|week|hour|morning|evening)|"
    r"what (?:else )?(?:happens|comes|goes|precedes|follows))\b",
    re.IGNORECASE,
)
_ASKING = frozenset(
    stems(
        """usual usually normal normally typical generally regular regularly frequently time every each comes goes
        precede precedes follow follows"""
    )
)
_ENOUGH = 0.5
"""Share of what is asked for that a gist has to be about."""
_SURE = 0.65
"""... from which it is said as known."""
_TOLD = 0.9
"""What a word counts that only stands in what is told of it."""
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
    counted: bool = False
    """Whether it comes at no certain times: the words tell what was counted, and are not those of something near."""


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
            counted=fact.relation == HAPPENS,
        )
        for fact in found
        if fact.relation in {RECURS, HAPPENS} and fact.standing is FactStanding.HELD
    ]


def asks_usual(question: Question) -> bool:
    """Whether it asks for what comes again and again."""
    return _USUAL.search(question.text) is not None


def usual(question: Question, index: EpisodeIndex, known: Iterable[Recurrence], now: Instant) -> Reply | None:
    """What is known of a question; None where nothing is. What still is so comes before what is over.

    Of a thing with a number only what names that tells: "pump 3" is not pumps.
    """
    dated = set(stems(time.said)) if (time := period(question.text, now)) else set()
    named = {stem for name in question.names for stem in stems(name)} - dated
    if not all(map(index.knows, named)):
        return None
    terms = {term: weight for term, weight in question.terms.items() if term not in _ASKING and index.knows(term)}
    numbers = {stem for stem in named if stem.isdigit()}
    asked = {term: weight * index.rarity(term) for term, weight in terms.items()}
    found: list[tuple[float, Recurrence]] = []
    for one in known:
        about, told = set(stems(one.about)), set(stems(one.told))
        if about.issuperset(numbers):
            had = (
                weight * (1 if term in about | dated else _TOLD)
                for term, weight in asked.items()
                if term in about | told
            )
            found.append((sum(had), one))
    most = max((score for score, _ in found), default=0.0)
    if not asked or most < _ENOUGH * sum(asked.values()):
        return None
    best = [one for score, one in found if score >= _AS_GOOD * most]
    best.sort(key=lambda one: (one.over, -one.since, one.about))
    best = [one for one in best if one.over == best[0].over][:_MOST]
    lines = [f"“{plain(one.about, 120)}”: {plain(one.told, 400)}." for one in best]
    parts = tuple(Quotation(line, one.last) for line, one in zip(lines, best, strict=True))
    trust, sure = min(one.trust for one in best), min(one.confidence for one in best) * most / sum(asked.values())
    if most < (1 - 1e-9 if best[0].counted else _SURE) * sum(asked.values()):
        lines.insert(0, "I don't know for sure, but nearest to it:")
    return Reply("\n".join(lines), parts, trust, known=len(lines) == len(parts), confidence=sure)
