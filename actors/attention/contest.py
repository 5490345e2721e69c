"""Candidates in competition, and who is heard how much: a flood competes with itself, not with what it would drown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from actors.attention.pacing import Pace, PaceState
from actors.attention.settings import AttentionSettings
from actors.perception.wording import clean
from actors.running import RunningRank
from actors.substrate.ports import Request
from environment.decisions import Decision, Ground
from environment.messages import Instant, Trace
from environment.severity import salience_of

_WINDOW = 16_384
"""Perceptions by which it is judged who is loud; they fade by half as it fills."""
_FLOOD = 1000
"""Perceptions in it that make a source loud."""
_LOUDER = 100
"""How many times as much as another a source says that drowns it."""
_FIRST_WORDS = 80
"""Characters of a rival that are told."""
_FEW, _REMEMBERED = 4, 16
"""Candidates of a moment of which a model is asked, and of those beaten that it may find better."""
_SHARE = 0.9
"""Share of all perceptions that come from such sources where somebody is drowned."""


@dataclass(slots=True)
class Held:
    """The best candidate of a moment."""

    trace: Trace
    value: float
    """A level."""
    at: Instant
    parts: Mapping[str, float] = field(default_factory=dict)
    """What spoke for it, in log odds."""
    beaten: tuple[float, str, str, str] | None = None
    """The strongest that it was preferred to: value, id, what it is about, first words."""
    judged: bool = False
    """Whether a model was asked of it."""
    said: tuple[str, str] = ("", "")
    """What that said, where it counts, and which model it was."""

    def beat(self, other: Held) -> None:
        """It is preferred to another, and to all that this one was; what is about the same perception is no rival."""
        rival = (other.value, other.trace.id, _about(other.trace), clean(other.trace.thought.text, _FIRST_WORDS))
        own = _about(self.trace)
        self.beaten = max((e for e in (self.beaten, other.beaten, rival) if e and e[2] != own), default=None)

    def decided(self, ground: Ground, rank: float, needed: float, among: int, worth: float) -> Decision:
        """Why it becomes conscious."""
        value, name, _, text = self.beaten or (0.0, "", "", "")
        return Decision(
            ground, self.parts, rank, needed, among, worth, False, name, text, salience_of(value), *self.said
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """Candidates of which a model was asked."""

    at: Instant
    request: Request
    few: list[Held]
    """In the order in which it was asked of them."""

    def best(self) -> Held:
        """By what they are worth now."""
        best, names = max(self.few, key=lambda one: one.value), {one.trace.id for one in self.few}
        for one in self.few:
            one.judged = True
            one.beaten = None if one.beaten and one.beaten[1] in names else one.beaten
        for other in self.few:
            best.beat(other)
        return best


class SavedContest(msgspec.Struct):
    """What a snapshot holds of a contest."""

    pace: PaceState
    rank: list[float]
    held: list[Held]
    """The best first: what is forgotten on request goes out of a list, and the contest stays."""


class Contest:
    """One competition: who is held, what won before, and how many may pass."""

    def __init__(self, pace: Pace, memory: int) -> None:
        self.pace = pace
        self.held: Held | None = None
        self.others: list[Held] = []
        """The latest of those that it beat."""
        self.asked: dict[str, Asked] = {}
        """By the token of the question: those who wait to be judged."""
        self._rank = RunningRank(memory)

    def __len__(self) -> int:
        """Winners remembered."""
        return len(self._rank)

    @property
    def few(self) -> list[Held]:
        """The best that came in this moment, of each perception one."""
        best: dict[str, Held] = {}
        for one in sorted(filter(None, (*self.others, self.held)), key=lambda one: one.value):
            best.pop(about := _about(one.trace), None)
            best[about] = one
        return list(best.values())[: -_FEW - 1 : -1]

    def newborn(self, settings: AttentionSettings) -> bool:
        """Whether there is little to compare with."""
        return not self.pace.bounded and self.pace.picked < settings.welcome

    def hold(self, settings: AttentionSettings) -> float:
        """Seconds that the best waits for a better one."""
        hold = settings.welcome_hold if self.newborn(settings) else settings.hold
        return min(hold, self.pace.interval() / 4)

    def beaten(self, other: Held) -> None:
        """The held one beat another in this moment."""
        self.others = [*self.others, other][-_REMEMBERED:]

    def wait_for(self, token: str, asked: Asked) -> None:
        """A model is asked of these, and another moment begins."""
        self.asked[token] = asked
        self.held, self.others = None, []

    def overdue(self, patience: float, now: Instant) -> list[Held]:
        """The best of each moment that waited so long in vain; they wait no more."""
        late = [token for token, asked in self.asked.items() if now - asked.at >= patience]
        return [self.asked.pop(token).best() for token in late]

    def rejoin(self, other: Held | None) -> None:
        """Another waits as well: the better one is held."""
        if self.held is not None and other is not None:
            low, high = sorted((self.held, other), key=lambda one: one.value)
            high.beat(low)
            other = high
        self.held = other or self.held

    def rank(self, value: float) -> float:
        """Where it would stand among winners."""
        return self._rank.rank(value)

    def learn(self, winner: Held) -> tuple[float, float]:
        """Take a winner in; its rank among winners, and the share of them that there is room for."""
        return self._rank.update(winner.value), self.pace.share(winner.at)

    def dump(self) -> SavedContest:
        """For a snapshot."""
        waiting = [one for asked in self.asked.values() for one in asked.few]
        held = sorted(filter(None, (self.held, *self.others, *waiting)), key=lambda one: -one.value)
        return SavedContest(self.pace.dump(), self._rank.dump(), held)

    def load(self, saved: SavedContest) -> None:
        """From a snapshot."""
        self.pace.load(saved.pace)
        self._rank.load(saved.rank)
        self.held, self.others = next(iter(saved.held), None), saved.held[1:]


class Loudness:
    """How much each source said of late. Memory is bounded by what is remembered of all."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._loud: frozenset[str] = frozenset()
        self._total = 0

    def hear(self, source: str, times: int = 1) -> None:
        """So many more perceptions came from a source."""
        self._counts[source] = count = self._counts.get(source, 0) + times
        self._total += times
        if count >= _FLOOD:
            self._loud |= {source}
        while self._total > _WINDOW:
            self.load({name: n // 2 for name, n in self._counts.items() if n > 1})

    def drowns(self, source: str = "") -> bool:
        """Whether nearly all came from sources that say a hundred times as much as this one; as one not heard yet."""
        bar = max(_FLOOD, _LOUDER * self._counts.get(source, 0))
        louder = sum(n for n in map(self._counts.__getitem__, self._loud) if n >= bar)
        return louder > 0 and louder >= _SHARE * self._total

    def dump(self) -> dict[str, int]:
        """For a snapshot."""
        return self._counts

    def load(self, counts: Mapping[str, int]) -> None:
        """From a snapshot."""
        self._counts = dict(counts)
        self._loud = frozenset(name for name, n in self._counts.items() if n >= _FLOOD)
        self._total = sum(self._counts.values())


def _about(trace: Trace) -> str:
    """The perception that it focuses on; itself where it rests on none."""
    return next((p.id for p in trace.thought.perceptions), trace.id)


def origin_of(trace: Trace) -> str:
    """Where it comes from in the end; empty where nobody knows."""
    return next((p.source for p in trace.thought.perceptions), "")
