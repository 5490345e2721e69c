"""Times as log lines carry them: at the front of the line, or where a web server puts them."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final

from environment.messages import Instant

_ISO: Final = re.compile(
    r"[\[(<]?(?P<date>\d{4}[-/]\d{2}[-/]\d{2})[T _](?P<time>\d{2}:\d{2}:\d{2})(?:[.,](?P<part>\d{1,9}))?"
    r" ?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?[\])>]?(?=[\s|:,]|$)[\s|:,]*"
)
_SYSLOG: Final = re.compile(
    r"(?:<\d{1,3}>)?(?P<month>[A-Z][a-z]{2}) (?P<day>[ 0-3]?\d) (?P<time>\d{2}:\d{2}:\d{2})(?:\.(?P<part>\d{1,9}))?\s+"
)
_ACCESS: Final = re.compile(r"\[(\d{2})/([A-Z][a-z]{2})/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{4})\]")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY: Final = 86_400.0
_FRONT: Final = 80
_ACCESS_FRONT: Final = 400


@dataclass(frozen=True, slots=True)
class Stamped:
    """A line taken apart."""

    time: Instant | None
    """When the line says it happened; None when it does not say."""
    text: str
    """The rest of the line."""


def stamped(line: str, now: Instant, zone: tzinfo | None = None) -> Stamped:
    """Read the time a line begins with: ISO 8601, syslog and journal, or a web server's access log.

    A time without an offset is in ``zone`` (None: this machine's). A time without a year is the latest such time that
    is not more than a day after ``now``. A line that is nothing but a time keeps it as its text.
    """
    found = _ISO.match(line[:_FRONT])
    if found:
        return _cut(line, found.end(), _iso(found, zone))
    found = _SYSLOG.match(line[:_FRONT])
    if found:
        return _cut(line, found.end(), _syslog(found, now, zone))
    access = _ACCESS.search(line[:_ACCESS_FRONT])
    if access and access[2] in _MONTHS:
        month = _MONTHS.index(access[2]) + 1
        return Stamped(_instant(f"{access[3]}-{month:02}-{access[1]}T{access[4]}{access[5]}", zone), line)
    return Stamped(None, line)


def _cut(line: str, end: int, time: Instant | None) -> Stamped:
    rest = line[end:]
    return Stamped(time, line if time is None or not rest.strip() else rest)


def _iso(found: re.Match[str], zone: tzinfo | None) -> Instant | None:
    offset = {"UTC": "Z", "GMT": "Z", None: ""}.get(found["zone"], found["zone"] or "")
    text = f"{found['date'].replace('/', '-')}T{found['time']}{_fraction(found['part'])}{offset}"
    return _instant(text, zone)


def _syslog(found: re.Match[str], now: Instant, zone: tzinfo | None) -> Instant | None:
    if found["month"] not in _MONTHS:
        return None
    month = _MONTHS.index(found["month"]) + 1
    return latest(month, int(found["day"]), found["time"], found["part"], now, zone)


def latest(
    month: int, day: int, time: str, part: str | None, now: Instant, zone: tzinfo | None = None
) -> Instant | None:
    """The latest such time (``HH:MM:SS`` and digits of a fraction) not more than a day after ``now``; None if none."""
    this_year = datetime.fromtimestamp(now, zone or UTC).year
    for year in range(this_year + 1, this_year - 9, -1):  # 29 February needs up to eight years
        moment = _instant(f"{year}-{month:02}-{day:02}T{time}{_fraction(part)}", zone)
        if moment is not None and moment <= now + _DAY:
            return moment
    return None


def _fraction(part: str | None) -> str:
    return f".{part[:6]:0<6}" if part else ""


def _instant(text: str, zone: tzinfo | None) -> Instant | None:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None and zone is not None:
            moment = moment.replace(tzinfo=zone)
        return moment.timestamp()
    except (ValueError, OverflowError):
        return None
