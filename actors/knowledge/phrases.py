"""Names, nouns and states, as far as they can be told from other words without a dictionary."""

from __future__ import annotations

import re
from collections.abc import Callable

from actors.knowledge.sentences import any_of
from actors.knowledge.settings import KnowledgeSettings

VAGUE = any_of(
    """i you he she it we they this that these those there here who what which someone somebody everyone
    everybody anyone nobody
    nothing something everything anything all both each one ones thing
    things stuff rest lot lots way day people guys whole
    mine yours ours theirs him her them us me its his their your same other others another such much many more most
    hello hi hey thanks thank ok okay yes no yep morning evening bye well and or but because so then than as of if when
    while is are was were be been has have had do does did will can get gets got go goes went let just not very really
    about like please until till myself ourselves themselves yourself itself""".split()
)
_FILLER = re.compile(r"^(?:the|a|an|our|that|this|its|their|his|her|new|old)\s+", re.IGNORECASE)
JUDGED = frozenset(
    """great good nice bad fine funny annoying lovely crazy cool awesome weird terrible horrible tired busy sick
    hungry sure right wrong true sad happy glad sorry late early quick slow amazing ridiculous perfect sweet
    cute boring interesting important hard easy fun awful strange odd able afraid welcome gone here there back
    out up in off over done kidding alive same different tough tricky vital key crucial scary incredible massive
    huge special super blessed fave favorite favourite hilarious silly enough worth likely unlikely better worse
    best worst old young big small long short nuts mad angry proud lucky insane beautiful ugly brilliant
    excellent wonderful pathetic impossible possible obvious clear""".split()
)
NOT_ROLES = frozenset(
    """part member kind sort type one some any most end middle rest lot bit piece side top bottom full aware sure
    because reason""".split()
)
_ODD = re.compile(
    r"[?!(){}<>|]|://|\b(?:\w+['’](?:ve|re|ll|d|m)|(?:that|it|there|he|she|what|who|let|here)['’]s)\b", re.IGNORECASE
)
"""No name has these."""
_PARTICLES = frozenset("up out off down over back away in on at from with by for into to".split())
_CAPITAL = re.compile(r"[A-Z][a-z]+")
_THINGS = frozenset(
    "meeting building morning evening training ceiling railing landing ring king wing spring string painting".split()
)
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
    good = 0 < count <= most and bool(re.search(r"[^\W\d_]{2}", said)) and not VAGUE.search(said)
    return said if good and not _ODD.search(said) and tokens[0].lower() not in _PARTICLES else ""


def subject_phrase(text: str) -> str:
    """A noun phrase that may be what is spoken of: no doing, and no words that run into a name."""
    said = noun_phrase(text)
    tokens = said.split()
    doing = bool(tokens) and tokens[0].lower().endswith("ing") and tokens[0].lower() not in _THINGS
    runs_on = len(tokens) > 1 and tokens[0].islower() and tokens[0].isalpha() and bool(_CAPITAL.fullmatch(tokens[-1]))
    return "" if doing or runs_on else said


def may_be_had(relation: str) -> bool:
    """Whether it may name what something has."""
    last = relation.rsplit(maxsplit=1)[-1] if relation else ""
    ordinary = last and not VAGUE.search(relation) and not {last, relation.split(maxsplit=1)[0]} & (NOT_ROLES | JUDGED)
    return bool(ordinary) and not last.endswith(("ed", "ly")) and (not last.endswith("ing") or last in _THINGS)


def praises(value: str) -> bool:
    """Whether it judges, and tells nothing that could be looked up."""
    return value.split(maxsplit=1)[0].lower() in JUDGED or bool(_PRAISE.fullmatch(value))


class Lexicon:
    """What words mean by the settings, and by what is known; ``speaker`` is who says what is read."""

    def __init__(
        self,
        settings: KnowledgeSettings,
        known: Callable[[str], bool] = lambda _: False,
        speaks: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """``known``: whether something is known of a name; ``speaks``: whether somebody speaks by it."""
        self.speaker = ""
        self.longest = settings.longest
        self._speaks = speaks
        self._states = frozenset(settings.states)
        self._settings = settings
        self.doubt = any_of(settings.doubt_words)
        self._known = known

    def relation(self, said: str) -> str:
        """The name that a relation is kept under."""
        said = " ".join(said.lower().split())
        return self._settings.synonyms.get(said, said)

    def state(self, said: str) -> bool:
        """Whether it is a state that something is in: one of the settings, or what was done to it."""
        return said.lower() in self._states or bool(_DONE.fullmatch(said) and not _FELT.search(said))

    def person(self, subject: str) -> bool:
        """Whether somebody speaks by that name."""
        return bare(subject) == self.speaker or self._speaks(bare(subject))

    def specific(self, subject: str) -> bool:
        """Whether it names one thing and not just any: by a number, a capital, a second word, or since it is known."""
        said = bare(subject)
        return bool(re.search(r"\d|[A-Z]|\w[ -]\w", said)) or self._known(said)
