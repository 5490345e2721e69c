"""Configuration of the links between actors."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from environment.config import Seconds, Section

MIB = 1024 * 1024


class LinkTlsSettings(Section):
    """Certificates of links between machines. Empty: plain text.

    Each node has the files at the same place. They are read again when they change, and count from the next
    connection on.
    """

    certificate: Path | None = None
    """What each process shows to who calls it, and those between it and its authority, in PEM form."""
    key: Path | None = None
    """Its private key, in PEM form, not encrypted."""
    ca: Path | None = None
    """Authorities that the certificate of who is called must come from."""
    client_ca: Path | None = None
    """Authorities that the certificate of who calls must come from (mutual TLS): the same `certificate` is shown, and
    must be one for servers and clients. Empty: callers show none."""
    server_name: str = ""
    """The name or address that certificates must be for. Empty: any of theirs, as nodes come and go; that it is of
    this run is proven besides."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        needed = {"certificate": self.certificate, "key": self.key, "ca": self.ca}
        given = [path for path in needed.values() if path is not None]
        if given and len(given) < len(needed):
            missing = " and ".join(f"`{name}`" for name, path in needed.items() if path is None)
            raise ValueError(f"without {missing}: links take `certificate`, `key` and `ca` together, or none of them")
        for name in ("certificate", "key", "ca", "client_ca"):
            if (path := getattr(self, name)) is not None and not path.is_absolute():
                raise ValueError(f"`{name}` {path} must begin with /: processes on every node look for it there")
        for name in ("client_ca", "server_name"):
            if getattr(self, name) and not given:
                raise ValueError(f"`{name}` is of use with TLS only: give `certificate`, `key` and `ca` as well")
        return self


class LinkSettings(Section):
    """How events travel from one actor to another."""

    tls: LinkTlsSettings = LinkTlsSettings()
    """Certificates of links between machines; on one machine links are Unix sockets, which only this user reaches."""
    linger: Seconds = 0.003
    """Least time between two writes on a link that do not fill a batch: a first event leaves at once, on a busy link
    one write carries many."""
    batch: int = Field(default=256, ge=1, le=65_536)
    """Most events in one write."""
    outbox: int = Field(default=4096, ge=16, le=1_000_000)
    """Events that may wait for a peer that is slow or away; beyond it the least important are dropped, counted as
    ``limit_hits:outbox``."""
    outboxes: int = Field(default=65_536, ge=16, le=100_000_000)
    """The same for all peers of a process together, counted as ``limit_hits:outboxes``."""
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
