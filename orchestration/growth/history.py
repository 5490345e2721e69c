"""What the policy remembers of what was decided: as much as its bounds, and whoever asks again, still need."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from environment.latest import Latest
from environment.messages import Instant
from environment.population import GrowthEvent
from orchestration.growth.proposals import GrowthAct
from orchestration.growth.settings import GrowthSettings

HOUR = 3600.0
DAY = 86_400.0
_GRANTED = 64
"""Grants of one submind that it may still ask about: it proposes one thing at a time, each under a name of its own."""
_ANSWERED = 1024
"""Proposals of which it is told how they were decided, the latest."""
_APART = 1e-3
"""Seconds between two turns that a wrong clock dated: there are as many as before."""


@dataclass(slots=True)
class SubmindRecord:
    """What the policy knows of a submind: its share of the budgets, and when it last took part in a change."""

    generation: int = 0
    """Divisions between it and a configured submind."""
    share: float = 1.0
    """Of what a configured submind may spend, 0 and more."""
    left: float = 0.0
    """What it had when it retired."""
    parent: str = ""
    acted: Instant | None = None
    """When it last took part in a division or a retirement."""
    last: GrowthAct | None = None
    dividing: bool = False
    """It divided or was born, and nothing else was decided about it since."""
    turns: frozenset[Instant] = frozenset()
    """When it turned from dividing to retiring or back, within a day."""

    def take_part(self, act: GrowthAct, at: Instant) -> None:
        """It divided, was born, retired or inherited at ``at``; turns older than a day are forgotten."""
        turned = {at} if self.last is not None and self.last is not act else set[Instant]()
        self.turns = frozenset({turn for turn in self.turns if turn + DAY > at} | turned)
        self.acted, self.last, self.dividing = at, act, act is GrowthAct.DIVIDE

    def set_back(self, now: Instant) -> None:
        """What lies ahead of now was dated by a wrong clock: it was now."""
        if self.acted is not None:
            self.acted = min(self.acted, now)
        ahead = sum(at > now for at in self.turns)
        self.turns = frozenset({at for at in self.turns if at <= now} | {now - _APART * n for n in range(ahead)})


@dataclass(slots=True)
class DecisionHistory:
    """Decisions as far as they count. Pure; what is forgotten, and when, follows from the log alone.

    Guarantee: its size is bounded by who lives, by the bounds of growth, and by what happened within a day.
    """

    births: deque[Instant] = field(default_factory=deque)
    retirements: deque[Instant] = field(default_factory=deque)
    permits: dict[tuple[str, str], GrowthEvent] = field(default_factory=dict)
    """Approvals that were not made use of, by submind and act."""
    refusals: dict[tuple[str, str, str], Instant] = field(default_factory=dict)
    """When the log last said a refusal, by submind, act and limit."""
    _granted: dict[str, Latest[str, GrowthEvent]] = field(default_factory=dict)
    _answered: Latest[int, GrowthEvent] = field(default_factory=lambda: Latest(_ANSWERED))
    _ended: deque[tuple[Instant, str]] = field(default_factory=deque)

    def granted(self, submind: str, growth: str) -> GrowthEvent | None:
        """What a submind was granted under that name, where it may still ask."""
        return self._granted[submind].get(growth) if growth and submind in self._granted else None

    def grant(self, event: GrowthEvent) -> None:
        """Remember a division or retirement that was granted, the latest 64 of each submind."""
        self._granted.setdefault(event.submind, Latest(_GRANTED))[event.growth] = event

    def answered(self, number: int) -> GrowthEvent | None:
        """How a proposal was decided, where that was not long ago."""
        return self._answered.get(number)

    def answer(self, event: GrowthEvent) -> None:
        """Remember how an operator decided on a proposal, the latest 1,024."""
        self._answered[event.proposal] = event

    def end(self, event: GrowthEvent) -> None:
        """Remember that a submind retired, for a day: so long its share may be asked about."""
        self._ended.append((event.at, event.submind))

    def forget(self, now: Instant, settings: GrowthSettings) -> set[str]:
        """Let go of what counts no more; who ended so long ago that nobody asks what it had."""
        for times in (self.births, self.retirements):
            while times and times[0] + HOUR <= now:
                times.popleft()
        self.permits = {key: each for key, each in self.permits.items() if each.at + settings.approval_holds > now}
        self.refusals = {key: at for key, at in self.refusals.items() if at + settings.said_again > now}
        gone: set[str] = set()
        while self._ended and self._ended[0][0] + DAY <= now:
            name = self._ended.popleft()[1]
            self._granted.pop(name, None)
            gone.add(name)
        return gone

    def set_back(self, now: Instant) -> None:
        """What lies ahead of now was dated by a wrong clock: it was now."""
        self.births, self.retirements = _until(now, self.births), _until(now, self.retirements)
        self._ended = deque((min(at, now), name) for at, name in self._ended)
        self.refusals = {key: min(at, now) for key, at in self.refusals.items()}
        self.permits = {key: replace(each, at=min(each.at, now)) for key, each in self.permits.items()}


def _until(now: Instant, times: Iterable[Instant]) -> deque[Instant]:
    return deque(min(at, now) for at in times)
