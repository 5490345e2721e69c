"""Words as they are looked for: in lower case, without their endings, numbers as figures."""

import re
from functools import lru_cache

from Stemmer import Stemmer

from environment.messages import Perception

_TOKEN = re.compile(r"\d+(?:[.:]\d+)+|\d+|[^\W\d_]+")
_JOINED = re.compile(r"(?<=[^\W_])[-_/](?=[^\W_])")
_TEXT = 2000
"""Characters of a line that are kept."""
_LEAST = 3
"""Letters of the longest word that has no ending."""
_STEMMER = Stemmer("english")
STOPWORDS = frozenset(
    """a about above after again ago all also am an and any are as at back be because been before being below
    between both but by can cannot could d did do does doing don done down during each either else ever every
    few for from further get gets getting give go goes going got h had has have having he hello her here
    hers hi him his how i if in into is it its itself just know let like ll m made make many may me
    might min mine more most much must my near need never no nor not now of off ok okay on once one only
    onto or other our ours out over own please put quite re really s said same say says see seen shall she
    should since so some still such t take than thank thanks that the their them then there these they
    thing things this those though through to today tomorrow too under until up us use ve very via want
    was we well were what when where whether which while who whom why will with within without would yes
    yet you your yours yesterday""".split()
)
"""Words that tell little."""
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
    return word if len(word) <= _LEAST or not word.isalpha() else _STEMMER.stemWord(word)


_STOP = frozenset(map(stem, STOPWORDS))


def stems(text: str) -> list[str]:
    """The stems of a text in order. Letters and figures are apart: ``KR-4410`` and ``kr4410`` are the same."""
    return [stem(token) for token in _TOKEN.findall(text.casefold())]


def telling(text: str) -> frozenset[str]:
    """The stems of a text that tell something."""
    return frozenset(stems(text)) - _STOP


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


def told(perception: Perception) -> str:
    """What was perceived, in words; readings by name."""
    if perception.text is not None:
        return perception.text[:_TEXT].strip()
    readings = sorted((perception.telemetry or {}).items())
    return ", ".join(f"{name} {value:g}" for name, value in readings)[:_TEXT]
