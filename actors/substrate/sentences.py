"""Reading a text without a model: its sentences, the most telling of them, its subjects, what two have in common."""

import re
from collections.abc import Callable, Sequence
from math import sqrt

from actors.substrate.plain import clip
from environment.episodes.words import STOPWORDS

_TOKEN = re.compile(r"\w+(?:(?:[-._/]|(?<=\d):(?=\d))\w+)*")
_BOUNDARY = re.compile(r"(?<=[.!?…;])[\"'”’)]*\s+")
_ABBREVIATED = re.compile(r"(?:^|[\s(.])(?:[A-Z]|(?i:mr|mrs|ms|dr|st|no|vs|etc|approx|e\.g|i\.e|a\.m|p\.m))\.$")
_SPEAKER = re.compile(r"^(?=\S)[^:“”\"]{1,48}:\s+")
_SPEAKER_WORDS = 5
_BARE_NUMBER = re.compile(r"^\d[\d.:/_-]*[a-z]{0,2}$", re.IGNORECASE)
_NUMBERED = re.compile(r"(?<![\w#.:/-])(?:[^\W\d_]{2,} |#)\d+\b(?![.:/-]?\w|%| ?[%°])")
_FIGURES = 3
"""Of so many figures a number is a name wherever it stands ("job 961"); one of fewer may count what follows."""
_LONGEST_PHRASE = 3
_LONG_WORD, _WORD = 6, 4
_WORTH_ADDING = 0.5
_CLAUSE = re.compile(r"(?<=[,;:.!?…])[\"'”’)]*\s+|\s+[-–—]+\s+")
_FEW, _LOOSE = 3, " ,;:-–—"
"""Words of a clause that stands by itself, at least; and what joins one to the next."""
_ROOM, _DENSITY = 10, 0.3
"""A clause counts by its worth over its characters and so many more, to this power: at 1 the shortest always won."""
_DENIED = re.compile(r"n['’]t\b", re.IGNORECASE)
_TURNS = frozenset(
    "but cannot instead must neither never no nobody none nor not nothing now only still without".split()
)
"""Words of what denies, limits or changes what was so."""


def words(text: str) -> list[str]:
    """The words of ``text`` in lower case, names such as ``room2_air_c`` and ``26-07`` whole."""
    return _TOKEN.findall(text.casefold())


def sentences(text: str) -> list[str]:
    """``text`` cut after its full stops, question marks, exclamation marks and semicolons, but not after ``Mr.``."""
    found: list[str] = []
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        part = text[start : boundary.end()].strip()
        if _ABBREVIATED.search(part):
            continue
        found.append(part)
        start = boundary.end()
    rest = text[start:].strip()
    return [part for part in (*found, rest) if part]


def speaker(text: str) -> str:
    """The ``Name: `` that ``text`` opens with, of at most five words; empty when it opens otherwise."""
    match = _SPEAKER.match(text)
    if match is None or len(match[0].split()) > _SPEAKER_WORDS:
        return ""
    return match[0].rstrip() + " "


def is_numbered(term: str) -> bool:
    """Whether it is a word and the number that it is called by."""
    return _NUMBERED.fullmatch(term) is not None


def numbered(text: str, met: Callable[[str], int | None]) -> list[str]:
    """What ``text`` calls by a number (``job 961``, ``#4711``, ``bed 9``), in lower case, in order.

    A number that counts what follows is no name ("5 minutes"), unless what it would name was ``met``.
    """
    found = ((name, name[0].casefold()) for name in _NUMBERED.finditer(text))
    return list(dict.fromkeys(term for name, term in found if _names(name) or met(term)))


def _names(found: re.Match[str]) -> bool:
    if sum(map(str.isdigit, found[0])) >= _FIGURES:
        return True
    rest, who = found.string[found.end() :], speaker(found.string).rstrip(": ")
    follows = _TOKEN.match(rest, 1)
    counts = follows is not None and rest[0].isspace() and follows[0].casefold() not in STOPWORDS
    speaks = found.end() <= len(who) and found[0] != who  # "Bettina van 5:" is who speaks, "bed 9:" of what
    return not counts and not speaks and found[0].split()[0].casefold() not in STOPWORDS


def mentions(text: str, term: str) -> bool:
    """Whether ``term`` stands in ``text`` as whole words, whatever its case."""
    wanted = words(term)
    return bool(wanted) and _stands(wanted, words(text))


def _stands(run: list[str], there: list[str]) -> bool:
    """Whether a run of words stands in others."""
    size, first = len(run), run[0]
    return first in there and any(there[i : i + size] == run for i in range(len(there) - size + 1))


def _worth(clause: str, terms: Sequence[str], *, first: bool) -> float:
    """How telling a clause is: the terms it names (the first count most), figures, a turn, content, standing first."""
    tokens = words(clause)
    content = {t for t in tokens if t not in STOPWORDS}
    named = sum(
        1.0 / (1 + 0.25 * rank) for rank, term in enumerate(terms) if (run := words(term)) and _stands(run, tokens)
    )
    figures = any(c.isdigit() for c in clause)
    turns = not _TURNS.isdisjoint(tokens) or bool(_DENIED.search(clause)) or clause.endswith("?")
    return named + 1.0 * figures + 2.0 * turns + sqrt(len(content)) + 0.25 * first


def telling(text: str, limit: int, terms: Sequence[str] = ()) -> str:
    """The most telling clauses of ``text`` in their order, within ``limit`` characters; all of it where it fits.

    What is left out between two of them shows as an ellipsis; who speaks is kept.
    """
    if len(text) <= limit:
        return text
    who = speaker(text)
    body, room = text[len(who) :], max(limit - len(who), 1)
    spans = _clauses(body)
    worth = [_worth(body[a:b], terms, first=at == 0) for at, (a, b) in enumerate(spans)]
    dense = [w / (b - a + _ROOM) ** _DENSITY for w, (a, b) in zip(worth, spans, strict=True)]
    best = sorted(range(len(spans)), key=lambda i: (-dense[i], i))
    chosen: list[int] = []
    for at in best:
        fits = len(_joined(body, spans, [*chosen, at])) <= room
        if fits and (not chosen or worth[at] >= _WORTH_ADDING * worth[chosen[0]]):
            chosen.append(at)
    return who + clip(_joined(body, spans, chosen or best[:1]), room)


def _clauses(text: str) -> list[tuple[int, int]]:
    """Where the clauses of ``text`` begin and end; one of few words goes with the next of its sentence."""
    spans: list[tuple[int, int]] = []
    start = 0
    for cut in (*_CLAUSE.finditer(text), None):
        end = cut.start() if cut else len(text.rstrip())
        part = text[start:end]
        whole = cut is None or part.endswith((".", "!", "?", "…"))
        if not part or (cut and (_ABBREVIATED.search(part) or (len(words(part)) < _FEW and not whole))):
            continue
        spans.append((start, end))
        start = cut.end() if cut else end
    return spans or [(0, len(text))]


def _joined(text: str, spans: Sequence[tuple[int, int]], chosen: Sequence[int]) -> str:
    joined, before = "", -1
    for at in sorted(chosen):
        start, end = spans[at]
        if joined and at == before + 1:
            joined += text[spans[before][1] : end]
        else:
            joined = f"{joined.rstrip(_LOOSE)} … {text[start:end]}" if joined else text[start:end]
        before = at
    return joined.rstrip(_LOOSE) if max(chosen) + 1 < len(spans) else joined


def phrases(text: str, most: int = 2, terms: Sequence[str] = ()) -> list[str]:
    """What ``text`` seems to be about: its weightiest runs of content words, in the order in which they stand.

    After RAKE (Rose et al. 2010): stopwords and punctuation bound the candidates; names and numbered things weigh more,
    and so do those that name one of ``terms``, the first most.
    """
    runs: list[list[re.Match[str]]] = [[]]
    body = text[len(speaker(text)) :] or text
    end = 0
    for token in _TOKEN.finditer(body):
        apart = body[end : token.start()].strip() != ""
        end = token.end()
        stop = token[0].casefold() in STOPWORDS
        if runs[-1] and (apart or stop or len(runs[-1]) == _LONGEST_PHRASE):
            runs.append([])
        if not stop and (runs[-1] or not _BARE_NUMBER.match(token[0])):
            runs[-1].append(token)
    weighed = []
    for run in runs:
        if not any(len(t[0]) > 1 or not t[0].isascii() for t in run):  # a unit, as of 3 °C
            continue
        phrase = body[run[0].start() : run[-1].end()]
        named = max((2.0 / (1 + 0.25 * rank) for rank, t in enumerate(terms) if mentions(phrase, t)), default=0.0)
        weighed.append((_weight(run) + named, run[0].start(), phrase))
    best = sorted(weighed, key=lambda w: (-w[0], w[1]))
    kept: dict[str, tuple[float, int, str]] = {}
    for candidate in best:
        kept.setdefault(candidate[2].casefold(), candidate)
    return [phrase for _, _, phrase in sorted(list(kept.values())[:most], key=lambda w: w[1])]


def _weight(run: Sequence[re.Match[str]]) -> float:
    named = sum(1.5 for t in run if t[0].istitle() and t.string[: t.start()].rstrip()[-1:] not in {"", *".!?:;…"})
    marked = sum(1.0 for t in run if any(c.isdigit() for c in t[0]) or "-" in t[0] or "_" in t[0])
    return sum(min(len(t[0]), 8) / 8 for t in run) + named + marked


def common(first: str, second: str, most: int = 3) -> list[str]:
    """Runs of up to three words that stand in both texts, longest first, as the first text writes them."""
    mine = list(_TOKEN.finditer(first))
    keys = [t[0].casefold() for t in mine]
    theirs = words(second)
    found: list[tuple[int, int]] = []
    for size in range(_LONGEST_PHRASE, 0, -1):
        there = {tuple(theirs[i : i + size]) for i in range(len(theirs) - size + 1)}
        for at in range(len(keys) - size + 1):
            if not names_something([t[0] for t in mine[at : at + size]]) or tuple(keys[at : at + size]) not in there:
                continue
            if all(at + size <= a or at >= b for a, b in found) and first[mine[at].end() : mine[at].end() + 1] != ":":
                found.append((at, at + size))
    texts = [first[mine[a].start() : mine[b - 1].end()] for a, b in found]
    return list({t.casefold(): t for t in reversed(texts)}.values())[::-1][:most]


def names_something(run: Sequence[str]) -> bool:
    """Whether a run of words opens and closes with content; a single word has to be a name or a long one."""
    if run[0].casefold() in STOPWORDS or run[-1].casefold() in STOPWORDS or _BARE_NUMBER.match(run[0]):
        return False
    if len(run) > 1:
        return any(len(word) >= _WORD or not word.islower() for word in run)
    return len(run[0]) >= _LONG_WORD or not run[0].islower()
