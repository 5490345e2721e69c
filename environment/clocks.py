"""Clocks that were wrong for a while: what was dated by one, once it is set right again.

A machine that took local time for UTC when it started is hours ahead until somebody tells it. Whatever was dated then
lies in a future that may be years away; nothing may wait for that.
"""

from __future__ import annotations

import math

from environment.messages import Instant

SET_BACK = 600.0
"""Seconds by which something lies ahead of now from which the clock that dated it was wrong. Less than that is what
clocks of several machines differ by, or a time that was read out of turn."""


def was_wrong(at: Instant, now: Instant) -> bool:
    """Whether the clock that showed ``at`` must have been set back since."""
    return at - now > SET_BACK


def dated(at: Instant, now: Instant) -> Instant:
    """``at``; or ``now``, where a wrong clock showed it."""
    return now if was_wrong(at, now) else at


def elapsed(since: Instant, now: Instant) -> float:
    """Seconds since an instant, below zero where it is a little ahead; endless where a wrong clock showed it."""
    return math.inf if was_wrong(since, now) else now - since
