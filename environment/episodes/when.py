"""The time that a text speaks of: a day, a week, a month or a year, what lies before or after one, or what happened."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf

from environment.messages import Instant

_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_TH = r"(?:st|nd|rd|th)?"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NUMBER = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
_IN = r"(?:in|during|since|until|before|after|of|last)"
_TIMES = re.compile(
    rf"\b(?:(?P<iso>\d{{4}}-\d\d-\d\d)"
    rf"|(?P<date>\d{{1,2}}{_TH}(?: of)? {_MONTH}(?:,? \d{{4}})?|{_MONTH} \d{{1,2}}{_TH}\b(?:,? \d{{4}})?)"
    rf"|(?P<ago>{_NUMBER} (?:minute|hour|day|week|month|year)s? ago)"
    rf"|(?P<near>today|tonight|this morning|yesterday|last night)"
    rf"|(?P<weekday>(?:(?:on|last|this|past) )?{_DAY})"
    rf"|(?P<last>(?:last|past|this) (?:week|weekend|month|year))"
    rf"|(?P<month>{_IN} {_MONTH}(?:,? \d{{4}}|(?! \d))|{_MONTH} \d{{4}})"
    rf"|(?P<year>{_IN} (?:19|20)\d\d(?!-)))(?!\w)",
    re.IGNORECASE,
)  # fmt: skip
_SIDE = re.compile(r"\b(before|until|till|by|after|since)(?: the)?\s*$", re.IGNORECASE)
_EVENT = re.compile(
    r"\b(?P<side>before|until|after|since|following) (?P<event>(?:the|an?|my|our|his|her|their|\w+['’]s) [^,;:?!.]+)",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^(?:in|during|since|until|before|after|of|on|last|this|past) ", re.IGNORECASE)
_WEEK = 7


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time that a text names."""

    said: str
    since: Instant
    """Inclusive."""
    until: Instant
    """Exclusive."""
    event: str = ""
    """Empty, or the words of what it is before or after: when that was is only guessed."""


def period(text: str, now: Instant) -> Period | None:
    """The first time that a text names, as seen from ``now``: of the past where it may be either. In UTC, English."""
    found = _TIMES.search(text)
    if found is None or found.lastgroup is None:
        return None
    kind, said = found.lastgroup, found[0]
    try:
        begin, end = _bounds(kind, said, datetime.fromtimestamp(now, UTC))
    except OverflowError:  # it ends after the year 9999
        return None
    if begin is None or end is None:
        return None
    since, until = begin.timestamp(), end.timestamp()
    side = (_SIDE.search(text[: found.start()]) or _LEADING.match(said) or [""])[0].split()
    if side and side[0].lower() in {"before", "until", "till", "by"}:
        since, until = -inf, until if side[0].lower() == "by" else since
    elif side and side[0].lower() in {"after", "since"}:
        since, until = (until if side[0].lower() == "after" else since), inf
    return Period(said, since, until)


def event_in(text: str) -> tuple[str, str] | None:
    """(Before or after, what) where a text names a time by what happened then; None where it does not."""
    found = _EVENT.search(text)
    if found is None:
        return None
    side = found["side"].lower()
    return "before" if side in {"before", "until"} else "after", found["event"]


def _bounds(kind: str, said: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Begin and end of what is said."""
    low = said.lower()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if kind == "near":
        begin = today - timedelta(days=low in {"yesterday", "last night"})
        return begin, begin + timedelta(days=1 + (low == "last night") / 2)
    if kind == "last":
        unit, back = low.split()[1], low.split()[0] == "last"
        if unit.startswith("week"):
            monday = today - timedelta(days=today.weekday() + _WEEK * back)
            return monday + timedelta(days=5 * (unit == "weekend")), monday + timedelta(days=_WEEK)
        begin = today.replace(day=1) if unit == "month" else today.replace(month=1, day=1)
        if back:
            before = begin - timedelta(days=1)
            begin = before.replace(day=1) if unit == "month" else before.replace(month=1, day=1)
        return begin, _after(begin, unit)
    if kind == "year":
        begin = today.replace(year=int(low[-4:]), month=1, day=1)
        return begin, _after(begin, "year")
    parsed = _parsed(_LEADING.sub("", said), now)
    if parsed is None:
        return None, None
    if kind == "ago":
        unit = next(unit for unit in ("minute", "hour", "day", "week", "month", "year") if unit in low)
        slack = {"minute": 5 / 1440, "hour": 1 / 24, "day": 0.5, "week": 3.5, "month": 15, "year": 183}[unit]
        return parsed - timedelta(days=slack), parsed + timedelta(days=slack)
    begin = parsed.replace(hour=0, minute=0, second=0, microsecond=0)
    return begin, _after(begin, "month" if kind == "month" else "day")


def _after(begin: datetime, unit: str) -> datetime:
    if unit == "day":
        return begin + timedelta(days=1)
    later = begin + timedelta(days=366 if unit == "year" else 31)
    return later.replace(day=1, month=1 if unit == "year" else later.month)


def _parsed(said: str, now: datetime) -> datetime | None:
    import dateparser  # noqa: PLC0415 - a quarter of a second, for who needs it

    settings = {
        "RELATIVE_BASE": now.replace(tzinfo=None),
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    found = dateparser.parse(said, languages=["en"], settings=settings)
    return None if found is None else found.replace(tzinfo=UTC)
