"""What a sentence is before it is read for facts: who says it, whether it claims anything, from when and until when."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from actors.knowledge.said_times import SPAN, TIME, parsed
from environment.messages import Instant

_ABBREVIATED = re.compile(r"(?:\b(?:mr|mrs|ms|dr|st|no|vs|etc|approx|ltd|inc|[a-z])\.)$", re.IGNORECASE)
_BOUNDARY = re.compile(r"(?<=[.!?…;])[\"'”’)]*\s+|\n+")
_CLAUSE = re.compile(r"\s*,\s+(?:and|but|so|while)\s+|\s+[-–—]+\s+|;\s+|\s+(?:but|while|whereas)\s+(?!in\b|at\b)")
_SPEAKER = re.compile(r"(@?[^\W\d_][\w.'’-]*(?: [A-Z@][\w.'’-]*| [A-Za-z]+ \d+)?):\s+(?=\S)")
_LABEL = re.compile(
    r"(?:subject|re|fw|fwd|reminder|note|update|fyi|info|ps|today|heads[- ]up|news)\s*:\s*", re.IGNORECASE
)
_CORRECTS = re.compile(
    r"(?:(?:correction|erratum|corrected|my mistake|my bad|i was wrong|scratch that|sorry|oops|no wait|no"
    r"|nope|actually|i meant"
    r"|wrong)(?:\s*[:,;!.–—-]+\s*|\s+(?=it's\b|it is\b)))+",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:who|what|where|when|why|which|how|whose|is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall"
    r"|should|may|any|anyone|anybody|am)\b",
    re.IGNORECASE,
)
_SINCE = r"(?:as of|as from|from|since|starting|effective|beginning)"
_VALID = re.compile(
    rf",?\s*\b(?:(?P<since>{_SINCE})|(?P<until>until|till))"
    rf"\s+(?P<time>(?=\S)(?>{TIME.pattern.replace('?P<', '?P<v_')}))"
    r"(?=\W|$)(?!\s*to\b),?\s*",
    re.IGNORECASE,
)
_PROMISED = re.compile(r"\b(?:will|shall|going to)\b|'ll\b", re.IGNORECASE)
_NOW = re.compile(r",?\s*\b(?:now|again|as of now|from now on|these days|henceforth)\b,?\s*", re.IGNORECASE)
_STILL = re.compile(
    r",?\s*\b(?:currently|still|at present|at the moment|right now|today|also|just|already|finally"
    r"|by the way|btw|for now"
    r"|as usual)\b,?(?=\s|$)\s*",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(r"\bnot\s+(?P<prep>(?:in|at|on|by)\s+)?(?P<a>[^,;]{1,40}?),?\s+but\s+(?P<b>.+)$", re.IGNORECASE)
_AND_NOT = re.compile(
    r"^(?P<b>.+?),?\s+(?:and\s+)?not\s+(?:in\s+|at\s+|on\s+|by\s+)?(?P<a>[^,;]{1,40})$", re.IGNORECASE
)
_NO_LONGER = re.compile(
    r"^(?P<s>.+?)\s+(?P<be>is|are)\s+(?:no longer|not (?P<any>.+?) any ?more)\s*(?P<v>.*?)(?:,\s*(?:it is"
    r"|it's|but)\s+(?P<b>.+))?$",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not|never|no|nobody|none|nothing|neither|nor|without|cannot)\b|n't\b|n’t\b", re.IGNORECASE)
_FIRST = (
    (re.compile(r"\b[Ii](?:'m|’m| am)\b"), "{} is"),
    (re.compile(r"\b[Ii](?:'ll|’ll)\b"), "{} will"),
    (re.compile(r"\b[Ii](?:'ve|’ve)\b"), "{} has"),
    (
        re.compile(r"\b[Ii] (like|love|hate|prefer|own|run|handle|manage|look|take|enjoy)\b(?! (?:over|from))"),
        r"{} \1s",
    ),
    (re.compile(r"\bI\b|^i\b"), "{}"),
    (re.compile(r"\b[Mm]y\b"), "{}'s"),
    (re.compile(r"\bfrom me\b"), "from {}"),
    (re.compile(r"\bme\b"), "{}"),
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that claims something."""

    text: str
    """Without its adverbs and times of validity; the first person is named."""
    since: Instant | None = None
    until: Instant | None = None
    changed: bool = False
    """Whether it says that it was otherwise before."""
    corrects: bool = False
    """Whether it says that something said before was wrong."""
    instead: str = ""
    """... what that was."""
    ended: bool = False
    """Whether it says that this is so no more."""


def any_of(words: Sequence[str]) -> re.Pattern[str]:
    """What finds any of them as whole words, whatever the case."""
    longest = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(map(re.escape, longest)) or '(?!)'})(?![\w'-])", re.IGNORECASE)


def split_speaker(text: str, source: str) -> tuple[str, str]:
    """(Who says it, what is said): the name before a colon, else the source."""
    found = _SPEAKER.match(text)
    if found is None or _LABEL.match(text) or _CORRECTS.match(text) or found[1] == found[1].lower().strip("@"):
        return source, text
    rest = text[found.end() :]
    if parsed(rest, 0.0) is not None or not re.search(r"[^\W\d_]{2}", rest):
        return source, text
    return found[1], rest


def sentences(text: str) -> list[str]:
    """The text cut after its sentences and lines."""
    found, start = list[str](), 0
    for boundary in _BOUNDARY.finditer(text):
        part = text[start : boundary.end()].strip()
        if not _ABBREVIATED.search(part):
            found.append(part)
            start = boundary.end()
    return [part for part in (*found, text[start:].strip()) if part]


def clauses(sentence: str, speaker: str, time: Instant, doubt: re.Pattern[str]) -> list[Clause]:
    """What a sentence claims: nothing where it asks, doubts, demands, denies, hopes or jokes."""
    said = _LABEL.sub("", sentence.strip(), count=1).strip()
    if said.endswith("?") or _ASKS.match(said) or doubt.search(said):
        return []
    corrects = _CORRECTS.match(said)
    if corrects:
        said = said[corrects.end() :]
    for found, name in _FIRST:
        said = found.sub(name.replace("{}", speaker.replace("\\", "")), said)
    return [one for part in _CLAUSE.split(_joined(said)) if (one := _clause(part, time, bool(corrects))) is not None]


def _joined(said: str) -> str:
    """The sentence with "not A but B" as one clause."""
    found = _NOT_BUT.search(said)
    if found is None:
        return said
    return f"{said[: found.start()]}{found['b'].rstrip('.! ')}, not {found['a']}"


def _clause(text: str, time: Instant, corrects: bool) -> Clause | None:
    text = text.strip(' ,.!…"“”')
    since = until = None
    changed, instead, ended = False, "", False
    if found := _NO_LONGER.match(text):
        text, changed = f"{found['s']} {found['be']} {found['b'] or found['any'] or found['v']}", True
        ended = not found["b"]
    elif (found := _AND_NOT.match(text)) and not _NEGATED.search(found["b"]):
        text, instead, corrects = found["b"], found["a"].strip(), True
    elif _NEGATED.search(text):
        return None
    if SPAN.search(text):
        text = SPAN.sub("", text)
    while found := _VALID.search(text):
        at = parsed(found["time"], time)
        if at is None or (found["until"] and _PROMISED.search(text)):
            break
        if found["since"]:
            since, changed = at[0], True
        else:
            until = at[0] if at[1] else at[0] + 86_399.0
        text = f"{text[: found.start()]} {text[found.end() :]}".strip()
    text = _STILL.sub(" ", text)
    if _NOW.search(text):
        text, changed = _NOW.sub(" ", text), True
    text = re.sub(r"\s{2,}", " ", text).strip(" ,.")
    return Clause(text, since, until, changed, corrects, instead, ended) if text else None
