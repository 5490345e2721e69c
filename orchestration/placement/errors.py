"""What can go wrong in finding a place. Each says what to do about it; all survive pickling."""

from environment.errors import FieldedError


class PlacementError(FieldedError, Exception):
    """Root of this room's errors. ``reason`` is a sentence."""

    reason: str


class ClusterUnreachable(PlacementError):
    """The Ray cluster does not answer, or does not want this mind: nothing was started there."""


class NoSuchNode(PlacementError):
    """No node, or more than one, is meant."""
