"""A token bucket on mind time: how many thoughts something may have an hour."""

from environment.messages import Instant


class Allowance:
    """``per_hour`` in the long run, a quarter of an hour's worth at once.

    Guarantee: within any span ``t`` at most ``burst + per_hour * t / 3600`` are granted. Time that runs back stands
    still.
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

    def take(self, now: Instant, leave: int = 0) -> bool:
        """Spend one, if there is one beside those to be left."""
        if not self.ready(now) or self.left < 1 + leave:
            return False
        self.left -= 1
        return True

    def put_by(self, part: float, now: Instant) -> float:
        """Take ``part`` (0..1) of what is left out, for somebody else; how much that is."""
        self.ready(now)
        amount = self.left * part
        self.left -= amount
        return amount

    def add(self, amount: float, now: Instant) -> None:
        """What another had saved up and gives; no more is kept than it could save up itself."""
        self.ready(now)
        self.left = min(self._burst, self.left + amount)

    def begin(self, left: float, now: Instant) -> None:
        """Go on from what another gave, instead of from all that could be saved up."""
        self.left, self.at = min(self._burst, left), now

    def ready(self, now: Instant) -> bool:
        """True when ``take`` would succeed."""
        if self.at is not None:
            self.left = min(self._burst, self.left + self._rate * max(0.0, now - self.at))
        self.at = now if self.at is None else max(self.at, now)
        return self.left >= 1
