"""What is proposed to the policy, and what it answers."""

from dataclasses import dataclass
from enum import StrEnum

from environment.messages import Instant, Vector
from environment.population import GrowthEvent, Member

MOST_CHARS = 500
"""Of a name, a label or a reason in the audit log; the rest is cut."""
_MOST_GOALS = 16


class GrowthAct(StrEnum):
    """What a submind may want."""

    DIVIDE = "divide"
    RETIRE = "retire"


@dataclass(frozen=True, slots=True)
class GrowthProposal:
    """What a submind wants, as the driver heard it: ``submind`` is who the link says it came from."""

    act: GrowthAct
    submind: str
    growth: str
    """Its own name for this proposal: asked again under it, it is answered as before."""
    goals: tuple[str, ...] = ()
    """What a child would be after."""
    topics: tuple[str, ...] = ()
    """Labels of what is handed over."""
    keys: tuple[str, ...] = ()
    """The proposer's own keys of them."""
    about: Vector | None = None
    heir: str = ""
    """To whom a retiring submind leaves what it has."""
    hint: str = ""
    """A word for the child's name."""
    reason: str = ""
    size: int = 0
    """Bytes of what is handed over."""

    def fault(self) -> str:
        """What is wrong with its form; empty where nothing is."""
        if not 1 <= len(self.growth) <= MOST_CHARS:
            return f"a proposal has a name of 1 to {MOST_CHARS} characters"
        if self.act is GrowthAct.RETIRE:
            return ""
        if not 1 <= len(self.goals) <= _MOST_GOALS:
            return f"a child has 1 to {_MOST_GOALS} goals, not {len(self.goals)}"
        return "" if self.topics else "a child has topics"


class GrowthVerdict(StrEnum):
    """Whether a proposal is granted."""

    GRANTED = "granted"
    WAITING = "waiting"
    """For an operator's approval."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class GrowthDecision:
    """The policy's answer. Nothing has changed before ``event`` is in the audit log."""

    verdict: GrowthVerdict
    reason: str = ""
    retry_at: Instant = 0.0
    """When it is worth proposing again, where it was not granted."""
    limit: str = ""
    """Which bound refused it: a setting, or ``frozen``, ``unknown``, ``configured``, ``malformed``."""
    event: GrowthEvent | None = None
    """To be recorded; None where the log says it already, or need not."""
    member: Member | None = None
    """The child, or who retires, as it is to be written together with ``event``; as it was, where granted before."""
