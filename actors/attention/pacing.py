"""How the threshold moves so that the stream keeps to its rate, or a replay to its budget."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import msgspec

from environment.messages import Instant

_AMPLE = 10
"""Thoughts in a total of which the first is given away: less, and what is known later is worth more."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A replay's total: so many thoughts out of about so much history."""

    thoughts: int
    perceptions: int
    """Expected number of perceptions."""
    span: float
    """Expected length in seconds of event time."""


class PaceState(msgspec.Struct, array_like=True):
    """A pace as it is saved."""

    times: list[Instant]
    at: Instant | None
    offered: int
    picked: int
    allowed: float = 0.0


class Pace(Protocol):
    """Decides what share of the winners may pass."""

    offered: int
    picked: int
    bounded: bool
    """True where there is a total: nothing is given away then."""
    ample: bool
    """True where one thought is a small part of what there is room for: even one of readings may be the first."""

    @property
    def spent(self) -> bool:
        """True once a total is used up."""

    def again(self) -> Pace:
        """Another one like it, from its beginning."""

    def interval(self) -> float:
        """Mean seconds between thoughts that is aimed at."""

    def share(self, now: Instant) -> float:
        """The share of winners, this one included, that there is room for; called once per winner."""

    def configure(self, per_hour: float, now: Instant) -> None:
        """From ``now`` on it is another rate; a total stays what it is."""

    def dump(self) -> PaceState:
        """For a snapshot."""

    def load(self, state: PaceState) -> None:
        """From a snapshot."""


class RatePace:
    """A rate an hour, balanced over the next ``horizon`` thoughts.

    What is more behind or ahead than these is forgotten: after a quiet week the stream is not fuller for weeks.
    """

    bounded = spent = False
    ample = True

    def __init__(self, per_hour: float, horizon: int, memory: int) -> None:
        self._rate = per_hour / 3600.0
        self._horizon = horizon
        self._times: deque[Instant] = deque(maxlen=memory)
        self._at: Instant | None = None
        self._allowed = 0.0
        """How many might have been picked until then."""
        self.offered = 0
        self.picked = 0

    def again(self) -> RatePace:
        return RatePace(self._rate * 3600.0, self._horizon, self._times.maxlen or 0)

    def interval(self) -> float:
        return 1.0 / self._rate

    def share(self, now: Instant) -> float:
        self._pass_time(now)
        self._times.append(now)
        span = max(now - self._times[0], 60.0)
        coming = max(1.0, len(self._times) / span * self._horizon / self._rate)
        ahead = max(-self._horizon, min(self._horizon, self._allowed - self.picked))
        self._allowed = self.picked + ahead
        return (self._horizon + ahead) / coming

    def configure(self, per_hour: float, now: Instant) -> None:
        if self._at is not None:  # as far ahead as it was
            self._pass_time(now)
        self._rate = per_hour / 3600.0

    def dump(self) -> PaceState:
        return PaceState(list(self._times), self._at, self.offered, self.picked, self._allowed)

    def load(self, state: PaceState) -> None:
        self._at, self.offered, self.picked, self._allowed = state.at, state.offered, state.picked, state.allowed
        self._times.extend(state.times)

    def _pass_time(self, now: Instant) -> None:
        self._allowed += self._rate * (now - (now if self._at is None else self._at))
        self._at = now


class BudgetPace:
    """A total over a known history: what is left is spread over the winners still to come.

    Guarantee: never more than ``budget.thoughts``.
    """

    bounded = True

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.ample = budget.thoughts >= _AMPLE
        self._start: Instant | None = None
        self._winners = 0
        self.offered = 0
        self.picked = 0

    @property
    def spent(self) -> bool:
        return self.picked >= self._budget.thoughts

    def again(self) -> BudgetPace:
        return BudgetPace(self._budget)

    def interval(self) -> float:
        return self._budget.span / max(1, self._budget.thoughts)

    def share(self, now: Instant) -> float:
        self._start = now if self._start is None else self._start
        self._winners += 1
        if self.spent:
            return 0.0
        by_count = min(1.0, self.offered / max(1, self._budget.perceptions))
        by_time = min(1.0, (now - self._start) / self._budget.span) if self._budget.span > 0 else by_count
        done = max(1e-6, (by_count + by_time) / 2)
        return (self._budget.thoughts - self.picked) / (self._winners * (1 - done) / done + 1.0)

    def configure(self, per_hour: float, now: Instant) -> None:
        """A total has no rate."""

    def dump(self) -> PaceState:
        return PaceState([], self._start, self.offered, self.picked, self._winners)

    def load(self, state: PaceState) -> None:
        self._start, self.offered, self.picked = state.at, state.offered, state.picked
        self._winners = int(state.allowed)
