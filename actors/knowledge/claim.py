"""What somebody says to be so, before anything is decided."""

from dataclasses import dataclass

from actors.knowledge.fact import FactKind
from environment.messages import Instant


@dataclass(frozen=True, slots=True)
class FactClaim:
    """What somebody says to be so; nothing is decided yet."""

    subject: str
    relation: str
    """``alias``: subject and value are names of one."""
    value: str
    kind: FactKind = FactKind.STANDARD
    since: Instant | None = None
    until: Instant | None = None
    changed: bool = False
    corrects: bool = False
    instead: str = ""
    ended: bool = False
    takes_from: str = ""
    """Whom the value takes it over from: the relation is then the one that this one had, if any."""
