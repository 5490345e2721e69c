"""What a line says of a matter: when something is due, that it is promised or asked for, that it is over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from actors.matters.settings import MattersSettings
from actors.substrate.sentences import speaker
from environment.messages import Instant

_SENTENCE = re.compile(r"(?<=[.!?;])(?<!\d\.)\s+|\n+")
_TOKENS, _NAMED = 6, 2
"""Words of which a time is made at most, with a figure in it and without."""
_NEGATION = re.compile(
    r"\b(?:not|no|never|isn't|wasn't|aren't|won't|can't|cannot|don't|didn't|doesn't)\s+(?:\w+\s+){0,2}$"
)
_CONDITION = re.compile(r"\b(?:if|unless|maybe|perhaps)\b", re.IGNORECASE)
_LENGTH = re.compile(r"(?:at\s+)?\d+\s*(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b", re.IGNORECASE)
"""A length of time is no time ("before 83 hours", "by 9 hours"); with "in" before it it is one."""
_SHORTEST = 4
"""Letters of a time that is a name: "we" is no Wednesday, nor "Sun" a day for sure."""
_BEGINS = 16
"""Characters within which a line that promises says so."""
_HOUR, _DAY = 3600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is owed: which words say so, and by when."""

    clause: str
    at: Instant
    asked: bool
    """Whether somebody asks for it; else it is promised, or is due by itself."""


def _any(words: Sequence[str]) -> re.Pattern[str]:
    longest = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(map(re.escape, longest)) or '(?!)'})(?![\w'-])", re.IGNORECASE)


class CueReader:
    """Reads lines by the words of the settings."""

    def __init__(self, settings: MattersSettings) -> None:
        self._settings = settings
        self._due = _any(settings.due_words)
        self._promise = _any(settings.promise_words)
        self._request = _any(settings.request_words)
        self._settle = _any(settings.settle_words)
        self._parts = _any(tuple(settings.parts_of_day))

    def due(self, text: str, time: Instant) -> Due | None:
        """What is owed by a time that lies ahead of ``time``, at most ``ahead`` seconds."""
        for sentence in _SENTENCE.split(text):
            promised, asked = self._promised(sentence), bool(self._request.search(sentence))
            for found in self._due.finditer(sentence):
                if found[0].lower() in {"until", "till"} and not promised and not asked:
                    continue  # a state, not a debt
                at = self._time(sentence[found.end() :], time)
                if at is not None and not self._denied(sentence, found.start()):
                    return Due(sentence, at, asked and not promised)
            if promised or asked:
                part = self._parts.search(sentence)
                at = part and self._hour(part[0], time)
                if at is not None:
                    return Due(sentence, at, asked and not promised)
        return None

    def asks(self, text: str) -> str:
        """The first sentence that asks for something and does not say that it is over; empty where none does."""
        for sentence in _SENTENCE.split(text[len(speaker(text)) :]):
            asked = self._request.search(sentence)
            denied = asked is not None and self._denied(sentence, asked.start())
            if (asked or sentence.rstrip().endswith("?")) and not denied and not self.settles(sentence):
                return sentence
        return ""

    def promises(self, text: str) -> bool:
        """Whether a line begins with a promise: "I'll check"."""
        body = text[len(speaker(text)) :]
        found = self._promise.search(body, 0, _BEGINS)
        return found is not None and self._promised(body[: found.end()])

    def _hour(self, part: str, now: Instant) -> Instant | None:
        """When a part of this day ends, if that lies ahead."""
        at = now - now % _DAY + self._settings.parts_of_day[part.lower()] * _HOUR
        return at if at > now else None

    def settles(self, text: str) -> str:
        """What in a line says that something is over; empty where nothing does, or it asks, denies or announces it."""
        for sentence in _SENTENCE.split(text):
            found = self._settle.search(sentence)
            if (
                found is not None
                and not sentence.rstrip().endswith("?")
                and not _NEGATION.search(sentence[: found.start()])
            ):
                return "" if self._promise.search(sentence[: found.start()]) else found[0].lower()
        return ""

    def _promised(self, sentence: str) -> bool:
        found = self._promise.search(sentence)
        if found is None or _CONDITION.search(sentence, 0, found.start()):
            return False
        return not self._denied(sentence, found.start())

    def _denied(self, sentence: str, place: int) -> bool:
        """Whether it is said not to be so, or to have been so: a debt that is over or never was."""
        before = sentence[:place].lower()
        return (
            bool(_NEGATION.search(before))
            or bool(re.search(r"\b(?:was|were|had|no)\b", before))
            or bool(self.settles(sentence))
        )

    def _time(self, rest: str, now: Instant) -> Instant | None:
        """The time that a text begins with, if that lies ahead."""
        import dateparser  # noqa: PLC0415 - a quarter of a second, for who needs it

        rest = rest.strip().removeprefix(":").strip().removeprefix("the ")
        words = re.split(r"(\s+)", rest)
        part = self._parts.match(rest)
        if part is not None:
            return self._hour(part[0], now)
        base = datetime.fromtimestamp(now, UTC).replace(tzinfo=None)
        settings = {
            "RELATIVE_BASE": base,
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
                if found.hour == found.minute == 0 and not re.search(r"\d:\d|midnight", said):
                    found += timedelta(hours=23, minutes=59)  # a day is over at its end
                at = found.replace(tzinfo=UTC).timestamp()
                return at if now < at <= now + self._settings.ahead else None
        return None

    @staticmethod
    def _dated(said: str, count: int) -> bool:
        """Whether so many words may be a time: dateparser takes "we", "a second" and "the Sun" for some."""
        if any(map(str.isdigit, said)):
            return not said.lower().startswith(("a ", "an ")) and not _LENGTH.match(said)
        return count <= _NAMED and all(len(word) >= _SHORTEST for word in said.split())
