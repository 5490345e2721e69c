"""What one submind leaves to another: to its child when it divides, to its heir when it ends.

Source: the agentic design ("they have the ability to spawn a new agent to offload objectives and associated network
connections, partitioned by topic"). Everything here travels and is kept by the snapshot codec.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from environment.messages import Connection, Instant, Thought, Vector, Via


@dataclass(frozen=True, slots=True)
class Goal:
    """What a submind is for."""

    text: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class Holding:
    """A topic as it is handed over."""

    key: str
    """Its name in the registries; kept by whoever gets it, so that late credit still finds it."""
    label: str
    centroid: Vector = field(compare=False, repr=False)
    """Centred as its owner compares, L2-normalised."""
    traffic: int = 0
    """What it was assigned in its life."""
    terms: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenUse:
    """A use of a connection that still waits for its credit."""

    due: Instant
    topic: str
    peer: str
    rewarded: bool = False


@dataclass(frozen=True, slots=True)
class Habits:
    """How its owner judges: a child begins with the parent's measure instead of none; an heir has its own."""

    interest: tuple[float, ...] = ()
    """Latest values of salience times relevance, by which a new one is ranked."""
    moments: tuple[object, ...] = (0, (), ())
    """Running moments of the binding heads, as they dump themselves."""
    rarity: Mapping[str, int] = field(default_factory=dict)
    """How often each association was met."""


@dataclass(frozen=True, slots=True)
class HandoverState:
    """Part of a submind, or all of it.

    Guarantee: whoever takes it over can go on with its topics as its owner would have; taking it over twice is taking
    it over once.
    """

    owner: str
    goals: tuple[Goal, ...]
    """Objectives that belong to these topics; at least one."""
    topics: tuple[Holding, ...]
    about: Vector = field(compare=False, repr=False)
    """What these topics are about, for the directory: their traffic-weighted mean beside the goals, L2-normalised."""
    mean: Vector = field(compare=False, repr=False)
    """The common part of all that its owner has met, which centring removes."""
    seen: int = 0
    """Vectors behind ``mean``."""
    connections: tuple[Connection, ...] = ()
    """Connections of these topics, with their history."""
    uses: tuple[OpenUse, ...] = ()
    """Their uses that may still be credited."""
    events: tuple[Thought, ...] = ()
    """In-flight work: events waiting to be bound."""
    via: Mapping[str, Via] = field(default_factory=dict)
    """Who told of these events, by their id."""
    waiting: tuple[Thought, ...] = ()
    """Thoughts not yet durable, to be posted by who takes over; a parent posts its own."""
    share: float = 1.0
    """Of the budget one configured submind has: what goes along."""
    saved: float = 0.0
    """Thoughts that may be had at once: what goes along of what its owner had saved up."""
    rounds: int = 0
    """How often these topics were given away and came back lately."""
    habits: Habits = field(default_factory=Habits, repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """What its topics are called, busiest first."""
        return tuple(t.label for t in sorted(self.topics, key=lambda t: (-t.traffic, t.key)))
