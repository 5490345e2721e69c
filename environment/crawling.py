"""Walking the environment: by meaning, along shared associations, at random. Reads only; nothing is changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from environment import salience
from environment.index.ports import VectorIndex
from environment.index.terms import Terms
from environment.messages import Instant, Trace, Vector
from environment.search import nearest

_RELATED = 3
"""Traces from which an associative crawl goes on along further associations."""
_FURTHER = 0.5
"""What an association one step further counts."""


@dataclass(frozen=True, slots=True)
class CrawlQuery:
    """What a crawl asks for and what it leaves out."""

    k: int
    """Traces wanted at most."""
    now: Instant
    floor: float = 0.0
    """Traces less salient than this at ``now`` are passed by."""
    vector: Vector | None = field(default=None, compare=False, repr=False)
    terms: tuple[str, ...] = ()
    exclude_author: str = ""
    """Traces with this among their authors are passed by."""
    exclude_lineage: frozenset[str] = frozenset()
    """Traces with any of these among id or parents are passed by."""
    before: Instant | None = None
    """Traces whose event time is not earlier are passed by."""

    def admits(self, trace: Trace) -> bool:
        """Whether a trace may be met."""
        thought = trace.thought
        return not (
            (self.exclude_author and self.exclude_author in trace.authors)
            or thought.id in self.exclude_lineage
            or not self.exclude_lineage.isdisjoint(thought.parents)
            or (self.before is not None and thought.time >= self.before)
            or salience.at(trace.level, self.now) < self.floor
        )


def directed(query: CrawlQuery, live: Mapping[str, Trace], index: VectorIndex) -> list[tuple[Trace, float]]:
    """The nearest by meaning, nearest first, with their cosines. Nothing where there is no vector."""
    if query.vector is None or query.k <= 0:
        return []
    return nearest(index, live, query.vector, query.k, query.admits)


def associative(
    query: CrawlQuery, live: Mapping[str, Trace], index: VectorIndex, terms: Terms
) -> list[tuple[Trace, float]]:
    """Those that share the most telling associations, most first, with their cosine to ``vector`` (0 without one).

    Where too few share them, the query goes one step further, along what the first ones met are associated with.
    Without terms it starts from those of the nearest trace by meaning.
    """
    if query.k <= 0:
        return []
    start = query.terms or _nearest_terms(query, live, index, terms)
    wide = 4 * query.k + 16
    met = {name: None for name, _ in terms.search(start, wide) if query.admits(live[name])}
    if 0 < len(met) < query.k:
        related = [term for name in list(met)[:_RELATED] for term in terms.of(name)]
        known = {term.strip().casefold() for term in start}
        shares = {term: _FURTHER for term in related if term not in known}
        met |= {name: None for name, _ in terms.search(shares, wide, shares) if query.admits(live[name])}
    return [(live[name], _cosine(query.vector, live[name].thought.vector)) for name in list(met)[: query.k]]


def random(
    query: CrawlQuery, live: Mapping[str, Trace], order: Sequence[str], rng: Random
) -> list[tuple[Trace, float]]:
    """Any, each equally likely, with score 0; fewer than wanted where most are passed by."""
    tries = min(len(order), 4 * query.k + 8)
    drawn = (live[order[place]] for place in rng.sample(range(len(order)), tries))
    return [(trace, 0.0) for trace in drawn if query.admits(trace)][: max(query.k, 0)]


def _nearest_terms(query: CrawlQuery, live: Mapping[str, Trace], index: VectorIndex, terms: Terms) -> Iterable[str]:
    if query.vector is None:
        return ()
    return next((held for name, _ in index.search(query.vector, 8) if name in live and (held := terms.of(name))), ())


def _cosine(one: Vector | None, other: Vector) -> float:
    if one is None or one.shape != other.shape:
        return 0.0
    return float(np.dot(one, other))
