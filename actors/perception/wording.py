"""What can be read off a text without a model: clean words, templates, and the terms it can be met again by."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from actors.running import FadingCounts

_WORD = re.compile(r"\w+(?:[-_.'’/:]\w+)*")
_DIGIT = re.compile(r"\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d")
_NUMBER = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b|\d+(?:[.,:]\d+)*", re.IGNORECASE)
_BREAK = re.compile(r"(?<=[.!?;])\s+|\n+")
_SPACE = re.compile(r"\s+")
_LONGEST_WORD = 48
_TELLING = 4
_ENDS = frozenset(".!?")
_LEVELS = frozenset(
    "TRACE DEBUG INFO NOTICE WARN WARNING ERROR CRITICAL ALERT EMERGENCY SEVERE FATAL PANIC LOG".split()
)
"""What a line declares itself to be: of what it is about they say nothing."""
_GAPS = {"Cc", "Zl", "Zp", "Zs"}
"""Categories of what is not printed but parts words: control characters and spaces other than the usual one."""

STOPWORDS = frozenset(
    """a about above after again all also am an and any are as at back be because been before being below between both
    but by came can cannot come could did do does doing done down during each even every few for from further get gets
    give go goes going good got had has have having he her here hers him his how i if in into is it its itself just
    know last let like little look made make many may me might more most much must my near need never new next no nor
    not now of off okay ok on once one only or other our out over own please put quite rather really right roger said
    same say see seem she should since so some something soon still such sure take tell than thank thanks that the
    their them then there these they thing things think this those though three through time to today tomorrow too
    two under until up us very want was way we well went were what when where which while who why will with within
    without would yeah yes yesterday yet you your yours there's it's that's don't doesn't didn't i'm we're you're
    we'll i'll we've i've can't won't isn't wasn't aren't let's""".split()
)


@dataclass(frozen=True, slots=True)
class Wording:
    """A text, read once."""

    clean: str
    """Without control and direction characters, white space folded, bounded."""
    words: tuple[str, ...]
    """Lower case, digits masked as ``#``."""
    terms: tuple[str, ...]
    """Candidates for association, in order of appearance, lower case."""


def clean(text: str, limit: int) -> str:
    """Printable text on one line, at most ``limit`` characters (an ellipsis marks a cut)."""
    if not text.isprintable() or len(text) > limit:
        text = text[: 4 * limit]
        text = "".join(c if c.isprintable() else " " if unicodedata.category(c) in _GAPS else "" for c in text)
    text = _SPACE.sub(" ", text).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def template(text: str) -> str:
    """The text with its numbers masked: what equal lines of a machine have in common."""
    return _NUMBER.sub("#", text.lower())


def segments(text: str, size: int, most: int) -> list[str]:
    """Cut a long text at sentence ends into pieces of about ``size`` characters: the first ``most`` of them."""
    if len(text) <= size:
        return [text]
    pieces: list[str] = []
    current = ""
    for part in _BREAK.split(text[: size * most * 2]):
        while len(part) > size:
            if current:
                pieces.append(current)
                current = ""
            pieces.append(part[:size])
            part = part[size:]  # noqa: PLW2901  # a sentence too long for one piece goes on in the next
        if current and len(current) + len(part) >= size:
            pieces.append(current)
            current = part
        else:
            current = f"{current} {part}".strip()
        if len(pieces) >= most:
            break
    if current:
        pieces.append(current)
    return [p for p in pieces[:most] if p.strip()]


def read(text: str) -> Wording:
    """Words and candidate terms of a clean text."""
    words, terms = [], []
    previous_name = ""
    end = -1
    for match in _WORD.finditer(text):
        raw = match[0]
        low = raw.lower()
        masked = low if low.isalpha() or not _DIGIT.search(low) else "#"
        words.append(masked)
        name = ""
        field = text[match.end() : match.end() + 1] == "="  # so is what a logger calls a value
        if len(raw) <= _LONGEST_WORD and low not in STOPWORDS and raw not in _LEVELS and not field:
            if raw[0].isupper() and end >= 0 and text[end] not in _ENDS:
                name = low
                if previous_name:
                    terms.append(f"{previous_name} {low}")
            if len(low) >= _TELLING if masked is low else any(map(str.isalpha, raw)) and not _MOMENT.match(raw):
                terms.append(low)
        previous_name = name
        end = match.end()
    return Wording(text, tuple(words), tuple(dict.fromkeys(terms)))


def telling(terms: Sequence[str], seen: FadingCounts, most: int) -> tuple[str, ...]:
    """The terms by which a text is best met again, ``most`` at the most.

    First the specific ones (names of two words, hosts, part numbers), then words met before, rarest first, leaving
    some room for words never met, longest first. What every thousandth term is tells nothing apart and is left out.
    """
    common = max(8, seen.total // 1000)
    some = [t for t in terms if seen.get(t) <= common]
    specific = sorted((t for t in some if not t.isalpha()), key=lambda t: (seen.get(t), -len(t), t))
    words = [t for t in some if t.isalpha()]
    met = sorted((t for t in words if seen.get(t)), key=lambda t: (seen.get(t), -len(t), t))
    new = sorted((t for t in words if not seen.get(t)), key=lambda t: (-len(t), t))
    room = most // 2
    return tuple([*specific, *met[:room], *new, *met[room:]][:most])


def span(seconds: float) -> str:
    """A duration as people say it."""
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"
