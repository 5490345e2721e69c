"""Configuration of the links between actors."""

from pydantic import Field

from environment.config import Seconds, Section

MIB = 1024 * 1024


class LinkSettings(Section):
    """How events travel from one actor to another."""

    linger: Seconds = 0.003
    """Least time between two writes on a link that do not fill a batch: a first event leaves at once, on a busy link
    one write carries many."""
    batch: int = Field(default=256, ge=1, le=65_536)
    """Most events in one write."""
    outbox: int = Field(default=4096, ge=16, le=1_000_000)
    """Events that may wait for a peer that is slow or away; beyond it the least important are dropped, counted as
    ``limit_hits:outbox``."""
    outboxes: int = Field(default=65_536, ge=16, le=100_000_000)
    """Events that may wait for all peers of a process together; beyond it the least important are dropped, counted as
    ``limit_hits:outboxes``."""
    away: Seconds = Field(default=300.0, gt=0)
    """How long a peer that is nowhere is waited for; then what waited for it is dropped, counted as
    ``limit_hits:away``."""
    window: int = Field(default=1024, ge=1, le=1_000_000)
    """Events that may be on their way from one process to another, written and not yet handed over: what a receiver
    may still get after it had no room."""
    frame_bytes: int = Field(default=64 * MIB, ge=MIB)
    """Largest batch on the wire; what is larger goes in several. An event that is larger by itself is dropped,
    counted as ``limit_hits:frame_bytes``."""
    retry: Seconds = Field(default=0.05, gt=0)
    """Wait before a peer that could not be reached is looked up again; doubles up to ``retry_most``."""
    retry_most: Seconds = Field(default=1.0, gt=0)
    """Longest of these waits. Part of each is chance, so that not all come back at once."""
    handshake: Seconds = Field(default=5.0, gt=0)
    """How long a connection from another machine may take to prove that it belongs to this mind."""
    strangers: int = Field(default=256, ge=1, le=65_536)
    """Connections from other machines that have yet to prove it; beyond it the oldest is cut off, counted as
    ``limit_hits:strangers``."""
