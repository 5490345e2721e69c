"""A bucket that refills, as in Turner's leaky bucket (1986): what a quota is, without saying where it is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from environment.clocks import was_wrong
from environment.messages import Instant
from orchestration.membership.ports import QuotaGrant, QuotaRate


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """What was in it at an instant."""

    level: float
    at: Instant

    def refilled(self, allowance: QuotaRate, now: Instant) -> TokenBucket:
        """As it is at ``now``. A clock that is behind changes nothing: no time is counted twice.

        Unless it is so far behind that the one before it was wrong: then time goes on from here.
        """
        at = now if was_wrong(self.at, now) else self.at
        if now <= at:
            return TokenBucket(min(self.level, allowance.capacity), at)
        level = self.level + (now - at) * allowance.per_second
        return TokenBucket(min(level, allowance.capacity), now)

    def take(self, amount: float, allowance: QuotaRate, now: Instant) -> tuple[TokenBucket, QuotaGrant]:
        """Take ``amount`` or nothing: the bucket after it, and what came of it. Raises ``ValueError`` below zero."""
        if not (math.isfinite(amount) and amount >= 0):
            raise ValueError(f"an amount is a number from 0 on, not {amount!r}")
        full = self.refilled(allowance, now)
        if amount <= full.level:
            return replace(full, level=full.level - amount), QuotaGrant(True, full.level - amount)
        return full, QuotaGrant(False, full.level, self._wait(amount, full, allowance, now))

    @staticmethod
    def _wait(amount: float, full: TokenBucket, allowance: QuotaRate, now: Instant) -> float:
        if amount > allowance.capacity or allowance.per_second <= 0:
            return math.inf
        return max(0.0, full.at - now) + (amount - full.level) / allowance.per_second


def full_bucket(allowance: QuotaRate, now: Instant) -> TokenBucket:
    """A bucket that nobody has taken from."""
    return TokenBucket(allowance.capacity, now)
