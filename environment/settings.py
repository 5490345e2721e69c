"""Configuration of the subliminal environment."""

from pydantic import Field

from environment.config import Seconds, Section, Share
from environment.messages import ThoughtKind


class HalfLives(Section):
    """How long the level of a trace takes to halve, by where the thought came from; its salience follows from that."""

    percept: Seconds = Field(default=10800.0, gt=0)
    """What a perceptual submind made of raw input."""
    insight: Seconds = Field(default=21600.0, gt=0)
    """What a cognitive submind bound together."""
    reflection: Seconds = Field(default=3600.0, gt=0)
    """What a metacognitive submind says about the mind."""
    result: Seconds = Field(default=7200.0, gt=0)
    """What active thinking made of a conscious thought."""

    def of(self, kind: ThoughtKind) -> float:
        """The half-life of a kind of thought, in seconds."""
        value: float = getattr(self, kind.value)
        return value


class EnvironmentSettings(Section):
    """How traces evaporate, rise, and go."""

    half_life: HalfLives = HalfLives()
    """Evaporation by kind of thought: the level halves in this time unless somebody reinforces the trace."""
    floor: Share = Field(default=0.02, gt=0, lt=1)
    """A trace whose level sinks below this is retired: out of the index, still in the log."""
    capacity: int = Field(default=20_000, ge=16, le=2_000_000)
    """Live traces at most; beyond it the least salient are retired, counted as ``limit_hits:capacity``."""
    ceiling: Share = 0.92
    """No reinforcement lifts a trace above this."""
    gain: Share = 0.3
    """What building on a trace counts as reinforcement, and the most that one reinforcement may ask for."""
    loss: Share = 0.5
    """The most that one act of diminishing may take off."""
    perceptions: int = Field(default=16, ge=1, le=256)
    """Perceptions a revised trace cites at most, focus first."""
    parents: int = Field(default=32, ge=1, le=256)
    """Parents a revised trace names at most, newest first."""
    via: int = Field(default=8, ge=0, le=64)
    """Direct messages a revised trace credits at most, newest first."""
    ancestry: int = Field(default=256, ge=1, le=4096)
    """Traces looked at when asking whether one descends from another; beyond it, doubt counts as an echo."""
    broadcast_gain: Share = 0.1
    """What a conscious thought adds to the traces that were bound with it."""
    announce: Share = 0.1
    """Level from which a new or raised trace is named to attention; of the others it learns only how many."""
    sweep_every: Seconds = 60.0
    """How often traces below the floor are retired, at most (mind time)."""
    reinforcers: int = Field(default=32, ge=1, le=1024)
    """Subminds whose reinforcements of a trace are counted apart; further ones share one count."""
    terms: int = Field(default=16, ge=1, le=256)
    """Associations of a trace by which it can be met again."""
    fan_out: int = Field(default=64, ge=1, le=4096)
    """Traces followed from one association, the latest first."""
    postings: int = Field(default=512, ge=1, le=1_000_000)
    """Traces remembered for one association; a commoner one forgets its oldest."""
    flat_limit: int = Field(default=25_000, ge=256, le=1_000_000)
    """Up to so many traces a crawl by meaning is exact; beyond, the index is divided into cells (IVF).
    At the default capacity it stays exact, which up to there is also the fastest."""
