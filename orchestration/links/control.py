"""What the processes of actors and the population of a mind say to each other: about lives, not to cores."""

from dataclasses import dataclass
from typing import TypeAlias

from actors.effects import Divide, Retire

POPULATION = "~population"
"""Where actors send what they propose; no actor can be called so."""


@dataclass(frozen=True, slots=True)
class ProposedDivision:
    """An actor's shell passes on what its core proposes."""

    owner: str
    effect: Divide


@dataclass(frozen=True, slots=True)
class ProposedEnd:
    """An actor's shell passes on that its core proposes to end."""

    owner: str
    effect: Retire


@dataclass(frozen=True, slots=True)
class HasSettled:
    """``owner`` has let go of what ``name`` got, or taken over what it left."""

    owner: str
    name: str


@dataclass(frozen=True, slots=True)
class Alive:
    """An actor begins a life."""

    name: str


@dataclass(frozen=True, slots=True)
class BudgetTransfer:
    """A part of the budgets that went from one process to another. In parts of a configured submind."""

    key: str
    """No other has it: it counts once."""
    process: str
    """Where it came from."""
    part: float
    rest: float
    """What that process kept."""


@dataclass(frozen=True, slots=True)
class Share:
    """An actor's process is told what it has of a configured submind's budgets. Answered by ``Shared``."""

    value: float
    predecessors: tuple[str, ...] = ()
    """Processes that ended whose part it has since: what they had spent, it has spent."""
    moved: tuple[BudgetTransfer, ...] = ()
    """Parts that came to it from processes that live on."""


@dataclass(frozen=True, slots=True)
class Shared:
    """An actor's process spends no more than that share from now on."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Left:
    """One that ends has handed on everything."""

    name: str


ControlMessage: TypeAlias = ProposedDivision | ProposedEnd | HasSettled | Alive | Share | Shared | Left
