"""Batches on their way to the leader, and what its answers mean. Nothing here waits or speaks to anybody."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from environment.messages import PerceptionBatch, Receipts

_MARK = "~"
"""What keys begin with that a front made."""


def keyed(keys: Sequence[str | None], count: int, token: Callable[[], str]) -> tuple[list[str], frozenset[int]]:
    """The keys of a batch, with one made for each perception that has none, and the places of those.

    A made key is ``token``'s, which nobody can guess, and the place: so what is sent twice is taken in once, and no
    caller can take its name beforehand. It stays in the log, which shows it to nobody.
    """
    given = list(keys) or [None] * count
    made = frozenset(place for place, key in enumerate(given) if not key)
    root = f"{_MARK}{token()}" if made else ""
    return [key or f"{root}.{place:x}" for place, key in enumerate(given)], made


def told(answer: Receipts, made: frozenset[int]) -> Receipts:
    """The leader's receipts for a batch in which the keys at ``made`` are a front's.

    A made key that the leader knows is one that it took in before its answer was lost: to the caller it is new. All of
    a batch is taken in at once, and its new perceptions are numbered one after the other, so the others that were new
    then are found by their numbers; those that stand before the first made key count as known, which they may be.
    """
    known = dict(answer.known)
    again = [place for place in sorted(made) if place in known]
    if not again:
        return answer
    first = following = known[again[0]]
    for place, receipt in enumerate(answer):
        if place >= again[0] and receipt.seq == following:
            known.pop(place, None)
            following += 1
    return Receipts(first, len(answer), known)


@dataclass(slots=True, eq=False)
class RelayedBatch:
    """A batch made ready to be sent: ``PreparedBatch``."""

    perceptions: PerceptionBatch
    body: bytes
    made: frozenset[int]
    """Places of the keys that were made here."""
    said: bytes = b""
    """Who sent it, and within which span, as they go with it."""
    outcome: Receipts | Exception | None = None
    """What the leader answered, once it did."""

    def __len__(self) -> int:
        return len(self.perceptions)

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.body) + len(self.said)


@dataclass(slots=True, eq=False)
class PendingBatch:
    """A batch that somebody waits for."""

    batch: RelayedBatch
    since: float
    """When it came, by the relay's clock."""
    answer: asyncio.Future[Receipts]
    number: int = 0
    sent: bool = False
    """Whether it ever was."""


@dataclass(slots=True)
class RelayQueue:
    """Those that wait and those under way, in the order in which they came; answers come in the same order."""

    most: int
    """Under way at a time."""
    waiting: deque[PendingBatch] = field(default_factory=deque)
    under_way: deque[PendingBatch] = field(default_factory=deque)
    resent: int = 0
    """Sent more than once."""
    _number: int = 0

    def next(self) -> PendingBatch | None:
        """The next to send, now under way; None where none waits or enough are. Leaves out what nobody waits for."""
        while self.waiting and len(self.under_way) < self.most:
            pending = self.waiting.popleft()
            if pending.answer.done():
                continue
            self._number += 1
            self.resent += pending.sent
            pending.number, pending.sent = self._number, True
            self.under_way.append(pending)
            return pending
        return None

    def broke(self) -> None:
        """The connection is lost: what was under way waits again, first."""
        self.waiting.extendleft(reversed(self.under_way))
        self.under_way.clear()

    def overdue(self, since: float) -> bool:
        """Whether somebody has waited since before."""
        return bool(self.waiting) and self.waiting[0].since <= since

    def all(self) -> list[PendingBatch]:
        """Take out everything."""
        found = [*self.under_way, *self.waiting]
        self.under_way.clear()
        self.waiting.clear()
        return found
