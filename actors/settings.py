"""Configuration of the actors: one section per room, composed by the orchestration's tree."""

from pydantic import Field

from environment.config import Seconds, Section, Share


class ShellSettings(Section):
    """How every actor takes in its work."""

    mailbox: int = Field(default=2048, ge=16, le=1_000_000)
    """Thoughts that may wait; beyond it the least are dropped, counted as ``limit_hits:mailbox``."""
    patience: Seconds = Field(default=30.0, gt=0)
    """A waiting thought gains one full unit of priority in this time, so nothing starves."""
    batch: int = Field(default=64, ge=1, le=4096)
    """Events handled before their effects are performed in one commit."""
    pressure_every: Seconds = Field(default=15.0, gt=0)
    """How often a working actor's core is told how full its mailbox was (mind time)."""
    vitals_every: Seconds = Field(default=600.0, gt=0)
    """How often a working actor tells metacognition its figures (mind time)."""
    save_every: Seconds = Field(default=2.0, gt=0)
    """How often an actor that changed saves its state and reports (wall time)."""


class TopicSettings(Section):
    """How a submind carves what it meets into topics."""

    threshold: float = Field(default=0.45, ge=-1, le=1)
    """Cosine to the nearest centroid, after centring, at which a vector joins its topic."""
    crowded: float = Field(default=0.25, ge=-1, le=1)
    """The same once there is no room for more topics: only what is unlike all of them may take a place."""
    merge: float = Field(default=0.85, ge=-1, le=1)
    """Cosine between two centroids beyond which the topics become one."""
    capacity: int = Field(default=64, ge=2, le=4096)
    """Topics a submind may hold."""
    memory: int = Field(default=500, ge=8)
    """Vectors over which centroids and the common mean are averaged."""


class ConnectionSettings(Section):
    """Plasticity: how connections are made, rewarded and forgotten."""

    initial: Share = 0.2
    """Weight of a new transient connection."""
    eta: Share = 0.12
    """Credit: ``w += eta * (1 - w)``."""
    eta_minus: Share = 0.04
    """A use without credit within ``credit_window``: ``w -= eta_minus * w``."""
    credit_window: Seconds = 1800.0
    """How long a use may wait for its credit."""
    half_life: Seconds = 7 * 86400.0
    """Idle decay of a weight."""
    promote_at: Share = 0.6
    """A transient connection at or above this weight becomes LTP, once credited ``promote_uses`` times."""
    promote_uses: int = Field(default=5, ge=1)
    """Credited uses before promotion."""
    demote_at: Share = 0.4
    """An LTP connection below this weight becomes transient again."""
    forget_at: Share = 0.05
    """A transient connection below this weight is forgotten."""
    per_topic: int = Field(default=8, ge=1, le=256)
    """Connections a topic may have; the weakest goes first."""
    total: int = Field(default=256, ge=4, le=100_000)
    """Connections a submind may have over all topics."""
    fan_out: int = Field(default=3, ge=1, le=64)
    """Peers a thought is sent to."""
    follow: Share = 0.0
    """Peers whose connection has less than this share of the strongest one's weight are not sent to."""
    explore: Share = 0.05
    """Chance that one of them is a peer outside the registries."""
    history: int = Field(default=16, ge=1, le=256)
    """(time, outcome) pairs kept with a connection."""


class BindingSettings(Section):
    """When and how a submind binds events, memories and goals into a thought."""

    window: Seconds = 300.0
    """How long an event may wait to be bound."""
    window_events: int = Field(default=32, ge=1, le=4096)
    """Events the window holds; the oldest goes first."""
    k: int = Field(default=5, ge=1, le=16)
    """Best of each category that enter the combinations."""
    memory: int = Field(default=1000, ge=8)
    """Combinations over which a head's mean and deviation are taken."""
    temperature: float = Field(default=0.5, gt=0)
    """Of the joint softmax over combinations."""
    kin: float = Field(default=0.75, ge=0)
    """Kinship (cosine, more for each association in common) from which a memory belongs to an event."""
    apart: Seconds = 300.0
    """Event time that must lie between the two: what was said a moment ago is context, not a memory."""
    same: float = Field(default=0.92, ge=0, le=1)
    """Cosine beyond which a memory says the same as the event and adds nothing."""
    least_fit: float = Field(default=-1.0, ge=-1, le=1)
    """Cosine to the nearest goal that an event needs to be considered at all; -1: any will do."""
    interest: Share = 0.6
    """Percentile of salience times relevance an event needs before memories are sought for it."""
    per_hour: float = Field(default=60.0, gt=0)
    """Thoughts a submind may bind an hour (mind time); bursts of a quarter of it."""
    memories: int = Field(default=8, ge=1, le=64)
    """Traces asked for in a crawl."""


class DivisionSettings(Section):
    """Neurogenesis: when a submind proposes to divide. Whether it may is decided elsewhere, by the limits of growth."""

    overload: Share = 0.5
    """Mean use of the mailbox from which it is overloaded."""
    relief: Share = 0.25
    """Mean use of the mailbox below which it no longer is; in between all stays as it was."""
    sustained: Seconds = 120.0
    """How long an overload must last before a division is considered, and the pause before it is considered again."""
    silhouette: float = Field(default=0.1, ge=-1, le=1)
    """How well its topics must fall into two groups: weighted mean silhouette."""
    least_share: float = Field(default=0.2, ge=0, le=0.5)
    """Of the traffic either group must have: a division that relieves nobody is none."""
    traffic_half_life: Seconds = Field(default=1800.0, gt=0)
    """How fast the traffic of a topic is forgotten."""
    settle: Seconds = 300.0
    """After a birth or a division it does not propose to divide for this long: what came of it must show first. For
    topics that were given away and came back it is ``cooldown``."""
    cooldown: Seconds = 1800.0
    """After a merger it does not propose to divide for this long."""
    damping: float = Field(default=2.0, ge=1, le=16)
    """Topics that were given away and came back lately make both slower by this factor, each time: the next division
    waits longer, and the child of it lives longer without work. 1 damps nothing."""
    answer_within: Seconds = Field(default=30.0, gt=0)
    """A proposal without an answer is repeated after this time, a few times."""
    ties: int = Field(default=4, ge=0, le=64)
    """Topics, busiest first, for which parent and child begin with a transient connection to each other."""


class ApoptosisSettings(Section):
    """When a submind that was born in the mind proposes to end. A configured one never does."""

    idle_for: Seconds = Field(default=86400.0, gt=0)
    """Time without a message or a thought of its own."""


class CognitiveSettings(Section):
    """A cognitive submind."""

    topics: TopicSettings = TopicSettings()
    """Its topics."""
    connections: ConnectionSettings = ConnectionSettings()
    """Its LTP and transient registries."""
    binding: BindingSettings = BindingSettings()
    """Its associative binding."""
    division: DivisionSettings = DivisionSettings()
    """When it proposes to divide."""
    apoptosis: ApoptosisSettings = ApoptosisSettings()
    """When it proposes to end."""
    wander_every: Seconds = 900.0
    """Idle time after which it crawls by itself."""
    wander_leeway: Seconds = 5.0
    """How much later it may do so, to do it together with others of its process: at the moments when these save
    (`shell.save_every`), if one of them falls within this time."""
    random_share: Share = 0.2
    """Share of those crawls that are random; the others are directed or associative."""
    max_depth: int = Field(default=6, ge=1, le=64)
    """Longest chain of thoughts it may extend: what is deeper is noticed and ended."""
