"""The lines of open matters by meaning and by what they name: to which matter a new one belongs."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from actors.submind.linking import Rarity, Tie
from environment.messages import Thought, Trace, Vector

_NEAREST = 8
"""Lines by meaning, and by a name, that are looked at closely."""


class Members:
    """Holds a bounded number of traces, each of one matter; the one held longest goes first."""

    def __init__(self, dim: int, most: int) -> None:
        self._rows = np.zeros((most, dim), np.float32)
        self._held: OrderedDict[str, tuple[str, Trace, int]] = OrderedDict()
        self._slots: list[str] = []
        self._named: defaultdict[str, dict[str, None]] = defaultdict(dict)

    @property
    def nothing(self) -> Vector:
        """A vector that is near to nothing."""
        return np.zeros(self._rows.shape[1], np.float32)

    def __len__(self) -> int:
        return len(self._held)

    def add(self, matter: str, trace: Trace) -> None:
        """A trace is a line of that matter."""
        if trace.id in self._held:
            self._held[trace.id] = (matter, trace, self._held[trace.id][2])
            return
        if len(self._held) == len(self._rows):
            self._remove(next(iter(self._held)))
        slot = len(self._slots)
        self._slots.append(trace.id)
        self._rows[slot] = trace.thought.vector
        self._held[trace.id] = (matter, trace, slot)
        for term in trace.thought.associations:
            self._named[term][trace.id] = None

    def of(self, matter: str) -> list[str]:
        """The traces held of a matter, the one held longest first."""
        return [trace for trace, (of, _, _) in self._held.items() if of == matter]

    def release(self, matter: str) -> None:
        """Let go of a matter's lines."""
        for trace in self.of(matter):
            self._remove(trace)

    def drop(self, trace_id: str) -> None:
        """Let go of one line, where it is held."""
        if trace_id in self._held:
            self._remove(trace_id)

    def _remove(self, trace_id: str) -> None:
        _, trace, slot = self._held.pop(trace_id)
        last = self._slots.pop()
        if last != trace_id:  # it takes the place that is free now
            self._slots[slot] = last
            self._rows[slot] = self._rows[len(self._slots)]
            of, moved, _ = self._held[last]
            self._held[last] = (of, moved, slot)
        for term in trace.thought.associations:
            self._named[term].pop(trace_id, None)
            if not self._named[term]:
                del self._named[term]

    def nearest(
        self, thought: Thought, rarity: Rarity, least: float, tie: Callable[[Thought, Thought, Rarity], Tie | None]
    ) -> list[tuple[str, Tie, str]]:
        """(Matter, why the thought belongs to a line of it by ``tie``, that line's trace), at least so sure.

        One of each matter, surest first.
        """
        best: dict[str, tuple[Tie, str]] = {}
        for trace_id in self._candidates(thought):
            matter, trace, _ = self._held[trace_id]
            tied = tie(thought, trace.thought, rarity)
            if tied is not None and tied.strength >= max(least, best[matter][0].strength if matter in best else 0.0):
                best.pop(matter, None)
                best[matter] = tied, trace_id  # of equals the one met last
        latest = [(matter, *found) for matter, found in best.items()][::-1]
        return sorted(latest, key=lambda found: -found[1].strength)

    def all(self) -> Iterator[Trace]:
        """All lines that are held, the one held longest first."""
        return (trace for _, trace, _ in list(self._held.values()))

    def _candidates(self, thought: Thought) -> Iterable[str]:
        count = len(self._slots)
        found: dict[str, None] = {}
        if count:
            likeness = self._rows[:count] @ thought.vector
            top = np.argpartition(-likeness, _NEAREST)[:_NEAREST] if count > _NEAREST else np.arange(count)
            found = dict.fromkeys(self._slots[i] for i in sorted(top.tolist()))
        for term in thought.associations:
            found |= dict.fromkeys(list(self._named.get(term, ()))[-_NEAREST:])
        return found

    def dump(self) -> list[tuple[str, Trace]]:
        """For a snapshot."""
        return [(matter, trace) for matter, trace, _ in self._held.values()]
