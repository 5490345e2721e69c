"""What can go wrong in finding a place. Each says what to do about it; all survive pickling."""

from __future__ import annotations


class PlacementError(Exception):
    """Root of this room's errors. ``reason`` is a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class ClusterUnreachable(PlacementError):
    """The Ray cluster does not answer, or does not want this mind: nothing was started there."""


class NoSuchNode(PlacementError):
    """No node, or more than one, is meant."""
