"""Configuration of the actors: one section per room, composed by the orchestration's tree."""

from __future__ import annotations

from pydantic import Field

from environment.config import Seconds, Section


class ShellSettings(Section):
    """How every actor takes in its work."""

    mailbox: int = Field(default=2048, ge=16, le=1_000_000)
    """Thoughts that may wait; beyond it the least are dropped, counted as ``limit_hits:mailbox``."""
    patience: Seconds = Field(default=30.0, gt=0)
    """A waiting thought gains one full unit of priority in this time, so nothing starves."""
    batch: int = Field(default=64, ge=1, le=4096)
    """Events handled before their effects are performed in one commit."""
    save_every: Seconds = Field(default=2.0, gt=0)
    """How often an actor that changed saves its state and reports (wall time)."""
