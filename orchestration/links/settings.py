"""Configuration of the links between actors."""

from __future__ import annotations

from pydantic import Field

from environment.config import Seconds, Section

MIB = 1024 * 1024


class LinkSettings(Section):
    """How events travel from one actor to another."""

    linger: Seconds = 0.003
    """How long the first event of a batch waits for others: on a busy link one write carries many."""
    batch: int = Field(default=256, ge=1, le=65_536)
    """Most events in one write."""
    outbox: int = Field(default=4096, ge=16, le=1_000_000)
    """Events that may wait for a peer that is slow or away; beyond it newcomers are dropped, counted as
    ``limit_hits:outbox``."""
    frame_bytes: int = Field(default=64 * MIB, ge=MIB)
    """Largest batch on the wire; a larger one is dropped and said so."""
    retry: Seconds = Field(default=0.05, gt=0)
    """Wait before a peer that could not be reached is looked up again; doubles up to ``retry_most``."""
    retry_most: Seconds = Field(default=1.0, gt=0)
    """Longest of these waits. Part of each is chance, so that not all come back at once."""
    handshake: Seconds = Field(default=5.0, gt=0)
    """How long a connection from another machine may take to prove that it belongs to this mind."""
    strangers: int = Field(default=256, ge=1, le=65_536)
    """Connections from other machines that have yet to prove it; beyond it the oldest is cut off, counted as
    ``limit_hits:strangers``."""
