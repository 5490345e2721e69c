"""A token bucket on mind time: how many thoughts something may have an hour."""

from __future__ import annotations

from environment.messages import Instant


class Allowance:
    """``per_hour`` in the long run, a quarter of an hour's worth at once.

    Guarantee: within any span ``t`` at most ``burst + per_hour * t / 3600`` are granted.
    """

    def __init__(self, per_hour: float, burst: float | None = None) -> None:
        self._rate = per_hour / 3600.0
        self._burst = max(1.0, per_hour / 4 if burst is None else burst)
        self.left = self._burst
        self.at: Instant | None = None

    def configure(self, per_hour: float, now: Instant, burst: float | None = None) -> None:
        """From ``now`` on it is another rate: what was spent stays spent, what was saved up to the old rate stays."""
        if self.at is not None:
            self.ready(now)
        self._rate = per_hour / 3600.0
        self._burst = max(1.0, per_hour / 4 if burst is None else burst)
        self.left = min(self.left, self._burst)

    def take(self, now: Instant) -> bool:
        """Spend one, if there is one."""
        if not self.ready(now):
            return False
        self.left -= 1
        return True

    def ready(self, now: Instant) -> bool:
        """True when ``take`` would succeed."""
        if self.at is not None and now > self.at:
            self.left = min(self._burst, self.left + self._rate * (now - self.at))
        self.at = now if self.at is None else max(self.at, now)
        return self.left >= 1
