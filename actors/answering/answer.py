"""An answer by rule: the sentences that answer best, each with its time and its source, or plainly that none does."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from actors.answering.facts import KnownFacts
from actors.submind.composing import clock_time
from actors.substrate.plain import clip, plain
from actors.substrate.sentences import sentences, speaker
from environment.episodes.index import Episode, EpisodeIndex, EpisodeMatch
from environment.episodes.question import TROUBLE, Asks, Question
from environment.episodes.recall import Quotation
from environment.episodes.words import stems
from environment.messages import Instant

_LINES = 4
_QUOTE = 240
_ENOUGH = 0.5
"""Share of what is asked for that a line has to have for it to be an answer."""
_SURE = 0.5
"""Confidence from which it is said as known: it is more likely right than not."""
_LIKELY, _BY_SHARE, _BY_RIVAL, _BY_EVIDENCE = 1.2, 0.8, -2.2, 1.3
"""Log odds that an answer quotes a right line: by the share of what was asked that its best line has, by the score of
the next beside that of the best, and by whether the best has what such a question asks for, a time or a figure. Fitted
to 382 questions about three long dialogues (LoCoMo: Maharana et al., 2024); left out in turn their AUC is .69."""
_ALSO = 0.62
"""Share of the best line's score that a further one has to have."""
_DAY = 86_400.0
_PAIR = 0.35
_NEWS = 1.0
"""What it counts how telling the rest of a line is, 0..1: of "bed 9" the nosebleed, not that it slept as all do."""
_SPEAKS, _SPEAKS_ALSO = 1.6, 1.25
"""What it counts that who is asked about says it, of promises and of all else."""
_TIME = re.compile(
    r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2}(?:am|pm| o'clock)\b|\b(?:mon|tue|wed|thu|fri|sat|sun)(?:\w*day|s|r|rs)?\b|"
    r"\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*|\b\d{4}-\d\d-\d\d\b|"
    r"\b(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d|\b(?:today|tonight|tomorrow|yesterday|noon|midnight|"
    r"morning|afternoon|evening|(?:next|last|this) (?:week|month|year)|(?:in|for|after|within) \w+ "
    r"(?:min\w*|hours?|days?|weeks?|months?))\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"\b(?:until|till|by|before|to|ends?|through|expires?|closes?)\b", re.IGNORECASE)
_FIGURE = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|none|half)\b", re.IGNORECASE)
_CAUSE = re.compile(
    r"\b(?:because|since|due to|caus\w*|reason|thanks to|so that|that's why|as \w+ (?:is|was|were|are)|turned out|"
    r"culprit|fault|blam\w+|root|wasn't|for (?:the|a|an) \w+|window|maintenance|after)\b|'s (?:full|broken|out|down)",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:in|at|on|under|behind|near|beside|inside|next to|by|from|to) (?:the |a |an |my |our )?\w+", re.IGNORECASE
)
_COMMITS = re.compile(
    r"\b(?:I|we|he|she|they|you)(?:'ll| will| shall|'m going to| am going to| are going to)\b|'ll\b|"
    r"\bpromis\w+|\b(?:will|shall|going to) "
    r"(?:send|do|write|bring|call|ring|have|put|fix|check|look|get|make|take|come|leave|finish|give|let|be)\b",
    re.IGNORECASE,
)  # fmt: skip
_EVIDENCE = {
    Asks.TROUBLE: (TROUBLE, 1.0),
    Asks.WHEN: (_TIME, 0.5),
    Asks.HOW_MUCH: (_FIGURE, 0.4),
    Asks.WHY: (_CAUSE, 0.35),
    Asks.WHERE: (_PLACE, 0.25),
    Asks.PROMISE: (_COMMITS, 1.5),
}

_SEVERAL = frozenset({Asks.STORY, Asks.PROMISE, Asks.TROUBLE})
"""What many lines may answer: a rival speaks against none."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What is known of what was asked."""

    text: str
    """All of it, in one line or several."""
    parts: tuple[Quotation, ...]
    """What it rests on, in the order of the text."""
    trust: float
    """Of the least trusted of these; 1 where there is none."""
    known: bool
    """False where what was found is only the nearest."""
    confidence: float = 0.0
    """0..1: how likely it quotes a right line, as far as that was measured."""
    worded_by: str = ""
    """The model whose words the text is in; empty: it quotes, by rule."""
    progress: str = ""
    """What is waited for, where another answer will follow; empty: this is the last."""


NOTHING_YET = Reply("", (), 1.0, known=False)


@dataclass(frozen=True, slots=True)
class _Found:
    episode: Episode
    score: float
    share: float
    evidence: bool
    """Whether it has what such a question asks for."""


def answer(question: Question, index: EpisodeIndex, now: Instant, before: int | None = None) -> Reply:
    """What the index knows of a question. Bounded work; the same question of the same index has the same answer.

    ``before``: only from perceptions with a lower sequence number.
    """
    if not question.terms:
        return Reply("What is it about? Name something, and I say what I know of it.", (), 1.0, known=False)
    found = _ranked(question, index, before)
    if not found:
        return Reply(f"I don't know: nothing that I keep tells of {_about(question)}.", (), 1.0, known=False)
    best = found[0]
    strange = [name for name in question.names if not all(index.knows(stem) for stem in stems(name))]
    sure = _confidence(question, found)
    if best.share < _ENOUGH or strange:
        told = f"nothing that I keep tells of {' or '.join(strange)}" if strange else "nothing that I keep says so"
        return _told(f"I don't know, but nearest to it ({told}):", _apart(found)[:3], now, sure, known=False)
    if sure < _SURE:
        return _told("I don't know for sure, but nearest to it:", _apart(found)[:3], now, sure, known=False)
    also = [each for each in found[1:] if each.score >= _ALSO * best.score and each.share >= _ALSO * best.share]
    chosen = _apart([best, *also])
    if question.kind is Asks.STORY:
        chosen.sort(key=lambda each: each.episode.seq)
    return _told(_lead(question, chosen), chosen, now, sure, known=True)


def with_facts(reply: Reply, facts: KnownFacts, cited: Sequence[Episode], now: Instant) -> Reply:
    """What facts tell first, with the lines that they rest on, then what else lines tell, where that is known."""
    also = reply if reply.known else NOTHING_YET
    shown = {part.perception.id for part in also.parts}
    cited = [one for one in cited if one.ref.id not in shown][:_LINES]
    text = "\n".join(filter(None, [facts.text, *(_line(one, now) for one in cited), also.text]))
    parts = (*(Quotation(one.text, one.ref) for one in cited), *also.parts)
    trust = min(also.trust, *(fact.trust for fact in facts.facts))
    return Reply(text, parts, trust, known=True, confidence=facts.confidence)


def _confidence(question: Question, found: Sequence[_Found]) -> float:
    best = found[0]
    rival = found[1].score / best.score if len(found) > 1 and question.kind not in _SEVERAL else 0.0
    odds = _LIKELY + _BY_SHARE * best.share + _BY_RIVAL * rival + _BY_EVIDENCE * best.evidence
    return 1 / (1 + math.exp(-odds))


def _ranked(question: Question, index: EpisodeIndex, before: int | None) -> list[_Found]:
    """What may answer it, best first."""
    weights = dict(question.terms)
    for first, second, joined in question.joined:
        if index.knows(joined):
            weights[joined] = max(question.terms[first], question.terms[second])
    whole = sum(index.rarity(term) * weight for term, weight in question.terms.items())
    found = [_weighed(question, index, match, whole) for match in index.find(weights, before=before)]
    return sorted(found, key=lambda each: (-round(each.score, 9), -each.episode.seq))


def _weighed(question: Question, index: EpisodeIndex, match: EpisodeMatch, whole: float) -> _Found:
    """A match, by how well its sentences fit what is asked."""
    had = set(match.own)
    for first, second, joined in question.joined:
        if joined in had:
            had |= {first, second}
    text = match.episode.text
    run = stems(text)
    beside = set(pairwise(run))
    paired = sum(pair in beside for pair in question.pairs)
    score = match.score * (1 + _PAIR * paired / max(1, len(question.pairs)))
    evidence = _EVIDENCE.get(question.kind)
    has = evidence is not None and evidence[0].search(text) is not None
    if evidence is not None and has:
        score *= 1 + evidence[1]
    if question.kind is Asks.WHEN and "until" in question.text.casefold() and _UNTIL.search(text):
        score *= 1.2
    if not _voice(match.episode).isdisjoint(question.terms):
        score *= _SPEAKS if question.kind is Asks.PROMISE else _SPEAKS_ALSO
    rest = [index.rarity(term) for term in dict.fromkeys(run) if term.isalpha() and term not in question.terms]
    if rest:
        score *= 1 + _NEWS * sum(rest) / len(rest) / index.most_telling
    own = sum(index.rarity(term) * question.terms[term] for term in sorted(had & set(question.terms)))
    near = sum(index.rarity(term) * question.terms[term] for term in sorted((match.near - had) & set(question.terms)))
    return _Found(match.episode, score, (own + near / 2) / whole if whole else 0.0, has)


def _voice(episode: Episode) -> set[str]:
    """Who says it: whom the words open with, else the source."""
    return set(stems(speaker(episode.text) or episode.source))


def _apart(found: Sequence[_Found]) -> list[_Found]:
    """The first few of those that do not say the same but for their numbers."""
    kept: dict[str, _Found] = {}
    for each in found:
        kept.setdefault(re.sub(r"\d+", "#", each.episode.text.casefold()), each)
    return list(kept.values())[:_LINES]


def _lead(question: Question, chosen: Sequence[_Found]) -> str:
    if question.kind is Asks.WHO:
        voices = Counter(who.rstrip(": ") for e in chosen if (who := speaker(e.episode.text)) and not who[0].islower())
        if voices:
            return f"Said by {' and '.join(voices)}:"
    if question.kind is Asks.PROMISE:
        return "What was promised, as far as it was said:"
    return f"Of {_about(question)}:"


def _about(question: Question) -> str:
    """What is asked about, in its own words."""
    every = re.findall(r"[\w'’.:-]*\w", question.text)
    wanted = [word for word in every if any(stem in question.terms for stem in stems(word))]
    return plain(" ".join(wanted), 80) or "that"


def _told(lead: str, chosen: Sequence[_Found], now: Instant, sure: float, *, known: bool) -> Reply:
    lines = [_line(each.episode, now) for each in chosen]
    text = f"{lead} {lines[0]}" if len(lines) == 1 else "\n".join([lead, *lines])
    parts = tuple(Quotation(each.episode.text, each.episode.ref) for each in chosen)
    return Reply(text, parts, min(e.episode.trust for e in chosen), known, sure)


def _line(episode: Episode, now: Instant) -> str:
    """The words with who said them, and when."""
    if episode.id:
        return f"“{_fitting(plain(episode.text, 4000))}” ({plain(episode.source, 80)})"
    ago = now - episode.time
    day = f", {round(ago / _DAY)} d earlier" if ago >= _DAY else ""
    text = plain(episode.text, 4000).replace("“", '"').replace("”", '"')
    like = f"; {episode.counted:,} more like it are only counted" if episode.counted else ""
    return f"“{_fitting(text)}” ({plain(episode.source, 40)}, {clock_time(episode.time)}{day}{like})"


def _fitting(text: str) -> str:
    return text if len(text) <= _QUOTE else clip(" ".join(sentences(text)), _QUOTE)
