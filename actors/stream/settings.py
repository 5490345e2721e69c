"""Configuration of the stream of consciousness."""

from pydantic import Field

from environment.config import Seconds, Section


class StreamSettings(Section):
    """How conscious thoughts are ordered and joined."""

    reorder: Seconds = 0.5
    """How long a thought waits for an earlier one before it is numbered (mind time)."""
    segue_below: float = Field(default=-1.0, ge=-1, le=1)
    """Neighbours whose centred cosine is lower are joined by a segue; -1, none are."""
    segue_within: Seconds = 600.0
    """Only neighbours no further apart than this (event time) are joined: a longer pause needs no transition."""
    segue_patience: Seconds = 10.0
    """How long a thought waits for the words of its segue before it goes without."""
    memory: int = Field(default=200, ge=8)
    """Thoughts over which the common part of the stream is averaged."""
    remembered: int = Field(default=4096, ge=16)
    """Ids of recent entries by which a repeated hand-over is recognised."""
