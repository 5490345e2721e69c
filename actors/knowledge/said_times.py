"""Times as people write them: weekdays, dates, hours. Fast, English, and far from all there is (see dateparser)."""

import re
from datetime import UTC, datetime, timedelta

from environment.messages import Instant

_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTHS = "january february march april may june july august september october november december".split()


def _names(words: list[str]) -> str:
    return "|".join(f"{word[:3]}(?:{word[3:]})?" if len(word) > 3 else word for word in words)  # noqa: PLR2004


_HOUR = r"(?:(?P<h>\d{1,2}):(?P<mi>\d\d)(?:\s?(?P<ap>[ap]m))?|(?P<h2>\d{1,2})\s?(?P<ap2>[ap]m)|(?P<noon>noon|midnight))"
_DATE = (
    rf"(?:(?P<y>\d{{4}})-(?P<mo>\d\d)-(?P<d>\d\d)|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?"
    rf"\s+(?P<mn>{_names(_MONTHS)})"
    rf"|(?P<mn2>{_names(_MONTHS)})\s+(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?)"
)
_DAY = rf"(?P<rel>today|tonight|tomorrow|yesterday|now)|(?P<next>next\s+)?(?P<wd>{_names(_WEEKDAYS)})"
TIME = re.compile(
    rf"(?:(?:on|at|the)\s+)*(?:(?:{_DAY})?(?:,?\s*(?:the\s+)?{_DATE})?(?:,?\s*(?:at\s+)?{_HOUR})?)"
    r"(?:\s*(?:utc|sharp|o'clock))?",
    re.IGNORECASE,
)


def parsed(text: str, now: Instant) -> tuple[Instant, bool] | None:
    """(The time that the whole of ``text`` says, whether it says an hour); None where it is none."""
    text = text.strip(" .,;!")
    found = TIME.fullmatch(text) if text else None
    if found is None:
        return None
    try:
        at = datetime.fromtimestamp(now, UTC)
        day, dated = _day(found, at.replace(hour=0, minute=0, second=0, microsecond=0))
        hour = _hour(found)
        if hour is not None:
            return (day + timedelta(hours=hour)).timestamp(), True
    except (ValueError, OverflowError):  # no such day, or one beyond the years there are
        return None
    if found["rel"] in {"now", "Now"}:
        return now, True
    return (day.timestamp(), False) if dated else None


def _day(found: re.Match[str], day: datetime) -> tuple[datetime, bool]:
    if number := found["d"] or found["d2"] or found["d3"]:
        month = found["mo"] or _MONTHS.index(_whole(found["mn"] or found["mn2"], _MONTHS)) + 1
        date = day.replace(year=int(found["y"] or day.year), month=int(month), day=int(number))
        if not found["y"] and (day - date).days > 180:  # noqa: PLR2004 - of two years the nearer
            date = date.replace(year=day.year + 1)
        return date, True
    if weekday := found["wd"]:
        ahead = (_WEEKDAYS.index(_whole(weekday, _WEEKDAYS)) - day.weekday()) % 7
        return day + timedelta(days=ahead + (7 if found["next"] and ahead < 2 else 0)), True  # noqa: PLR2004
    relative = (found["rel"] or "").lower()
    return day + timedelta(days={"tomorrow": 1, "yesterday": -1}.get(relative, 0)), bool(relative)


def _hour(found: re.Match[str]) -> float | None:
    if found["noon"]:
        return 12.0 if found["noon"].lower() == "noon" else 0.0
    said = found["h"] or found["h2"]
    if said is None:
        return None
    hour, half = int(said), (found["ap"] or found["ap2"] or "").lower()
    if hour > 23 + (half == ""):
        raise ValueError(said)
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return hour + int(found["mi"] or 0) / 60


def _whole(word: str, words: list[str]) -> str:
    return next(each for each in words if each.startswith(word[:3].lower()))


def shown(at: Instant, *, hour: bool) -> str:
    """As a fact keeps it: ``2026-03-12 14:00``, UTC; without the hour where none was said."""
    return f"{datetime.fromtimestamp(at, UTC):{'%Y-%m-%d %H:%M' if hour else '%Y-%m-%d'}}"
