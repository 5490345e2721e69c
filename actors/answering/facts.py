"""An answer from facts: a question is read as the sentence that would tell it, by the rules that facts are read by."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from actors.knowledge.claim import FactClaim
from actors.knowledge.entities import entity_of, spelled
from actors.knowledge.fact import FACTS, Fact, FactStanding, holds
from actors.knowledge.fact_reader import FactReader
from actors.knowledge.page import parted
from actors.knowledge.said_times import shown
from environment.collections import Collections
from environment.episodes.when import period
from environment.identity import perception_seq
from environment.messages import Instant
from environment.packs import ALWAYS

_SOUGHT, _ANY = "Quorra", "Zorra"
"""Names that nobody has: of what is asked for, and of what is left open."""
_FIGURE = "7777 kg"
_MOST, _BEFORE, _ENDS = 4, 2, 8
_DISPUTED = 0.5
"""Confidence of what is denied."""
_BE = r"(?:['’]s| is| are| was| were)"
_STATEMENTS: tuple[tuple[str, str], ...] = (
    (rf"who{_BE} (on[- ]call|responsible|in charge)", rf"{_SOUGHT} is \1 for {_ANY}"),
    (rf"who{_BE} (.+)", rf"{_SOUGHT} is \1"),
    (r"who (.+)", rf"{_SOUGHT} \1"),
    (rf"where{_BE} (.+?)(?: (?:kept|parked|stored|located|at))?", rf"\1 is in {_SOUGHT}"),
    (r"where (?:do|can|could|did|should) (?:i|we|you|they|one) (?:keep|find|put|store|park|leave) (.+)",
     rf"\1 is in {_SOUGHT}"),
    (r"(?:when|what time)(?: is| was| are| will) (.+?)(?: (?:planned|scheduled|due|be|taking place))?",
     r"\1 is on 2000-01-01 12:00"),
    (r"when (?:does|do|did|will) (.+?) (?:start|begin|take place|happen)", r"\1 is on 2000-01-01 12:00"),
    (r"how(?: is| was) (.+)", rf"the state of \1 is {_SOUGHT}"),
    (rf"what{_BE} (.+?) (responsible|on call|in charge)(?: (?:for|of))?", rf"\1 is \2 for {_SOUGHT}"),
    (rf"what{_BE} (.+)", rf"\1 is {_SOUGHT}"),
    (r"what (?:does|do|did) (.+?) (like|love|hate|prefer|enjoy|dislike|own|run|manage|supplie?)(?:s)?",
     rf"\1 \2s {_SOUGHT}"),
    (r"how much (?:does|do|did) (.+?) (weigh|cost|hold|measure|consume|draw)", rf"\1 \2s {_FIGURE}"),
)  # fmt: skip
_READ = tuple((re.compile(asked, re.IGNORECASE), said) for asked, said in _STATEMENTS)
_WHETHER = re.compile(r"(?:(?:since|until) when |for how long )?(?:is|are|was|were|has|have) (.+)", re.IGNORECASE)
_GAPS = 6
_NOW = re.compile(
    r",?\s*\b(?:right now|now|currently|at the moment|at present|these days|just then|then|as of now)\b|"
    r"^\W*(?:and|so|but|please|tell me|do (?:you|we) know)\b\W*",
    re.IGNORECASE,
)
_HANGING = re.compile(r"\s+(?:on|in|at|of|during|since|until|before|after)\s*$", re.IGNORECASE)
_BELIEVED = re.compile(
    r"(?P<w>where|who|what|when) did (?P<by>.+?) (?:think|believe|say|claim|know)(?: that)?(?: (?P<x>.+))?",
    re.IGNORECASE,
)
_ANYBODY = frozenset({"we", "you", "i", "they", "people", "everybody", "everyone", "anybody", "anyone", "one"})


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What is known of what was asked."""

    text: str
    facts: tuple[Fact, ...]
    """What it rests on, the first first."""
    confidence: float
    """0..1: of the least sure of what is so."""


@dataclass(frozen=True, slots=True)
class _Sought:
    statements: tuple[str, ...]
    """What would tell it; the first that fits what is known counts."""
    at: Instant
    known: Instant | None = None
    by: str = ""
    """Only what this one says, as names are spelled."""
    about: str | None = None
    """Instead: all that was said of it, or of anything where it is empty."""


async def known_facts(
    question: str, collections: Collections, now: Instant, before: int | None = None
) -> KnownFacts | None:
    """What facts tell of a question, as it is now or was at the time that it names; None where they do not.

    ``before``: only facts first learnt from perceptions with a lower sequence number. Reads the facts of who and what
    is named, of a question that names nobody ("who is on call?") all that are kept.
    """
    sought = _read(question, now)
    if sought.about is not None:
        return _told(await _all_said(sought.about, collections), sought, before)
    reader = FactReader(lambda _: True, lambda _: True)
    for said in sought.statements:
        for claim in reader.read(said, _ANY, now)[1][:1]:
            told = _told(_offered(await _meant(claim, collections), sought.at, now), sought, before)
            if told is not None:
                return told
    return None


def _read(question: str, now: Instant) -> _Sought:
    """What a question asks for, and as of when."""
    text, time = question.strip(" ?!.\n"), period(question, now)
    if time is not None:
        text = _HANGING.sub("", " ".join(text.replace(time.said, " ").split()))
    text = _NOW.sub("", text).strip(" ,")
    at = now if time is None else min(time.until - 1, now)
    if found := _BELIEVED.fullmatch(text):
        by = "" if found["by"].casefold() in _ANYBODY else spelled(found["by"])
        said = found["x"] or ""
        if by and found["w"].casefold() == "what" and (not said or said.startswith(("of ", "about "))):
            return _Sought((), at, at, by, said.partition(" ")[2])
        be = re.search(r"\s+(?:is|was|are|were)$", said)
        asked = f"{found['w']} is {said[: be.start()]}" if be else f"{found['w']} {said}"
        return _Sought(tuple(_statements(asked)), at, at, by)
    return _Sought(tuple(_statements(text)), at)


def _statements(asked: str) -> Iterator[str]:
    for pattern, said in _READ:
        if found := pattern.fullmatch(asked):
            yield found.expand(said)
    if whether := _WHETHER.fullmatch(asked):
        told = whether[1].split()
        yield from (" ".join([*told[:n], "is", *told[n:]]) for n in range(1, min(len(told), _GAPS)))


async def _meant(claim: FactClaim, collections: Collections) -> list[Fact]:
    """The facts that a claim with something left open is about."""
    if claim.subject == _ANY:
        return [fact for fact in await _every(collections, claim.relation) if fact.relation == claim.relation]
    entity = await entity_of(collections, claim.value if claim.subject == _SOUGHT else claim.subject)
    if entity is None:
        return []
    if claim.subject != _SOUGHT:
        return [f for f in await _of(entity.key, collections) if f.relation == claim.relation]
    ends = [edge.to for edge in entity.edges if edge.kind == claim.relation][:_ENDS]
    every = [fact for end in dict.fromkeys(ends) for fact in await _of(end, collections)]
    return [fact for fact in every if (fact.relation, fact.object) == (claim.relation, entity.key)]


async def _all_said(about: str, collections: Collections) -> list[Fact]:
    if not about:
        return await _every(collections)
    entity = await entity_of(collections, about)
    return await _of(entity.key, collections) if entity is not None else []


async def _of(entity: str, collections: Collections) -> list[Fact]:
    return list((await FACTS.all_of(collections, f"{entity}/")).values())


async def _every(collections: Collections, having: str = "") -> list[Fact]:
    return list((await FACTS.all_of(collections, having=having)).values())


def _offered(facts: list[Fact], at: Instant, now: Instant) -> list[Fact]:
    """Of what is so now that which did not fade, where there is such; of what was so all of it."""
    fresh = [fact for fact in facts if not (fact.faint and holds(fact, now))]
    return fresh if at >= now and any(holds(fact, now) for fact in fresh) else facts


def _told(facts: Sequence[Fact], sought: _Sought, before: int | None) -> KnownFacts | None:
    """What is so of each subject and relation, and what was before."""
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        by = not sought.by or any(spelled(ref.source) == sought.by for ref in fact.evidence)
        if by and (before is None or (perception_seq(fact.evidence[0].id) or 0) < before):
            groups.setdefault((fact.entity, fact.relation), []).append(fact)
    told: list[tuple[float, str, list[Fact]]] = []
    for of in groups.values():
        so, others = parted(of, sought.at, sought.known)
        ended = [f for f in others if f.until is not None and f.until <= sought.at]
        over = [f for f in ended if f.standing is not FactStanding.WRONG][:_BEFORE]
        if so or (over and len(groups) == 1):
            told.append((-max(f.since for f in so or over), _sentence(so[:_MOST], over), (so or over)[:_MOST]))
    if not told:
        return None
    told.sort(key=lambda one: one[:2])
    kept = tuple(fact for *_, of in told[:_MOST] for fact in of)
    sure = min(_DISPUTED if f.standing is FactStanding.DISPUTED else f.confidence for f in kept)
    return KnownFacts("\n".join(said for _, said, _ in told[:_MOST]), kept, sure)


def _sentence(so: Sequence[Fact], over: Sequence[Fact]) -> str:
    of = (so or over)[0]
    values = " or ".join(f"{f.value} ({_since(f)}said by {f.evidence[-1].source})" for f in so)
    denied = "; these deny each other" if any(f.standing is FactStanding.DISPUTED for f in so) else ""
    was = " and ".join(f"{f.value} until {shown(f.until or 0.0, hour=True)}" for f in over)
    told = f"{of.subject}, {of.relation}: {values or 'nothing that I know of'}{denied}"
    return f"{told}; before that {was}." if was else f"{told}."


def _since(fact: Fact) -> str:
    return "" if fact.since == ALWAYS else f"since {shown(fact.since, hour=True)}, "
