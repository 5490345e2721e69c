"""Neurogenesis: a submind that is overloaded with topics of two groups proposes to give one of them to a child.

Source: the agentic design ("when agents grow to be responsible for multiple disparate objectives and topics and too
high message volume, they have the ability to spawn a new agent to offload objectives and associated network
connections").
"""

import unicodedata
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from actors.effects import Divide
from actors.handover import Goal, Habits, HandoverState, Holding
from actors.settings import DivisionSettings
from actors.submind.load import Load
from actors.submind.message_router import MessageRouter
from actors.submind.partition import Partition, partition
from environment.messages import Instant, Thought, Vector, Via

_HINT = 24


@dataclass(frozen=True, slots=True)
class HandoverSource:
    """What a submind has at a moment, as far as it may be handed over."""

    owner: str
    goals: tuple[Goal, ...]
    events: Sequence[Thought]
    """Waiting to be bound."""
    via: OrderedDict[str, Via]
    waiting: Sequence[Thought]
    """Not yet durable."""
    share: float
    rounds: int
    habits: Habits


def handover_of(has: HandoverSource, router: MessageRouter, keys: Collection[str], now: Instant) -> HandoverState:
    """The part of a submind that belongs to some of its topics, without what is not yet durable."""
    held = tuple(h for h in router.topics.holdings() if h.key in keys)
    links, uses = router.registry.handed(keys, now)
    events = tuple(e for e in has.events if (t := router.topics.nearest(e.vector)) is not None and t.key in keys)
    mean, seen = router.topics.common
    return HandoverState(
        owner=has.owner,
        goals=has.goals,
        topics=held,
        about=about(held, has.goals),
        mean=mean,
        seen=seen,
        connections=links,
        uses=uses,
        events=events,
        via={e.id: has.via[e.id] for e in events if e.id in has.via},
        share=has.share,
        rounds=has.rounds,
        habits=has.habits,
    )


def about(topics: Sequence[Holding], goals: Sequence[Goal]) -> Vector:
    """What topics are about: half their mean by traffic, half the goals, L2-normalised."""
    parts = [_unit(sum(h.centroid * np.float32(1 + h.traffic) for h in topics)) if topics else None]
    parts.append(_unit(sum(g.vector for g in goals)) if goals else None)
    return _unit(sum(p for p in parts if p is not None))


def _unit(vector: object) -> Vector:
    row = np.asarray(vector, np.float32)
    return row / np.float32(max(float(np.sqrt(row @ row)), 1e-9))


def divide_goals(goals: tuple[Goal, ...], kept: Vector, given: Vector) -> tuple[Goal, ...]:
    """The objectives that go with a group of topics: those nearer to it than to what is kept; all where none is nearer.

    ``kept`` and ``given`` are the weighted means of the two groups of topics.
    """
    nearer = tuple(g for g in goals if float(g.vector @ given) > float(g.vector @ kept))
    return nearer if nearer and len(nearer) < len(goals) else goals


def hint(label: str) -> str:
    """A readable word for a name, made of a topic's label: its first term in small Latin letters, or nothing."""
    term = unicodedata.normalize("NFKD", label.partition(",")[0]).encode("ascii", "ignore").decode().lower()
    word = "-".join("".join(c if c.isalnum() else " " for c in term).split())[:_HINT].strip("-")
    return word if word[:1].isalpha() else ""


class Division:
    """When to propose a division, and of what.

    Guarantees: proposes only while overloaded for ``sustained``, with topics that fall into two groups, outside its
    cool-down; one proposal is under way at most, under one name however often it is repeated.
    """

    def __init__(self, settings: DivisionSettings, load: Load) -> None:
        self._settings = settings
        self._load = load

    def configure(self, settings: DivisionSettings) -> None:
        """From the next proposal on."""
        self._settings = settings

    def split(self, router: MessageRouter, now: Instant) -> tuple[Partition, tuple[Holding, ...]] | None:
        """The two groups its topics fall into, if they do so clearly enough."""
        topics = router.topics.holdings()
        if len(topics) < 2:  # noqa: PLR2004  # two groups need two topics
            return None
        traffic = self._load.traffic((t.key for t in topics), now)
        found = partition(np.stack([t.centroid for t in topics]), traffic, self._settings.least_share)
        if found is None or found.silhouette < self._settings.silhouette:
            return None
        return found, topics

    def proposal(self, growth: str, has: HandoverSource, router: MessageRouter, now: Instant) -> Divide | None:
        """What to propose; None where the topics belong together, and are looked at again later."""
        parted = self.split(router, now)
        if parted is None:
            return None
        groups, topics = parted
        keys = frozenset(topics[i].key for i in groups.lighter)
        traffic = self._load.traffic((t.key for t in topics), now)
        means = [_unit(sum(topics[i].centroid * traffic[i] for i in rows)) for rows in (groups.heavier, groups.lighter)]
        goals = divide_goals(has.goals, means[0], means[1])
        part = handover_of(
            HandoverSource(has.owner, goals, has.events, has.via, (), has.share / 2, has.rounds, has.habits),
            router,
            keys,
            now,
        )
        busiest = max(groups.lighter, key=lambda i: (traffic[i], topics[i].key))
        reason = (
            f"overloaded, {len(keys)} of {len(topics)} topics stand apart:"
            f" silhouette {groups.silhouette:.2f}, {groups.share:.0%} of the traffic"
        )
        return Divide(growth, hint(topics[busiest].label), part, reason)
