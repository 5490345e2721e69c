"""Breeding settings: variants of a mind's settings, judged by what it would have said of a labelled history.

A (mu + lambda) evolution: what was judged best so far has the children of the next generation, of which each number
comes from one of two parents and is moved by a normal deviate that shrinks from generation to generation (Rechenberg
1973; Beyer and Schwefel 2002). Chance is given, so the same seed breeds the same.
"""

import random
import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from environment.messages import EntryKind, Instant, StreamEntry

Variant: TypeAlias = tuple[float, ...]
"""A value for each gene, in their order."""
_SPREAD, _SHRINKS = 0.25, 0.6
"""Deviation of a mutation, as a share of what a gene may be, and what is left of it in each generation."""
_SAME = 1.0
"""Seconds by which a line is known again."""


@dataclass(frozen=True, slots=True)
class Gene:
    """A setting that is varied."""

    path: str
    now: float
    low: float
    high: float
    whole: bool = False
    """Whether it is a whole number."""

    def within(self, value: float) -> float:
        """The value that it may have next to this one."""
        bound = min(max(value, self.low), self.high)
        return float(round(bound)) if self.whole else float(f"{bound:.4g}")

    def typed(self, value: float) -> float:
        """As the setting takes it."""
        return int(value) if self.whole else value


@dataclass(frozen=True, slots=True)
class MomentLabel:
    """What somebody says of a moment, or of a line where ``source`` is not empty."""

    time: Instant
    useful: bool = True
    source: str = ""
    story: str = ""
    """Those of one story count once."""

    def met(self, entry: StreamEntry, within: float) -> bool:
        """Whether a thought is of that moment, or rests on that line."""
        if not self.source:
            return abs(entry.time - self.time) <= within
        return any(ref.source == self.source and abs(ref.time - self.time) <= _SAME for ref in entry.perceptions)


def judged(entries: Sequence[StreamEntry], labels: Sequence[MomentLabel], within: float) -> float:
    """How much of what is useful a stream told, 0..1: the share of stories of which it has a thought.

    Where something is labelled as not useful, the harmonic mean of that and of the share of useful ones among the
    thoughts that meet a label (F1; van Rijsbergen 1979).
    """
    thoughts = [entry for entry in entries if entry.kind is EntryKind.THOUGHT]
    stories: dict[object, bool] = {}
    rated: dict[int, bool] = {}
    for label in labels:
        met = [entry.seq for entry in thoughts if label.met(entry, within)]
        if label.useful:
            story = label.story or label
            stories[story] = stories.get(story, False) or bool(met)
        rated.update({seq: label.useful or rated.get(seq, False) for seq in met})
    covered = sum(stories.values()) / max(1, len(stories))
    if all(label.useful for label in labels):
        return covered
    right = sum(rated.values()) / max(1, len(rated))
    return 2 * covered * right / (covered + right) if covered + right else 0.0


async def breed(
    genes: Sequence[Gene],
    judge: Callable[[Variant], Awaitable[Sequence[float] | None]],
    *,
    population: int,
    generations: int,
    chance: random.Random,
    due: Callable[[], bool],
    told: Callable[[str], None],
) -> dict[Variant, float]:
    """Every variant that was judged with its mean score; what is there now was the first of them.

    ``judge`` answers None for what no mind can be set to. No further one is judged once ``due``.
    """
    scores: dict[Variant, float] = {}
    fresh = [tuple(gene.now for gene in genes)]
    fresh += [tuple(gene.within(chance.uniform(gene.low, gene.high)) for gene in genes) for _ in range(population - 1)]
    for generation in range(generations):
        for variant in dict.fromkeys(fresh):
            if due() and scores:
                return scores
            found = None if variant in scores else await judge(variant)
            if found:
                scores[variant] = statistics.fmean(found)
                best = f"{scores[variant]:.3f}, best so far {max(scores.values()):.3f}"
                told(f"generation {generation + 1}, variant {len(scores)}: {best}")
        parents = ranked(scores)[: max(2, population // 2)]
        fresh = [_child(genes, parents, _SPREAD * _SHRINKS**generation, chance) for _ in range(population)]
    return scores


def ranked(scores: dict[Variant, float]) -> list[Variant]:
    """Best first; of equals the one that was judged first."""
    return sorted(scores, key=lambda variant: -scores[variant])


def _child(genes: Sequence[Gene], parents: Sequence[Variant], spread: float, chance: random.Random) -> Variant:
    pair = chance.choice(parents), chance.choice(parents)
    return tuple(
        gene.within(chance.choice(pair)[at] + chance.gauss(0.0, spread * (gene.high - gene.low)))
        for at, gene in enumerate(genes)
    )
