"""Log lines that are records: what one says in words, first its level, then its message, then the rest; and when.

Read are the lines of klog (Kubernetes), logfmt (Go's and others'), syslog (RFC 3164 and 5424), containers' logs as a
runtime keeps them, loggers that put the level before the time, and JSON as most structured loggers write it.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import tzinfo
from typing import Any, Final

from environment.logs.stamps import Stamped, latest, stamped
from environment.messages import Instant

_LEVELS: Final = {"I": "INFO", "W": "WARNING", "E": "ERROR", "F": "FATAL"}
_KLOG: Final = re.compile(
    r"(?P<level>[IWEF])(?P<month>\d\d)(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d)(?:\.(?P<part>\d{1,9}))?"
    r"\s+\d+ (?P<place>[^\s\]]{1,120}:\d+)\] ?"
)
_CONTAINER: Final = re.compile(r"(?:stdout|stderr) [FP] ")
_LEVEL_FIRST: Final = re.compile(
    r"(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|SEVERE|FATAL):?\s+(?P<thread>\[[^\]]{1,120}\]\s+)?"
)
_PRIORITY: Final = re.compile(r"<(\d{1,3})>(?P<version>1 )?")
_SEVERITIES: Final = ("EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG")
_HEADER: Final = re.compile(r"(?P<host>\S+) (?P<app>\S+) \S+ \S+ (?:-|(?:\[[^\]]*\])+)(?: |$)")
"""RFC 5424: host, application, process, message id, structured data."""
_PAIR: Final = re.compile(r'([A-Za-z_@][\w.@/-]{0,79})=("(?:[^"\\]|\\.)*"|[^\s"]*)(?:\s+|$)')
_TIMES: Final = ("ts", "time", "timestamp", "@timestamp", "t", "asctime", "datetime")
_LEVEL_NAMES: Final = ("level", "severity", "lvl", "levelname", "log.level")
_MESSAGES: Final = ("msg", "message", "event", "log")
_OWN: Final = ("ts", "timestamp", "@timestamp", "asctime", "stream", *_LEVEL_NAMES)
"""Names that a record has and a perception has not."""
_FROM_MILLISECONDS: Final = 1e11
"""Seconds since 1970 reach this in the year 5138: what is larger is counted in thousandths, and so on."""
_FIELD: Final = 200
"""Characters of a field beside the message: stacks and dumps of objects are for whoever opens the log."""


def unframed(text: str) -> str:
    """What a perceived text says without a logger's frame, which all lines of that logger share; as it is without."""
    return (_from_json(text, 0.0) or taken_apart(text, 0.0)).text


def taken_apart(line: str, now: Instant, zone: tzinfo | None = None) -> Stamped:
    """``stamped``, for records too, ``now`` and ``zone`` as there.

    Left out are a line's time, its process number, and what is beyond the first line, or 200 characters, of a field.
    """
    found = _record(line, now, zone)
    if found is not None:
        return found
    found = stamped(line, now, zone)
    container = _CONTAINER.match(found.text)
    if found.time is None or container is None or not found.text[container.end() :].strip():
        return found
    return _inside(Stamped(found.time, found.text[container.end() :]), now, zone)


def from_object(value: Mapping[str, Any], now: Instant, zone: tzinfo | None = None) -> Stamped | None:
    """A record that a structured logger wrote as JSON; None where the object is not evidently one."""
    message = _first(value, _MESSAGES)
    if message is None or not isinstance(value[message], str) or not any(name in value for name in _OWN):
        return None
    found = _said(value.items(), message, zone)
    return _inside(found, now, zone) if found is not None and message == "log" else found  # as Docker keeps lines


def _from_json(text: str, now: Instant, zone: tzinfo | None = None) -> Stamped | None:
    """``from_object`` of a text; None where it is none."""
    if text.startswith("{"):
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
            return from_object(value, now, zone) if isinstance(value, dict) else None
    return None


def _inside(said: Stamped, now: Instant, zone: tzinfo | None) -> Stamped:
    """What a container said, which may be a record of its own, with a time of its own."""
    now, text = now if said.time is None else said.time, said.text
    found = _from_json(text, now, zone) or _record(text, now, zone) or stamped(text, now, zone)
    return Stamped(said.time if found.time is None else found.time, found.text)


def _record(line: str, now: Instant, zone: tzinfo | None) -> Stamped | None:
    klog = _KLOG.match(line)
    if klog:
        time = latest(int(klog["month"]), int(klog["day"]), klog["time"], klog["part"], now, zone)
        rest = line[klog.end() :]
        if time is not None and rest.strip():
            return Stamped(time, f"{_LEVELS[klog['level']]} {klog['place']}: {rest}")
        return None
    priority = _PRIORITY.match(line)
    if priority:
        behind = stamped(line[priority.end() :], now, zone)
        header = _HEADER.match(behind.text) if priority["version"] else None
        said = f"{header['host']} {header['app']}: {behind.text[header.end() :]}" if header else behind.text
        return None if behind.time is None else Stamped(behind.time, f"{_SEVERITIES[int(priority[1]) % 8]} {said}")
    first = _LEVEL_FIRST.match(line)
    if first:
        behind = stamped(line[first.end() :], now, zone)
        if behind.time is not None:
            return Stamped(behind.time, f"{first['level']} {first['thread'] or ''}{behind.text}")
        return None
    return _logfmt(line, zone)


def _logfmt(line: str, zone: tzinfo | None) -> Stamped | None:
    pairs: list[tuple[str, str]] = []
    at, end = 0, len(line.rstrip())
    while at < end:
        pair = _PAIR.match(line, at)
        if pair is None:
            return None  # words stand between the pairs: it is something else
        pairs.append((pair[1], pair[2]))
        at = pair.end()
    told = dict(pairs)
    message = _first(told, _MESSAGES)
    if message is None or not any(name in told for name in (*_OWN, "time", "t")):
        return None
    return _said(((name, _unquoted(value)) for name, value in pairs), message, zone)


def _said(pairs: Iterable[tuple[str, Any]], message: str, zone: tzinfo | None) -> Stamped | None:
    """What a record's fields say, first the level, then the one named ``message``; None where that is empty."""
    level = words = ""
    time: object = None
    rest = []
    for name, value in pairs:
        if name == message and not words:
            words = str(value)
        elif name in _TIMES and time is None:
            time = value
        elif name in _LEVEL_NAMES and not level and isinstance(value, str):
            level = value
        elif value not in (None, "") and name != "stream":
            rest.append(f"{name}={_cut(_as_pair(value))}")
    if not words.strip():
        return None
    return Stamped(_when(time, zone), " ".join(filter(None, (level.strip().upper(), words.strip(), *rest))))


def _when(value: object, zone: tzinfo | None) -> Instant | None:
    """ISO 8601, or a number of seconds since 1970 or of thousandths of these, and so on."""
    if isinstance(value, str):
        return stamped(f"{value.strip()} .", 0.0, zone).time
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        return None
    number = float(value)
    while number >= _FROM_MILLISECONDS:
        number /= 1000
    return number


def _first(told: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((name for name in names if name in told), None)


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value[1:-1]


def _cut(value: str) -> str:
    first = value.partition("\\n" if value.startswith('"') else "\n")[0]
    return value if len(value) <= _FIELD and first == value else f"{first[: _FIELD - 1]}…"


def _as_pair(value: object) -> str:
    bare = isinstance(value, str) and not set(value) & set(' "=')
    return str(value) if bare else json.dumps(value, ensure_ascii=False)
