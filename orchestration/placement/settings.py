"""Configuration of a mind on a Ray cluster that others run."""

from pathlib import Path

from pydantic import Field, field_validator

from environment.addresses import endpoint_of
from environment.config import Seconds, Section

CLIENT_SCHEME = "ray://"
"""With which the address of a Ray client server begins."""


class ClusterSettings(Section):
    """Which nodes a mind lives on, and how much of them it takes."""

    address: str = ""
    """Empty: the mind starts a Ray of its own on this machine. ``HOST:PORT`` of the GCS of a Ray cluster, or ``auto``
    for the one that ``ray start`` joined here (or that ``RAY_ADDRESS`` names): a node of it must run on this machine.
    ``ray://HOST:PORT`` through a Ray client server: none need be here."""
    token_file: Path | None = None
    """The token of a cluster that asks for one. Empty: as Ray's own variables say (``RAY_AUTH_MODE``)."""
    connect_within: Seconds = Field(default=10.0, gt=0, le=300)
    """Time within which the cluster answers, or is said to be away."""
    resource: str = Field(default="submind", min_length=1)
    """Custom resource of the nodes that take actors: ``ray start --resources='{"submind": 16}'``."""
    units: float = Field(default=1.0, gt=0)
    """How much of it an actor takes."""
    units_of: dict[str, float] = Field(default_factory=dict)
    """The same for actors by name (``environment``) or role (``perceptual``), where it is another."""
    cpus: float = Field(default=0.0, ge=0)
    """Ray's ``CPU`` that an actor takes besides."""
    quota: float | None = Field(default=None, gt=0)
    """Most units that this mind takes in all, so that it leaves others of the cluster theirs; beyond it the last of its
    subminds are not started, and say so in their reports (``submind_mind_actors_unschedulable`` counts them).
    Empty: as many as there are."""
    nodes: tuple[str, ...] = ()
    """Nodes that it may use, by name, address or id. Empty: all that have the resource."""
    moves: int = Field(default=2, ge=1, le=1000)
    """Actors that are moved at a time, to even loads out or off a node that is drained."""
    slack: float = Field(default=0.02, ge=0, le=1)
    """Nobody is moved just to even loads out unless the node it goes to stays emptier than the one it leaves by this
    share of their room, even with it."""
    steady_after: Seconds = Field(default=5.0, ge=0)
    """A node must have been there so long before others are moved to it."""
    autoscale: bool = False
    """Whether the autoscaler of the cluster is asked for nodes with room for all actors, within ``quota``, and for one
    more place where somebody could not be born for want of one. What is not needed is emptied: see ``spare_after``."""
    spare_after: Seconds = Field(default=300.0, ge=0)
    """With ``autoscale``: a node without which all have had a place for this long is emptied, so that the autoscaler
    finds it idle and takes it away. As soon as it is needed it takes actors again."""
    least_nodes: int = Field(default=1, ge=1)
    """With ``autoscale``: so many nodes keep their actors, needed or not. Give what the autoscaler leaves in any case
    (``minReplicas``)."""
    look_every: Seconds = Field(default=0.5, gt=0, le=60)
    """How often the mind looks which nodes there are."""
    born_within: Seconds = Field(default=60.0, gt=0)
    """An actor that has not started on its node by then has no claim to it: others may have been faster."""

    @field_validator("address")
    @classmethod
    def _known(cls, value: str) -> str:
        if value and value != "auto":
            try:
                endpoint_of(value.removeprefix(CLIENT_SCHEME))
            except ValueError:
                raise ValueError("a Ray cluster is written HOST:PORT, ray://HOST:PORT or auto") from None
        return value

    @field_validator("units_of")
    @classmethod
    def _positive(cls, value: dict[str, float]) -> dict[str, float]:
        if any(units <= 0 for units in value.values()):
            raise ValueError("an actor takes more than nothing")
        return value
