"""What people say of entries and matters, one document each: useful or not, wrong, muted, settled, remind me."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from environment.collections import RESERVED, Collection
from environment.messages import Instant, PerceptionRef


class MarkKind(StrEnum):
    """What is said."""

    USEFUL = "useful"
    NOT_USEFUL = "not_useful"
    WRONG = "wrong"
    """Its lines do not belong together: they leave the matter, and their sources join less easily."""
    MUTE = "mute"
    """Nothing of this source, template or matter until then, but what is critical."""
    SETTLED = "settled"
    REMIND = "remind"
    CORRECT = "correct"
    """Of the entity ``target``: what is right of the relation ``text`` is ``value``; empty: nothing is."""
    GOAL = "goal"
    """Of the subject ``target``, of the words ``text``: as ``value`` says it is held, or not, or not to be proposed."""


class MuteScope(StrEnum):
    """What is muted."""

    SOURCE = "source"
    TEMPLATE = "template"
    MATTER = "matter"


@dataclass(frozen=True, slots=True)
class FeedbackMark:
    """One mark; another of the same ``id`` takes its place."""

    id: str
    """``k-`` and 20 hexadecimal digits, of what was marked and how."""
    target: str
    """The number of an entry, or the id of a matter."""
    kind: MarkKind
    at: Instant
    """Mind time."""
    by: str
    text: str
    """What was marked, as it was told."""
    of: MuteScope | None = None
    """Of a mute."""
    value: str = ""
    """Of a mute: the source, the template or the id of the matter."""
    until: Instant | None = None
    """When a mute ends, or somebody is to be reminded; None of others."""
    matter: str = ""
    """The matter that it is about, if any."""
    traces: tuple[str, ...] = ()
    """Of what it rests on; of a wrong connection those that leave the matter."""
    sources: tuple[str, ...] = ()
    """Where what it rests on came from."""
    perception: PerceptionRef | None = None
    """What it rests on first."""
    undone: bool = False

    def stands(self, now: Instant) -> bool:
        """Whether it holds: it was not taken back, and its time is not over."""
        return not self.undone and (self.until is None or now < self.until)


MARKS = Collection(f"{RESERVED}marks", FeedbackMark)
"""By ``FeedbackMark.id``; the host writes them, whether the mind runs or not."""


def mutes(marks: Iterable[FeedbackMark], of: MuteScope) -> dict[str, Instant]:
    """What of that is muted, and until when."""
    return {mark.value: mark.until or 0.0 for mark in marks if mark.of is of and not mark.undone}
