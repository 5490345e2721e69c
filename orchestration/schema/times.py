"""Times and spans: as numbers of seconds, as texts (RFC 3339), as messages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from math import floor
from typing import TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

if TYPE_CHECKING:
    from environment.messages import Instant

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST, _LATEST = -62_135_596_800, 253_402_300_799
"""The years 1 and 9999: all that a timestamp may say."""
_LONGEST = 315_576_000_000
"""Ten thousand years: all that a duration may say."""
_BILLION = 1_000_000_000
_RFC3339 = re.compile(r"^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$")
_TIME_FORM = "a time is RFC 3339 with its offset, for example 2026-01-02T03:04:05Z, or seconds since 1970"


def rfc3339(instant: Instant) -> str:
    """An instant as ``2026-01-02T03:04:05Z``, with microseconds where there are any; kept within years 1 to 9999."""
    at = _EPOCH + timedelta(seconds=min(max(instant, _EARLIEST), _LATEST))
    return at.isoformat().replace("+00:00", "Z")


def instant(text: str) -> Instant:
    """The instant an RFC 3339 text or a number of seconds since the epoch names. Raises ValueError, saying the form."""
    try:
        if _RFC3339.match(text):
            return datetime.fromisoformat(text.upper().replace(" ", "T")).timestamp()
        seconds = float(text)
    except (ValueError, OverflowError) as error:
        raise ValueError(_TIME_FORM) from error
    if not _EARLIEST <= seconds <= _LATEST:
        raise ValueError(_TIME_FORM)
    return seconds


def _parts(seconds: float) -> tuple[int, int]:
    whole = floor(seconds)
    nanos = round((seconds - whole) * _BILLION)
    return (whole + 1, 0) if nanos == _BILLION else (whole, nanos)


def timestamp(time: Instant) -> Timestamp:
    """Seconds since 1970 as a timestamp, kept within the years 1 to 9999."""
    seconds, nanos = _parts(min(max(time, _EARLIEST), _LATEST))
    return Timestamp(seconds=seconds, nanos=nanos)


def duration(length: float) -> Duration:
    """Seconds, not negative, as a duration."""
    seconds, nanos = _parts(min(max(length, 0.0), _LONGEST))
    return Duration(seconds=seconds, nanos=nanos)


def seconds_of(sent: Timestamp | Duration) -> float:
    """A timestamp as seconds since 1970, a duration as its seconds."""
    return sent.seconds + sent.nanos * 1e-9
