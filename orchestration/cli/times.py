"""Times that people type."""

import re
from datetime import datetime
from typing import TypeVar

from environment.messages import Instant
from orchestration.cli.failure import MISUSED, Failure
from orchestration.schema.times import instant

D = TypeVar("D", Instant, None)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def moment(option: str, text: str) -> Instant:
    """What ``option`` was given: a time, or a day for its first moment where this runs. Raises ``Failure``."""
    try:
        if _DAY.fullmatch(text):
            return datetime.fromisoformat(text).astimezone().timestamp()
        return instant(text)
    except (ValueError, OverflowError) as error:
        why = "there is no such day" if _DAY.fullmatch(text) else f"{error}; or a day as in 2026-01-02"
        raise Failure(f"{option} {text}: {why}", MISUSED) from None


def moment_or(option: str, text: str | None, default: D) -> Instant | D:
    """The same where the option was given, else ``default``."""
    return default if text is None else moment(option, text)
