"""Configuration of the feed: where HTTP is spoken, and how much of it at a time."""

from pydantic import Field

from environment.config import Seconds, Section

KIB, MIB = 1024, 1024 * 1024


class FeedSettings(Section):
    """The mind over HTTP."""

    listen: str = "127.0.0.1:8080"
    """``HOST:PORT``; port 0 takes a free one. On anything but a loopback address a token is required."""
    hosts: frozenset[str] = frozenset()
    """Names by which the feed may be asked for besides ``localhost`` and loopback addresses, while no token is
    required: a page elsewhere that points its own name at this machine is refused."""
    body_bytes: int = Field(default=16 * MIB, ge=KIB)
    """Largest request body."""
    body_timeout: Seconds = Field(default=30.0, gt=0)
    """How long a body may take to arrive."""
    requests: int = Field(default=256, ge=1)
    """Most requests answered at a time, streams apart."""
    streams: int = Field(default=128, ge=1)
    """Most readers of the event stream at a time."""
    retry_after: Seconds = 2.0
    """When a caller who met one of these bounds is asked to come back."""
    heartbeat: Seconds = Field(default=15.0, gt=0)
    """How often a silent event stream says that it is alive."""
    reader_timeout: Seconds = Field(default=60.0, gt=0)
    """An event stream whose reader takes nothing for this long is ended; the reader resumes where it was."""
    connections: int = Field(default=2048, ge=1)
    """Most connections at a time; who comes beyond them takes the place of the one that asks nothing for longest. Over
    TLS each takes a quarter of a megabyte."""
    handshake: Seconds = Field(default=10.0, gt=0)
    """How long a connection may take to speak TLS."""
    header_timeout: Seconds = Field(default=10.0, gt=0)
    """How long the head of a request may take to arrive, from the connection or its first byte on."""
    header_bytes: int = Field(default=64 * KIB, ge=8 * KIB)
    """Largest head of a request."""
    idle_connection: Seconds = Field(default=15.0, gt=0)
    """How long a connection may stay open between two requests."""
    grace: Seconds = 5.0
    """When stopping: how long answers under way may take."""
    probe_every: Seconds = 5.0
    """Whether the store can be written is tried at most this often, when somebody asks for readiness."""
