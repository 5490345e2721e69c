"""A bucket that refills, as in Turner's leaky bucket (1986): what a quota is, without saying where it is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from environment.clocks import dated
from environment.messages import Instant
from orchestration.membership.ports import Allowance, Taken


@dataclass(frozen=True, slots=True)
class Bucket:
    """What was in it at an instant."""

    level: float
    at: Instant

    def refilled(self, allowance: Allowance, now: Instant) -> Bucket:
        """As it is at ``now``. A clock that is behind changes nothing: no time is counted twice.

        Unless it is so far behind that the one before it was wrong: then time goes on from here.
        """
        at = dated(self.at, now)
        if now <= at:
            return Bucket(min(self.level, allowance.capacity), at)
        level = self.level + (now - at) * allowance.per_second
        return Bucket(min(level, allowance.capacity), now)

    def take(self, amount: float, allowance: Allowance, now: Instant) -> tuple[Bucket, Taken]:
        """Take ``amount`` or nothing: the bucket after it, and what came of it. Raises ``ValueError`` below zero."""
        if not (math.isfinite(amount) and amount >= 0):
            raise ValueError(f"an amount is a number from 0 on, not {amount!r}")
        full = self.refilled(allowance, now)
        if amount <= full.level:
            return replace(full, level=full.level - amount), Taken(True, full.level - amount)
        return full, Taken(False, full.level, self._wait(amount, full, allowance, now))

    @staticmethod
    def _wait(amount: float, full: Bucket, allowance: Allowance, now: Instant) -> float:
        if amount > allowance.capacity or allowance.per_second <= 0:
            return math.inf
        return max(0.0, full.at - now) + (amount - full.level) / allowance.per_second


def fresh(allowance: Allowance, now: Instant) -> Bucket:
    """A bucket that nobody has taken from."""
    return Bucket(allowance.capacity, now)
