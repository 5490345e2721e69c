"""Searching the live traces by meaning, with filters. What has evaporated is out of the index and not found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from environment.index.ports import VectorIndex
from environment.messages import Instant, ThoughtKind, Trace, Vector
from environment.salience import at as level_at
from environment.severity import salience_of


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
            and (self.min_salience <= 0 or salience_of(level_at(trace.level, now)) >= self.min_salience)
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A trace that was found."""

    trace: Trace
    score: float
    """Cosine to what was asked."""
    salience: float
    """0..1, when it was asked."""
    also: tuple[str, ...] = ()
    """Ids of others, as near, that say the same of the same perceptions: several subminds often think alike."""


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
    """The ``k`` traces nearest to ``vector`` that pass the filters at ``now``, nearest first.

    Of those that say the same of the same perceptions the nearest is a hit, and the others stand with it.
    """
    reach = 2 * k + 8
    while k > 0:
        near = nearest(index, held, vector, reach, lambda trace: filters.matches(trace, now))
        hits = _folded([Hit(trace, score, salience_of(level_at(trace.level, now))) for trace, score in near])
        if len(hits) >= k or len(near) < reach:
            return hits[:k]
        reach *= 4
    return []


def _folded(hits: list[Hit]) -> list[Hit]:
    """Each thought once, with those that repeat it: the nearest, and of equals the most vivid."""
    alike: dict[tuple[str, frozenset[str]], list[Hit]] = {}
    for hit in hits:
        thought = hit.trace.thought
        alike.setdefault((thought.text, frozenset(ref.id for ref in thought.perceptions)), []).append(hit)
    found = []
    for same in alike.values():
        best = max(same, key=lambda hit: (round(hit.score, 6), hit.salience, hit.trace.id))
        found.append(replace(best, also=tuple(sorted(hit.trace.id for hit in same if hit is not best))))
    return sorted(found, key=lambda hit: -hit.score)
