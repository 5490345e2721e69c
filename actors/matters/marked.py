"""What marks do to matters: settle them, take lines out, mute them, remind; and what undoing takes back."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations_with_replacement

from actors.matters.matter import Matter, MatterState, OpenLoop
from actors.submind.linking import Rarity, Tie, tie
from environment.identity import derived
from environment.marks import FeedbackMark, MarkKind, MuteScope, mutes
from environment.messages import Instant, Thought

_DOUBT, _LEAST = 0.8, 0.5
"""What each wrong connection leaves of the strength of links between its sources, and what all of them leave."""


class StandingMarks:
    """What the marks there are say of matters."""

    def __init__(self, marks: Sequence[FeedbackMark] = ()) -> None:
        """Of all marks that there are."""
        self._muted = mutes(marks, MuteScope.MATTER)
        wrong = [mark for mark in marks if mark.kind is MarkKind.WRONG and not mark.undone]
        self._wrong = Counter(pair for mark in wrong for pair in _pairs(mark.sources))

    def muted(self, matter: str) -> Instant:
        """Until when a matter is muted; minus infinity where it is not."""
        return self._muted.get(matter, float("-inf"))

    def tie(self, event: Thought, memory: Thought, rarity: Rarity) -> Tie | None:
        """As ``linking.tie``, with what wrong connections have left of its strength."""
        tied = tie(event, memory, rarity)
        if tied is None or not self._wrong:
            return tied
        first, second = sorted((event.perceptions[0].source, memory.perceptions[0].source))
        return replace(tied, strength=tied.strength * max(_LEAST, _DOUBT ** self._wrong[first, second]))


def _pairs(sources: Sequence[str]) -> list[tuple[str, str]]:
    """Of different sources where there are several."""
    names = sorted(set(sources))
    return [pair for pair in combinations_with_replacement(names, 2) if len(names) == 1 or pair[0] != pair[1]]


def settled(matter: Matter, mark: FeedbackMark, now: Instant) -> bool:
    """Settle a matter, or take that back; whether that changed it. What came after the mark counts more."""
    by_hand = matter.state is MatterState.SETTLED and matter.settled_by is None
    if mark.at < matter.changed or (not by_hand if mark.undone else not matter.open):
        return False
    matter.state, matter.changed = MatterState.GROWING if mark.undone else MatterState.SETTLED, now
    matter.settled_by = None
    return True


def reminder(mark: FeedbackMark) -> OpenLoop | None:
    """The loop that a mark opens; one that was taken back is closed."""
    if mark.perception is None or mark.until is None:
        return None
    loop = OpenLoop(derived("l", mark.id), mark.text, mark.perception, mark.until, asked=True, exact=True)
    loop.closed_by = mark.perception if mark.undone else None
    return loop
