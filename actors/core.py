"""What every actor of a mind is inside: a pure core, driven by a shell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from actors.effects import Effect
from actors.events import Event
from environment.messages import Instant, Perception


@dataclass(frozen=True, slots=True)
class Description:
    """What an actor says of itself in its reports."""

    role: str
    goal: str
    topics: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    """Gauges by metric name."""


class Core(Protocol):
    """Events in, effects out: no clock, no randomness, no I/O of its own.

    Guarantee: state changes only inside ``handle``, which never awaits; the same events at the same times from
    the same snapshot give the same effects.
    """

    @property
    def name(self) -> str:
        """The address others send to."""

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        """Take in one event at mind time ``now``."""

    def texts(self, perceptions: Sequence[Perception]) -> list[str]:
        """Texts whose embeddings ``Perceived`` must bring along; empty for actors that do not perceive."""

    def describe(self) -> Description:
        """For reports; cheap."""

    def snapshot(self) -> bytes:
        """All that must survive a crash; empty when the actor is restored from elsewhere.

        Where instants are in it, the core names the type it packs as ``saved``: by that what a wrong clock dated is
        found and dated anew (``environment/clocks.py``).
        """

    def restore(self, state: bytes) -> None:
        """Continue from a snapshot; called once, before ``Started``. Raises ``ValueError`` for foreign bytes."""


class Inward:
    """A core that lives on what other actors tell it and perceives nothing itself."""

    def texts(self, perceptions: Sequence[Perception]) -> list[str]:  # noqa: ARG002  # a Core's signature
        return []


@runtime_checkable
class Finishing(Protocol):
    """A core that holds something back for a while, which the end of a replay does not wait for."""

    def finish(self, now: Instant) -> list[Effect]:
        """Let go of what is held."""
