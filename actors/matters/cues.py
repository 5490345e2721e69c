"""What a line says of a matter: when something is due, that it is promised or asked for, that it is over."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from actors.matters.settings import MattersSettings
from actors.substrate.sentences import speaker, words
from environment.episodes.question import asks
from environment.episodes.words import STOPWORDS, stem
from environment.messages import Instant

_SENTENCE = re.compile(r"(?<=[.!?;])(?<!\d\.)\s+|\n+")
_REMEMBERED = 1024
"""Lines and what is owed whose verbs are kept."""
_TOKENS, _NAMED = 6, 2
"""Words of which a time is made at most, with a figure in it and without."""
_NEGATION = re.compile(
    r"\b(?:not|no|never|isn't|wasn't|aren't|won't|can't|cannot|don't|didn't|doesn't)\s+(?:\w+\s+){0,2}$"
)
_CONDITION = re.compile(r"\b(?:if|unless|maybe|perhaps)\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"(?i)\b(?:i (?:guess|think|suppose)|probably|might)\b|\b(?:this|it|that|there) will be (?!\w+e[dn]\b)"
)
"""What foretells and binds nobody: "we'll see them tomorrow, I guess", "this will be a long night"."""
_OFFER = r"(?!\s+(?:like|care|believe|imagine|rather)\b)"
"""What follows "would you" where nothing is asked for."""
_LENGTH = re.compile(r"(?:at\s+)?\d+\s*(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b", re.IGNORECASE)
"""A length of time is no time ("before 83 hours", "by 9 hours"); with "in" before it it is one."""
_SHORTEST = 4
"""Letters of a time that is a name: "we" is no Wednesday, nor "Sun" a day for sure."""
_BEGINS = 16
"""Characters within which a line that promises says so."""
_HOUR, _DAY = 3600.0, 86_400.0
_REPORTED = re.compile(
    r"(?i)\b(?:said|told|promised)\b[^.;]{0,40}?\b(?:i|we|he|she|they)(?:'d| would)\b"
    r"|(?:^|[,;:]\s)\w+ing (?:it|them|this|that)\b"
    r"|\bpromised (?!(?:my|him|her|our|them)sel)(?:the )?[^\W\d]\w+ "
)
"""A promise that is told of, or in the doing; one to oneself binds nobody."""
_HABIT = re.compile(r"(?i)\b(?:every|daily|usually|always|(?:week|mon|tues|wednes|thurs|fri|satur|sun)(?:day|end)s)\b")
"""What is so again and again is not owed."""
_ANYBODY = re.compile(r"(?:^|[,;:]|\b(?:i|we|and|but))\s*$", re.IGNORECASE)
"""What stands before the "will" of who promises; of others it foretells."""
_NUMBER = r"(?:\d+|an?|half an|one|two|three|four|five|six|seven|eight|nine|ten)"
_SAID = re.compile(
    r"(?i)\b(?:at\s+(?=\d{1,2}(?::\d\d|\s?[ap]m)\b|noon\b)|on\s+(?=[^\W\d]+day\b|\d{1,2}\s+[^\W\d]{3})|(?=tomorrow\b)"
    rf"|(?=in\s+{_NUMBER}\s+(?:minute|hour|day|week)s?\b))",
)
"""Where a time begins that a promise names without a word of what is due."""
_WITHIN = re.compile(rf"\bwithin(?=\s+{_NUMBER}\s+(?:minute|hour|day|week)s?\b)", re.IGNORECASE)
_SPAN = re.compile(rf"in\s+{_NUMBER}\s+\w+$", re.IGNORECASE)
_ME = re.compile(r"\b(?:i|i'm|i've|i'd|my|me|mine|we|our|us|hello|hi|dear|regards|thanks?|bless)\b", re.IGNORECASE)
_ANYONES = re.compile(r"\W*(?:how|what|where|why|which|can|should|is|are|do|does|did)\b", re.IGNORECASE)
"""How the title of an article asks, too; who asks for themselves says something of themselves beside it."""
_NOBODY = re.compile(
    r"(?i)\b(?:on earth|who (?:cares|knew|knows|needs|would have)|what else is new|what (?:kind|sort) of)\b|\banyway\?"
    r"|^\W*auto(?:matic|-?)? ?repl"
)
"""A question that wants no answer; what a machine says for who is away asks nothing."""
_RESTORED = re.compile(r"(?i)\b(?:back|again|off|(?:mut|silenc|paus|disabl|suspend)\w+|fix|mend|repair)\b")
"""What is owed is a state that is to be put right; of the rest no state says that it is done."""
_PAST = dict(
    pair.split("/")
    for pair in """sent/send rang/ring rung/ring brought/bring told/tell found/find got/get gave/give given/give
    took/take taken/take wrote/write written/write left/leave bought/buy paid/pay made/make spoke/speak spoken/speak
    shown/show built/build put/put set/set read/read hung/hang drove/drive driven/drive fed/feed held/hold""".split()
)
_AT = re.compile(r",?\s+(?:at\s+)?([01]?\d|2[0-3]):(\d\d)\b")
_OF = re.compile(r"\b(?:of|for|from|to|by)\b")


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is owed: which words say so, and by when."""

    clause: str
    at: Instant
    asked: bool
    """Whether somebody asks for it; else it is promised, or is due by itself."""
    vague: bool = False
    """Whether no hour was said: "today", "by Friday"."""


def _any(words: Sequence[str]) -> re.Pattern[str]:
    longest = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(map(re.escape, longest)) or '(?!)'})(?![\w'-])", re.IGNORECASE)


class CueReader:
    """Reads lines by the words of the settings."""

    def __init__(self, settings: MattersSettings) -> None:
        self._settings = settings
        self._due = _any(settings.due_words)
        self._promise = _any(settings.promise_words)
        self._request = re.compile(_any(settings.request_words).pattern + _OFFER, re.IGNORECASE)
        self._settle = _any((*settings.settle_words, *settings.finish_words))
        self._finish = frozenset(settings.finish_words)
        self._makeshift = _any(settings.makeshift_words)
        self._handing = _any(settings.handing_words)
        self._parts = _any(tuple(settings.parts_of_day))
        self._deeds = lru_cache(_REMEMBERED)(self._past)  # one line is held against many that are open

    def due(self, text: str, time: Instant) -> Due | None:
        """What is owed by a time that lies ahead of ``time``, at most ``ahead`` seconds."""
        for clause in _SENTENCE.split(text):
            if _HABIT.search(clause):
                continue
            sentence = _WITHIN.sub("in", clause)
            promised, asked = self._promised(sentence), bool(self._request.search(sentence))
            for found in self._due.finditer(sentence):
                if found[0].lower() in {"until", "till"} and not promised and not asked:
                    continue  # a state, not a debt
                after = found.start() if self._parts.match(sentence, found.start()) else found.end()
                said = self._time(sentence[after:], time)
                if said is not None and not self._denied(sentence, found.start()):
                    return Due(clause, said[0], asked and not promised, said[1])
            part = self._parts.search(sentence) if promised or asked else None
            vowed = _SAID.finditer(sentence) if self._vowed(sentence) or (asked and sentence != clause) else ()
            for start in (*([part.start()] if part else ()), *(found.end() for found in vowed)):
                if (said := self._time(sentence[start:], time)) is not None:
                    return Due(clause, said[0], asked and not promised, said[1])
        return None

    def asks(self, text: str) -> str:
        """The first sentence that asks somebody for something and does not say that it is over; empty: none does."""
        parts = _SENTENCE.split(text[len(who := speaker(text)) :])
        for sentence in parts:
            asked = self._request.search(sentence)
            denied = asked is not None and self._denied(sentence, asked.start())
            if not (asked or asks(sentence)) or denied or _NOBODY.search(text) or self.settles(sentence):
                continue
            mine = any(_ME.search(each) for each in parts if each != sentence)
            if asked or who or mine or (_ME.search(sentence) and not _ANYONES.match(sentence)):
                return sentence
        return ""

    def requests(self, text: str) -> bool:
        """Whether somebody is asked outright, or was promised an answer; who only orders something wants none."""
        asked = self._request.search(text) and any(map(asks, _SENTENCE.split(text[len(speaker(text)) :])))
        return bool(asked or _REPORTED.search(text))

    def makeshift(self, text: str) -> str:
        """The sentence of a line which says that something is helped for a while; empty where none does."""
        said = ((each, self._makeshift.search(each)) for each in _SENTENCE.split(text[len(speaker(text)) :]))
        return next((each for each, cue in said if cue and len(_content(each[: cue.start()])) >= _NAMED), "")

    def hands_on(self, text: str) -> bool:
        """Whether a line only says that somebody else has it now, or that it is looked at."""
        return self._handing.search(text) is not None

    def promises(self, text: str) -> bool:
        """Whether a line begins with a promise: "I'll check"."""
        body = text[len(speaker(text)) :]
        found = self._promise.search(body, 0, _BEGINS)
        return found is not None and self._promised(body[: found.end()])

    def _hour(self, part: str, now: Instant) -> Instant:
        """When a part of this day ends; what is said after that counts to the end of the day."""
        day = now // _DAY * _DAY
        return at if (at := day + self._settings.parts_of_day[part.lower()] * _HOUR) > now else day + _DAY - 60

    def settles(self, text: str, of: Sequence[str] = (), *, all_of: bool = False) -> str:
        """What in a line says that something is over; empty where nothing does, or it asks, denies or announces it.

        Where the lines of what was open are given, a work that is finished has to be one that they speak of; with
        ``all_of`` a state that is well again as well.
        """
        for sentence in _SENTENCE.split(text):
            found = self._settle.search(sentence)
            if found is not None and self._holds(sentence, found.start()):
                before, cue = sentence[: found.start()], found[0].lower()
                other = of and (all_of or cue in self._finish) and not _about(before, of)
                return "" if other or self._promise.search(before) else cue
        return ""

    def fulfils(self, text: str, owed: str, asks: bool) -> bool:
        """Whether a line says that what was owed is done, by a word for that or by its verb in the past.

        A state that is well again ends only what was to be put right, or what somebody ``asks``.
        """
        cue = self.settles(text, (owed,), all_of=True)
        if cue and (asks or cue in self._finish or _RESTORED.search(owed) or self._makeshift.search(owed)):
            return True
        return not _wanted(owed).isdisjoint(self._deeds(text))

    def _past(self, text: str) -> frozenset[str]:
        """The verbs of what a line says was done."""
        return frozenset(
            verb
            for sentence in _SENTENCE.split(text[len(speaker(text)) :])
            if not self._promise.search(sentence)
            for found in re.finditer(r"[^\W\d_]+", sentence)
            if (verb := _base(found[0].lower())) and self._holds(sentence, found.start())
        )

    @staticmethod
    def _holds(sentence: str, place: int) -> bool:
        """Whether what stands there is said, and neither asked nor denied."""
        return not sentence.rstrip().endswith("?") and not _NEGATION.search(sentence[:place])

    def _vowed(self, sentence: str) -> bool:
        """Whether somebody promises, not only foretells."""
        found = self._promise.search(sentence) if self._promised(sentence) else None
        mine = found and ("'" in found[0] or _ANYBODY.search(sentence[: found.start()]))
        return bool(mine or (found is None and _REPORTED.search(sentence)))

    def _promised(self, sentence: str) -> bool:
        found = self._promise.search(sentence) or _REPORTED.search(sentence)
        if found is None or _HEDGE.search(sentence) or _CONDITION.search(sentence, 0, found.start()):
            return False
        return not self._denied(sentence, found.start())

    def _denied(self, sentence: str, place: int) -> bool:
        """Whether it is said not to be so, or to have been so: a debt that is over or never was."""
        before = sentence[:place].lower()
        was = re.search(r"\b(?:was|were|had|no)\b[^,;]*$", before)
        return bool(_NEGATION.search(before) or was or self.settles(sentence))

    def _time(self, rest: str, now: Instant) -> tuple[Instant, bool] | None:
        """The time that a text begins with, if that lies ahead, and whether it says no hour."""
        import dateparser  # noqa: PLC0415 - a quarter of a second, for who needs it

        rest = rest.strip().removeprefix(":").strip().removeprefix("the ")
        words = re.split(r"(\s+)", rest)
        part = self._parts.match(rest)
        if part is not None:
            if (hour := _AT.match(rest, part.end())) is not None:
                at = now - now % _DAY + int(hour[1]) * _HOUR + int(hour[2]) * 60
                return (at, False) if at > now else None
            return self._hour(part[0], now), True
        settings = {
            "RELATIVE_BASE": datetime.fromtimestamp(now, UTC).replace(tzinfo=None),
            "PREFER_DATES_FROM": "future",
            "RETURN_AS_TIMEZONE_AWARE": False,
            "REQUIRE_PARTS": [],
        }
        for count in range(min(_TOKENS, (len(words) + 1) // 2), 0, -1):
            said = "".join(words[: 2 * count - 1]).strip(" .,;:!?()")
            if not said or not self._dated(said, count):
                continue
            found = dateparser.parse(said, languages=list(self._settings.languages), settings=settings)
            if found is not None:
                vague = not re.search(r"\d:\d|midnight|noon|\d\s?[ap]m|^in\b", said, re.IGNORECASE)
                at = found.replace(tzinfo=UTC).timestamp()
                if vague:  # a day is over when its work is
                    at = at // _DAY * _DAY + self._settings.parts_of_day.get("today", 24.0) * _HOUR
                return (at, vague) if now < at <= now + self._settings.ahead else None
        return None

    @staticmethod
    def _dated(said: str, count: int) -> bool:
        """Whether so many words may be a time: dateparser takes "we", "a second" and "the Sun" for some."""
        if _SPAN.match(said) or any(map(str.isdigit, said)):
            return not said.lower().startswith(("a ", "an ")) and not _LENGTH.match(said)
        return count <= _NAMED and all(len(word) >= _SHORTEST for word in said.split())


def heads(text: str) -> list[str]:
    """What a text has said by the end of each of its sentences."""
    return [text[: cut.start()] for cut in _SENTENCE.finditer(text)] + [text]


@lru_cache(_REMEMBERED)
def _wanted(owed: str) -> frozenset[str]:
    """Verbs of what is owed, one of which in the past says that it is done."""
    tokens = words(owed)
    pairs = zip(["", *tokens], tokens, strict=False)
    return frozenset(_base(word) or stem(word) for before, word in pairs if before == "be" or not _base(word))


def _base(word: str) -> str:
    """The stem of the verb of which a word is the past; empty where it is none."""
    return stem(_PAST[word]) if word in _PAST else stem(word) if word.endswith("ed") and len(word) > _SHORTEST else ""


def _content(text: str) -> list[str]:
    return [stem(w) for w in words(text.replace("'s", "").replace("’s", "")) if w not in STOPWORDS and w[-2:] != "ly"]


def _about(before: str, of: Sequence[str]) -> bool:
    """Whether what is finished, said before the word for that, is spoken of in some lines; so is what is not named."""
    subject = re.split(r"[,;:]\s", before)[-1]
    known = {word for line in of for word in _content(line)}
    ends = [_content(part) for part in (_OF.split(subject)[0], subject)]
    return all(part[-1] in known for part in ends if part)
