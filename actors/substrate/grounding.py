"""What a model says stays true to its material: its numbers, times and names stand there, or it is not used.

Judged by form alone, in whatever language: a word with a capital inside a sentence is taken for a name. A rule that
asks too much costs a model's wording, one that asks too little tells people what never happened.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from actors.substrate.plain import plain
from actors.substrate.ports import Act, Material, Request

_TIME = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?!\d)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_GROUP = re.compile(r",(?=\d{3}(?!\d))")
_WORD = re.compile(r"[^\W\d_]+")
_TOKEN = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?!\d)|[^\W_]+")
_CODE = re.compile(r"[A-ZÀ-Þ\d]")
_STEM, _FEW = 5, 2
"""Letters by which a longer word is known, and how many such words may be a model's own in any case."""
_MUCH = 8
"""Names, numbers and longer words from which an answer has to have two of them; one where there are fewer."""
_ROUND = re.compile(r"(.{3,60})\1{2}")
"""The same three times in a row."""
_SAYS = 4
"""Words from which an answer that was cut says something."""
_OPENING = re.compile(r"(?:^|[.!?:;\u2026\u3002]\s|[\"'\u2018\u201c\u00ab(\[])\W*$")
"""What stands before a word that has a capital for its place."""


class Ungrounded(NamedTuple):
    """What an answer made up."""

    cause: str
    """``number`` (a time as well), ``name`` or ``words``."""
    reason: str


def _worth(number: str) -> set[str]:
    """What a number may mean, since a comma groups thousands or begins a fraction."""
    readings = {_GROUP.sub("", number), number.replace(",", ".")}
    return {(r.rstrip("0").rstrip(".") if r.count(".") == 1 else r).lstrip("0") for r in readings}


def _names(text: str) -> Iterable[str]:
    """Words with a capital that no sentence opens with, and codes: all in capitals, or a letter and then digits."""
    for found in _TOKEN.finditer(text):
        word = found[0]
        code = word[0].isalpha() and (word.isupper() or any(map(str.isdigit, word)))
        if len(word) > 1 and (code or (word[0].isupper() and not _OPENING.search(text[: found.start()]))):
            yield word


def _stems(words: Iterable[str]) -> list[str]:
    """Words long enough to carry a meaning, in scripts that have capitals, by how they begin."""
    return [w.casefold()[:_STEM] for w in words if len(w) >= _STEM and w.lower() != w.upper()]


def _given(materials: Sequence[Material]) -> str:
    return "\n".join(plain(part) for m in materials for part in (m.text, m.source, m.when, *m.terms))


def ungrounded(answer: str, request: Request) -> Ungrounded | None:
    """Why ``answer`` does not rest on the request's material; None where it does.

    The first time, number or name that stands nowhere in it; or that most of its longer words do not, that it goes
    round in circles, or that it hardly names what it is about.
    """
    given = _given(request.materials)
    known = {(int(hour), int(minute)) for hour, minute in _TIME.findall(given)}
    worth = {reading for number in _NUMBER.findall(_TIME.sub(" ", given)) for reading in _worth(number)}
    worth |= {str(hour) for hour, _ in known}
    unknown = [("number", time[0]) for time in _TIME.finditer(answer) if (int(time[1]), int(time[2])) not in known]
    unknown += [("number", n) for n in _NUMBER.findall(_TIME.sub(" ", answer)) if not _worth(n) & worth]
    words = _WORD.findall(given)
    names = {word.casefold() for word in [*words, *_TOKEN.findall(given)]}
    unknown += [("name", name) for name in _names(answer) if name.casefold() not in names]
    if unknown:
        cause, what = unknown[0]
        return Ungrounded(cause, f"answer says {what!r}, which stands nowhere in its material")
    said, stems = _stems(_WORD.findall(answer)), set(_stems(words))
    foreign = sum(stem not in stems for stem in said)
    if foreign > max(len(said) / 2, _FEW):
        return Ungrounded("words", "answer is mostly in words that stand nowhere in its material")
    tokens = _tokens(answer)
    if len(tokens) > 2 * len(set(tokens)) or _ROUND.search(answer):
        return Ungrounded("words", "answer repeats itself")
    if answer.endswith("…") and len(tokens) < _SAYS:
        return Ungrounded("words", "answer breaks off")
    about = _about(request)
    if about and len(about & {*tokens, *said}) < (1 if len(about) < _MUCH else 2):
        return Ungrounded("words", "answer hardly names what it is about")
    return None


def _about(request: Request) -> set[str]:
    """What an answer has to name something of: the event, by what no memory says as well. A question need not be."""
    if request.act in {Act.REPLY, Act.SUM_UP}:
        return _telling(request.materials)
    event = _telling(request.materials[:1])
    return event - _telling(request.materials[1:]) or event if request.act is Act.BIND else event


def _tokens(text: str, of: re.Pattern[str] = _TOKEN) -> list[str]:
    return [token.casefold().lstrip("0") for token in _TOKEN.findall(text) if of.search(token)]


def _telling(materials: Sequence[Material]) -> set[str]:
    """Names, numbers and longer words."""
    given = _given(materials)
    return set(_tokens(given, _CODE)) | set(_stems(_WORD.findall(given)))
