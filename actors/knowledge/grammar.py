"""The language that facts are read from, as ``english.toml`` has it: words, patterns of sentences, rules."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from actors.knowledge.said_times import TIME

_PIECE = re.compile(r"\{([a-z_]+)\}")


class Rule(msgspec.Struct, frozen=True):
    """Patterns that say one thing."""

    says: str
    """The reading that makes a claim of what was found."""
    patterns: list[str]
    relation: str = ""
    kind: str = "standard"
    words: int = 0
    """Of its value at most; 0: it is taken as it is."""
    changed: bool = False
    """Whether it says that it was otherwise before."""


class Language(msgspec.Struct, frozen=True):
    """What the file holds."""

    words: Mapping[str, list[str]]
    synonyms: Mapping[str, list[str]]
    parts: Mapping[str, str]
    sentences: Mapping[str, str]
    first: Mapping[str, str]
    rules: list[Rule]


@cache
def language() -> Language:
    """The one there is."""
    return msgspec.convert(tomllib.loads(Path(__file__).with_name("english.toml").read_text("utf-8")), Language)


@cache
def words(name: str) -> frozenset[str]:
    """A set of words."""
    return frozenset(language().words[name])


@cache
def any_of(name: str) -> re.Pattern[str]:
    """What finds any of a set of words as whole ones, whatever the case."""
    longest = sorted(words(name), key=lambda word: (-len(word), word))
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(map(re.escape, longest))})(?![\w'-])", re.IGNORECASE)


def _whole(pattern: str) -> str:
    """With its pieces."""
    pieces = {**language().parts, "time": TIME.pattern.replace("?P<", "?P<v_")}
    while _PIECE.search(pattern):
        pattern = _PIECE.sub(lambda found: pieces[found[1]], pattern)
    return pattern


@cache
def part(name: str) -> re.Pattern[str]:
    """A piece of patterns by itself."""
    return re.compile(_whole(language().parts[name]), re.IGNORECASE)


@cache
def sentence(name: str) -> re.Pattern[str]:
    """A pattern of sentences and clauses."""
    return re.compile(_whole(language().sentences[name]), re.IGNORECASE)


@cache
def rules() -> list[tuple[Rule, re.Pattern[str]]]:
    """Every pattern of a clause with its rule, in the order in which they are tried."""
    return [(rule, re.compile(f"^{_whole(one)}$", re.IGNORECASE)) for rule in language().rules for one in rule.patterns]


@cache
def first_person() -> list[tuple[re.Pattern[str], str]]:
    """What the first person becomes, with ``{}`` for who speaks."""
    return [(re.compile(pattern), becomes) for pattern, becomes in language().first.items()]
