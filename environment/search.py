"""Searching the live traces by meaning, with filters. What has evaporated is out of the index and not found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from environment import salience
from environment.index.ports import VectorIndex
from environment.messages import Instant, ThoughtKind, Trace, Vector


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Which traces a search considers; None lets everything through."""

    source: str | None = None
    """One of the perceptions it rests on came from here."""
    author: str | None = None
    """One of its revisions is by this submind."""
    kind: ThoughtKind | None = None
    since: Instant | None = None
    """Event time, inclusive."""
    until: Instant | None = None
    """Event time, exclusive."""
    min_salience: float = 0.0
    """0..1, now."""
    live_only: bool = False

    def matches(self, trace: Trace, now: Instant) -> bool:
        """Whether a trace passes at mind time ``now``."""
        thought = trace.thought
        return (
            (trace.live or not self.live_only)
            and (self.kind is None or thought.kind is self.kind)
            and (self.since is None or thought.time >= self.since)
            and (self.until is None or thought.time < self.until)
            and (self.author is None or self.author in trace.authors or self.author == thought.author)
            and (self.source is None or any(ref.source == self.source for ref in thought.perceptions))
            and (self.min_salience <= 0 or salience.at(trace.level, now) >= self.min_salience)
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A trace that was found."""

    trace: Trace
    score: float
    """Cosine to what was asked."""
    salience: float
    """0..1, when it was asked."""


def nearest(
    index: VectorIndex, held: Mapping[str, Trace], vector: Vector, k: int, wanted: Callable[[Trace], bool]
) -> list[tuple[Trace, float]]:
    """The ``k`` wanted traces of ``held`` nearest to ``vector``, nearest first, with their cosines.

    The search is widened until enough of what it finds is wanted, or everything has been looked at.
    """
    reach = k + 8
    while k > 0:
        near = index.search(vector, reach)
        found = [(trace, score) for name, score in near if (trace := held.get(name)) is not None and wanted(trace)]
        if len(found) >= k or len(near) < reach:
            return found[:k]
        reach *= 4
    return []


def search(
    index: VectorIndex, held: Mapping[str, Trace], vector: Vector, k: int, filters: SearchFilters, now: Instant
) -> list[Hit]:
    """The ``k`` traces nearest to ``vector`` that pass the filters at ``now``, nearest first."""
    near = nearest(index, held, vector, k, lambda trace: filters.matches(trace, now))
    return [Hit(trace, score, salience.at(trace.level, now)) for trace, score in near]
