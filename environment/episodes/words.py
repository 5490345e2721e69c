"""Words as they are looked for: in lower case, without their endings, numbers as figures."""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"\d+(?:[.:]\d+)+|\d+|[^\W\d_]+")
_JOINED = re.compile(r"(?<=[^\W_])[-_/](?=[^\W_])")
_ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ers", "edly", "ed", "es", "ly", "er", "s", "e",
    "y",
)  # fmt: skip
_LEAST = 3
"""Letters that stay of a word."""
_SHORT = 5
_FIGURES = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
    )
}


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """What a word of lower case has in common with its other forms; a number in words as figures."""
    if word in _FIGURES:
        return _FIGURES[word]
    if not word.isalpha() or len(word) <= _LEAST:
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > _LEAST and word[-1] == word[-2] else word


def stems(text: str) -> list[str]:
    """The stems of a text in order. Letters and figures are apart: ``KR-4410`` and ``kr4410`` are the same."""
    return [stem(token) for token in _TOKEN.findall(text.casefold())]


def compounds(text: str) -> list[str]:
    """Words that a hyphen joins, as one: who looks for ``coldstore`` is to find ``cold-store``."""
    low = text.casefold()
    found = []
    for match in _JOINED.finditer(low):
        before = _TOKEN.findall(low[max(0, match.start() - 32) : match.start()])
        after = _TOKEN.match(low, match.end())
        if before and after:
            found.append(stem(before[-1] + after[0]))
    return found
