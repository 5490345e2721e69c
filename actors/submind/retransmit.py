"""Posting that survives loss: a thought is posted again until the environment says that it is durable."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from actors.effects import Count, Effect, Send, WakeAt
from actors.events import Post
from actors.names import ENVIRONMENT
from environment.messages import Instant, Thought

_RESEND_AFTER = 10.0
_LONGEST_PAUSE = 3600.0


class RetransmitBuffer:
    """Thoughts on their way into the environment; repeated with growing pauses until one arrives.

    Whoever uses it tells others of a thought only once it has arrived: nothing then rests on what is not there.
    """

    def __init__(self, owner: str, resend_after: float = _RESEND_AFTER) -> None:
        self._owner = owner
        self._resend_after = resend_after
        self._waiting: OrderedDict[str, Thought] = OrderedDict()
        self._sent: Instant = float("-inf")
        self._pause = resend_after

    def __len__(self) -> int:
        return len(self._waiting)

    def post(self, thoughts: Sequence[Thought], now: Instant) -> list[Effect]:
        """Post some thoughts."""
        if not thoughts:
            return []
        if not self._waiting:
            self._sent = now
        self._waiting.update((t.id, t) for t in thoughts)
        return [
            Send(ENVIRONMENT, Post(self._owner, tuple(thoughts)), 1.0),
            Count("thoughts_total", len(thoughts)),
            WakeAt(self._sent + self._resend_after),
        ]

    def arrived(self, ids: Iterable[str]) -> list[Thought]:
        """Those of the waiting thoughts that have become durable; each is named once."""
        self._pause = self._resend_after
        return [thought for i in ids if (thought := self._waiting.pop(i, None)) is not None]

    def tend(self, now: Instant) -> list[Effect]:
        """Post again what has waited too long; to be called on every tick."""
        if not self._waiting:
            return []
        if now - self._sent < self._pause:
            return [WakeAt(self._sent + self._pause)]
        self._sent = now
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        again = Send(ENVIRONMENT, Post(self._owner, tuple(self._waiting.values())), 1.0)
        return [again, Count("reposts_total"), WakeAt(now + self._pause)]

    def dump(self) -> list[Thought]:
        """For a snapshot."""
        return list(self._waiting.values())

    def load(self, waiting: Iterable[Thought]) -> None:
        """From a snapshot."""
        self._waiting.update((t.id, t) for t in waiting)
