"""What an interpreter makes of raw input, before it becomes a thought."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from environment.messages import Instant, Perception, PerceptionRef, Vector


@dataclass(frozen=True, slots=True)
class Percept:
    """One event worth a thought."""

    text: str
    vector: Vector = field(compare=False, repr=False)
    time: Instant
    salience: float
    perceptions: tuple[PerceptionRef, ...]
    """Focus first."""
    trust: float
    part: str = ""
    """Tells several percepts of one perception apart."""
    terms: tuple[str, ...] = ()
    emotions: Mapping[str, float] = field(default_factory=dict)
    evidence: Mapping[str, float] = field(default_factory=dict)
    insights: tuple[str, ...] = ()
    confidence: float = 1.0
    count: int = 1


class Interpreter(Protocol):
    """Turns the perceptions of one modality into percepts; pure, in order of arrival."""

    saved: Any
    """The type of what ``load`` is given: what ``dump`` gave, decoded."""

    def texts(self, perceptions: Sequence[Perception]) -> list[str]:
        """Texts whose embeddings ``interpret`` will look up."""

    def interpret(self, perception: Perception, vectors: Mapping[str, Vector]) -> list[Percept]:
        """What is worth a thought in it; often nothing."""

    def quiet(self, now: Instant) -> list[Percept]:
        """What is worth a thought because something did not come; ``now`` is the latest event time."""

    def due(self) -> Instant | None:
        """Event time before which ``quiet`` has nothing to say; None while it never has."""

    def figures(self) -> Mapping[str, float]:
        """Gauges and counters by metric name."""

    def dump(self) -> dict[str, object]:
        """For a snapshot."""

    def load(self, saved: Any) -> None:
        """From a snapshot."""


def ref(perception: Perception) -> PerceptionRef:
    """A citation of a perception."""
    return PerceptionRef(perception.id, perception.time, perception.source)
