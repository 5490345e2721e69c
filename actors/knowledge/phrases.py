"""Names, nouns and states, as far as they can be told from other words without a dictionary."""

import re
from collections.abc import Callable

from actors.knowledge.grammar import any_of, language, words

_FILLER = re.compile(r"^(?:(?:the|a|an|our|that|this|its|their|his|her)(?:\s+|$)|(?:new|old)\s+)", re.IGNORECASE)
_AIM = re.compile(r"\bto (?!(?:the|an?|our)\b)[a-z]+\b(?! [\dA-Z])")
"""What is to be done."""
_ODD = re.compile(
    r"[?!(){}<>|]|://|\b(?:\w+['’](?:ve|re|ll|d|m)|(?:that|it|there|he|she|what|who|let|here)['’]s)\b", re.IGNORECASE
)
"""No name has these."""
_NUMBER = re.compile(r"(\d+)[.,](\d*?)0*(?!\d)")
_CAPITAL = re.compile(r"[A-Z][a-z]+")
_PRAISE = re.compile(r"[a-z]+(?:ing|ful|ous|ible|able|ive|less)|[a-z]+ly\s.+")
"""What is said to praise or blame, mostly."""
_DONE = re.compile(r"[a-z]{2,}ed(?: (?:up|down|off|out))?", re.IGNORECASE)
_FELT = re.compile(
    r"(?:excit|thrill|determin|tir|worri|scar|bless|amaz|annoy|bor|confus|pleas|impress|relax|interest|need|us|touch)ed"
)


def bare(text: str) -> str:
    """Without determiners and what surrounds it."""
    text = text.strip(" .,!?…\"“”'’*_")
    while found := _FILLER.match(text):
        text = text[found.end() :]
    return text


def noun_phrase(text: str, most: int = 5) -> str:
    """A noun phrase, as far as can be told without a dictionary; empty where it can be none."""
    said = bare(text)
    count = len(said.split())
    tokens = said.split()
    good = 0 < count <= most and bool(re.search(r"[^\W\d_]{2}", said)) and not any_of("vague").search(said)
    return said if good and not _ODD.search(said) and tokens[0].lower() not in words("particles") else ""


def subject_phrase(text: str) -> str:
    """A noun phrase that may be what is spoken of: no doing or aim, and no words that run into a name."""
    said = noun_phrase(text)
    tokens = said.split()
    doing = bool(tokens) and tokens[0].lower().endswith("ing") and tokens[0].lower() not in words("things")
    runs_on = len(tokens) > 1 and tokens[0].islower() and tokens[0].isalpha() and bool(_CAPITAL.fullmatch(tokens[-1]))
    return "" if doing or runs_on or _AIM.search(said) else said


def may_be_had(relation: str) -> bool:
    """Whether it may name what something has."""
    tokens = relation.split()
    if not tokens or any_of("vague").search(relation) or {tokens[0], tokens[-1]} & (words("not_had") | words("judged")):
        return False
    return not tokens[-1].endswith(("ed", "ly")) and (not tokens[-1].endswith("ing") or tokens[-1] in words("things"))


def praises(value: str) -> bool:
    """Whether it judges, and tells nothing that could be looked up."""
    return value.split(maxsplit=1)[0].lower() in words("judged") or bool(_PRAISE.fullmatch(value))


def definite(text: str) -> bool:
    """Whether a phrase means a particular thing, and not any of its kind or so many of them."""
    first = {token.lower() for said in (text, bare(text)) for token in said.split(maxsplit=1)[:1]}
    return bool(first) and first.isdisjoint(words("indefinite"))


def _nobody(_: str) -> bool:
    return False


class Lexicon:
    """What words mean by the language, and by what is known; ``speaker`` is who says what is read."""

    def __init__(self, known: Callable[[str], bool] = _nobody, speaks: Callable[[str], bool] = _nobody) -> None:
        """``known``: whether something is known of a name; ``speaks``: whether somebody speaks by it."""
        self.speaker = ""
        self.depends = False
        """Whether what was read last may be read otherwise with more known, at another time or after other words."""
        self._known, self._speaks = known, speaks
        self._synonyms = {said: kept for kept, every in language().synonyms.items() for said in every}

    def relation(self, said: str) -> str:
        """The name that a relation is kept under."""
        said = " ".join(said.lower().split())
        return self._synonyms.get(said, said)

    def state(self, said: str) -> bool:
        """Whether it is a state that something is in: one of the language, or what was done to it."""
        return said.lower() in words("states") or bool(_DONE.fullmatch(said) and not _FELT.search(said))

    def person(self, subject: str) -> bool:
        """Whether somebody speaks by that name."""
        self.depends = True
        return bare(subject) == self.speaker or self._speaks(bare(subject))

    def specific(self, subject: str) -> bool:
        """Whether it names one thing and not just any: by a number, a capital, a second word, or since it is known."""
        said = bare(subject)
        if re.search(r"\d|[A-Z]|\w[ -]\w", said):
            return True
        self.depends = True
        return self._known(said)


def compared(value: str) -> str:
    """A value as it is compared: case, determiners, spaces and how a number is written say nothing."""
    said = _NUMBER.sub(lambda m: f"{m[1]}.{m[2]}" if m[2] else m[1], bare(value).casefold())
    return re.sub(r"[\s()'’-]+", "", re.sub(r"\b(?:the|a|an)\s+", "", said))
