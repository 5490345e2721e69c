"""The two upper layers of memory: goals, and identity, which is values with weights. What comes again rises to them.

Layer 2 is all else that is remembered. A signal is a day on which a subject became conscious, was asked about or was
marked useful: five, the first and the last fourteen days apart, propose a goal; ten over thirty days propose a goal as
identity. Only an operator grants it. Pure: time is given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from environment.collections import Collection
from environment.episodes.words import telling
from environment.identity import derived
from environment.marks import FeedbackMark
from environment.messages import Instant, PerceptionRef

CAP, BORN, HELD = 0.92, 0.3, 16
"""No weight is above it; that of what is granted; and goals and values that are held at once."""
_GAIN = 0.05
"""What a signal adds to a weight, divided by log2 of how many there are then, and one."""
_DOMINANT, _FAIR, _DAMPED = 0.4, 1.5, 0.95
"""Share of all weights, and times an equal share, above which one dominates; what each sleep leaves of it then."""
_KEPT, _DAY = 32, 86_400.0
FADES = 90 * _DAY
"""After which a signal counts no more."""


class GoalLayer(StrEnum):
    """Where a subject stands."""

    NONE = "none"
    """It is counted, no more."""
    GOAL = "goal"
    IDENTITY = "identity"


_RISES = {GoalLayer.NONE: (5, 14 * _DAY, GoalLayer.GOAL), GoalLayer.GOAL: (10, 30 * _DAY, GoalLayer.IDENTITY)}
"""By where it stands: signals, seconds from the first to the last, and what these propose."""


class GoalAct(StrEnum):
    """What an operator does with a subject."""

    GRANT = "grant"
    REFUSE = "refuse"
    SET = "set"
    DROP = "drop"


class SignalKind(StrEnum):
    """What a subject met with."""

    CONSCIOUS = "conscious"
    ASKED = "asked"
    USEFUL = "useful"


@dataclass(frozen=True, slots=True)
class GoalSignal:
    """The first that a subject met with on a day."""

    at: Instant
    """Mind time."""
    kind: SignalKind
    perception: PerceptionRef
    """Where it is named."""


@dataclass(frozen=True, slots=True)
class GoalOrder:
    """What an operator does with one."""

    goal: str
    """Its id, or its words."""
    act: GoalAct
    layer: GoalLayer = GoalLayer.NONE
    """What SET makes of it; none: what it is, or a goal."""
    weight: float = 0.0
    """That SET gives it; 0: the one that it has, or ``BORN``."""
    by: str = ""


@dataclass(slots=True)
class StandingGoal:
    """A subject that is counted, or held as a goal or a value."""

    id: str
    """``v-`` and 20 hexadecimal digits, of its words; empty: it is one of the configuration."""
    text: str
    evidence: list[GoalSignal] = field(default_factory=list)
    """Its latest signals."""
    layer: GoalLayer = GoalLayer.NONE
    weight: float = 0.0
    """0..``CAP``."""
    refused: GoalLayer = GoalLayer.NONE
    """What it is not proposed for again."""
    decided: Instant | None = None
    """Mind time of the last word of an operator on it."""
    by: str = ""
    """Whose that was."""

    @property
    def held(self) -> bool:
        """Whether it biases the mind."""
        return self.layer is not GoalLayer.NONE

    @property
    def proposed(self) -> GoalLayer:
        """What it is proposed for."""
        signals, span, above = _RISES.get(self.layer, (_KEPT + 1, 0.0, GoalLayer.NONE))
        enough = len(self.evidence) >= signals and self.evidence[-1].at - self.evidence[0].at >= span
        return above if enough and above is not self.refused else GoalLayer.NONE

    def hear(self, signal: GoalSignal) -> bool:
        """Count a signal, one a day; whether it counted."""
        if any(signal.at // _DAY == one.at // _DAY for one in self.evidence):
            return False
        self.evidence = sorted([*self.evidence, signal], key=lambda one: one.at)[-_KEPT:]
        self.fade(self.evidence[-1].at)
        if self.held:
            self.weight = min(CAP, self.weight + _GAIN / math.log2(len(self.evidence) + 1))
        return True

    def fade(self, now: Instant) -> None:
        """Let go of signals that are too old."""
        self.evidence = [one for one in self.evidence if now - one.at < FADES]

    def decide(self, mark: FeedbackMark) -> bool:
        """Do what an operator said of it; whether that is new. What is taken back is as if nothing had been said."""
        if self.decided is not None and mark.at <= self.decided:
            return False
        self.decided, self.by = mark.at, mark.by
        what, _, rest = ("none" if mark.undone else mark.value).partition(" ")
        self.refused = GoalLayer(rest) if what == "refuse" else GoalLayer.NONE
        if what != "refuse":
            self.layer, self.weight = GoalLayer(what), min(CAP, float(rest or 0))
            self.evidence = self.evidence if self.held or mark.undone else []  # what is dropped has to come again
        return True


@dataclass(frozen=True, slots=True)
class Pursued:
    """What the mind pursues: words of all goals and values with weights, 0 of what is dropped; may be told again."""

    goals: Mapping[str, float]


GOALS = Collection("goals", StandingGoal)
"""By ``StandingGoal.id``; the faculty of knowledge writes them, and does what operators' marks say."""


def goal_id(text: str) -> str:
    """The id of what these words name, in whichever form and order."""
    return derived("v", *sorted(telling(text)))


def ranked(goals: Iterable[StandingGoal]) -> list[StandingGoal]:
    """Values, goals, and what is proposed for either, by weight and by signals."""
    shown = [one for one in goals if one.held or one.proposed is not GoalLayer.NONE]
    order = (GoalLayer.IDENTITY, GoalLayer.GOAL, GoalLayer.NONE)
    return sorted(shown, key=lambda one: (order.index(one.layer), -one.weight, -len(one.evidence), one.text))


def configured(goals: Iterable[str]) -> list[StandingGoal]:
    """Goals of the configuration, as they are listed beside what was granted; they have no weight."""
    return [StandingGoal("", text, layer=GoalLayer.GOAL, by="mind.goals") for text in goals]


def damp(goals: Iterable[StandingGoal]) -> list[StandingGoal]:
    """Damp what dominates of what is held; what that was."""
    held = [one for one in goals if one.held]
    most = max(_DOMINANT, _FAIR / max(1, len(held))) * sum(one.weight for one in held)
    found = [one for one in held if one.weight > most]
    for one in found:
        one.weight *= _DAMPED
    return found
