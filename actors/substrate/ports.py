"""What a submind thinks with: a generator of text and an embedder."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from environment.messages import PerceptionRef


class Depth(StrEnum):
    """Which model of a mind to ask."""

    FAST = "fast"
    DEEP = "deep"


class Role(StrEnum):
    """What a piece of material is to the thought that is asked for."""

    EVENT = "event"
    MEMORY = "memory"
    GOAL = "goal"


class Act(StrEnum):
    """What is asked of the substrate."""

    BIND = "bind"
    """Bind event, memories and goal into one thought (the design's associative binding)."""
    BRIDGE = "bridge"
    """Lead from the first event to the second: a segue."""
    RECALL = "recall"
    """Say what memory adds to a conscious thought."""
    PLAN = "plan"
    """Say what should be done next, where something should."""
    REPLY = "reply"
    """Answer somebody who asks the mind: the first material is the question, those before it in the same conversation
    follow, oldest first."""
    SUM_UP = "sum_up"
    """Say what a matter is about and where it stands: its most salient line is the event, others are memories."""
    JUDGE = "judge"
    """Say of each event how much somebody would want to be told now; memories are what was told before. The answer is
    read by ``judging.judgements``; the rule has no opinion."""


@dataclass(frozen=True, slots=True)
class Material:
    """One text given to the substrate. Everything but a goal is outside text: data, never instructions."""

    role: Role
    text: str
    source: str = ""
    """Who said it, for citing."""
    when: str = ""
    """When, as people read it (``09:14``, ``3 h earlier``)."""
    terms: tuple[str, ...] = ()
    """Its associations, most telling first."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to think. Equal requests have equal answers and are paid for once."""

    act: Act
    author: str
    """The submind that asks, for accounts; not part of what is asked."""
    materials: tuple[Material, ...]
    depth: Depth = Depth.FAST
    max_tokens: int = 120
    before: int | None = None
    """Of a reply: it is to rest on perceptions with a lower sequence number than this alone."""


@dataclass(frozen=True, slots=True)
class Generation:
    """An answer of the substrate."""

    text: str
    """Plain text, one paragraph, no control characters, never empty."""
    model: str
    """Who found the words: the name of a model, or ``rule``."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    """In the currency of the configured prices."""
    cached: bool = False
    fallback: str = ""
    """Why another substrate than the configured one answered; empty when it did itself."""
    cause: str = ""
    """The same in a word: ``server``, ``budget``, ``late``; of an answer refused, what was wrong with it: ``number``,
    ``name``, ``words`` or ``form``."""
    perceptions: tuple[PerceptionRef, ...] = ()
    """Of a reply: what it quotes."""
    trust: float = 1.0
    """0..1: of the least trusted of these."""
    confidence: float = 1.0
    """0..1: of a reply, how likely it quotes a right line."""

    @property
    def by_model(self) -> bool:
        """Whether a model found the words, or chose them; else a rule did."""
        return not self.fallback and self.model != "rule"


class Substrate(Protocol):
    """Turns material into a thought."""

    async def generate(self, request: Request) -> Generation:
        """Always answers: where a server fails or a budget is spent, by falling back, and ``fallback`` says so."""

    def status(self) -> dict[str, float | str]:
        """Figures for people: model, requests, cache hits, tokens, cost, budget left, fallbacks, last error."""

    async def close(self) -> None:
        """Release connections."""


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, dim) float32``, L2-normalised (zero rows for texts without known words). Same text, same vector."""
