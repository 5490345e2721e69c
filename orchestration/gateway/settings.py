"""Configuration of the gateway: where it listens, what it takes in, and how much of it at a time."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from environment.config import Seconds, Section, Share

KIB, MIB = 1024, 1024 * 1024

Glob = Annotated[str, Field(min_length=1, max_length=256)]


class IntakeSettings(Section):
    """What the mind takes in. Narrower than the schema's rules or equal to them, never wider."""

    batch: int = Field(default=1024, ge=1, le=8192)
    """Most perceptions in one batch."""
    text_bytes: int = Field(default=MIB, ge=1, le=4 * MIB)
    """Longest text, in bytes of UTF-8."""
    image_bytes: int = Field(default=4 * MIB, ge=1, le=32 * MIB)
    """Largest image, encoded."""
    media_types: frozenset[str] = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})
    """Encodings of images that the mind can look at."""
    telemetry_names: int = Field(default=256, ge=1, le=1024)
    """Most named readings in one perception."""
    labels: int = Field(default=32, ge=0, le=64)
    """Most labels on one perception."""
    label_bytes: int = Field(default=1024, ge=1, le=4096)
    """Longest value of a label, in bytes of UTF-8."""
    far_future: Seconds = 300.0
    """How far ahead of the receiver's clock an event time may be: sources' clocks differ a little."""
    trust: dict[Glob, Share] = Field(default_factory=dict)
    """How far each source is trusted, by a pattern of its name (``team/*``); the first that fits counts."""
    trust_unknown: Share = 0.4
    """How far every other source is trusted."""
    pending: int = Field(default=16_384, ge=1)
    """Most perceptions waiting for their commit, of all callers together; beyond it callers are asked to come back,
    and streams are held back."""
    pending_bytes: int = Field(default=64 * MIB, ge=KIB)
    """Most bytes of payload waiting for their commit, of all callers together; beyond it as with ``pending``."""
    per_second: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Most perceptions a second on average, counted by the host that leads; beyond it callers are asked to come back.
    0: not at all."""
    burst: int = Field(default=16_384, ge=1)
    """How many may come at once where nothing came for a while; never less than fit into one commit."""
    commit: int = Field(default=4096, ge=1)
    """Most perceptions in one commit (one batch may be more)."""
    commit_bytes: int = Field(default=16 * MIB, ge=KIB)
    """Most bytes of payload in one commit (one batch may be more)."""
    commit_linger: Seconds = 0.0
    """How long the first of a commit waits for others. Callers that arrive while a commit is under way share the next
    one in any case, so 0 costs nothing but when many callers send little each to a slow disk."""
    retry_after: Seconds = 0.25
    """When a caller who met a full queue is asked to come back."""


class GatewaySettings(Section):
    """The gRPC server."""

    listen: str = "127.0.0.1:50051"
    """``HOST:PORT``; port 0 takes a free one. On anything but a loopback address a token is required."""
    token_file: Path | None = None
    """A file that holds the bearer token callers must show, at least 16 characters. Empty: no token, loopback only."""
    intake: IntakeSettings = IntakeSettings()
    """What the mind takes in."""
    message_bytes: int = Field(default=8 * MIB, ge=64 * KIB)
    """Largest message, in either direction."""
    streams: int = Field(default=256, ge=1)
    """Most uploads (``PerceiveStream``) open at a time."""
    stream_batches: int = Field(default=64, ge=1, le=1024)
    """Batches of one upload that may be unanswered; reading goes on as answers leave."""
    watchers: int = Field(default=256, ge=1)
    """Most readers of the stream (``Watch``) at a time."""
    reader_timeout: Seconds = Field(default=60.0, gt=0)
    """How long a reader, or an upload with answers to read, may take nothing while there is something for it; then it
    is let go, and may come back."""
    calls: int = Field(default=512, ge=1)
    """Most other calls under way at a time."""
    retry_after: Seconds = 1.0
    """When a caller who met one of these bounds is asked to come back."""
    keepalive: Seconds = Field(default=30.0, gt=0)
    """How long a connection may be silent before the server asks whether anybody is there."""
    keepalive_timeout: Seconds = Field(default=10.0, gt=0)
    """How long it waits for the answer before it hangs up."""
    keepalive_least: Seconds = Field(default=10.0, gt=0)
    """How often clients may ask; those that ask more often are hung up on."""
    connections: int = Field(default=16_384, ge=1)
    """Most connections at a time; who comes beyond them is hung up on. Each takes an open file."""
    connection_streams: int = Field(default=1024, ge=1)
    """Most calls under way on one connection; further ones wait there."""
    handshake: Seconds = Field(default=10.0, gt=0)
    """How long a connection may take until it speaks TLS and HTTP/2; then it is closed."""
    idle_connection: Seconds = Field(default=300.0, gt=0)
    """How long a connection may be open with no call under way; then it is closed, and clients connect again."""
    metadata_bytes: int = Field(default=16 * KIB, ge=8 * KIB)
    """Largest metadata of a call, names and values."""
    drain: Seconds = 0.5
    """When stopping: how long health says NOT_SERVING before new calls are refused."""
    grace: Seconds = 5.0
    """When stopping: how long calls under way may take to end."""
