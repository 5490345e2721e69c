"""Configuration of fronts: processes that answer callers, and hand what they perceive to whoever leads."""

from pydantic import Field

from environment.config import Seconds, Section
from orchestration.access.settings import ClientSettings


class FrontSettings(Section):
    """``submind serve``: gateway and feed apart from the mind, as many processes as one likes."""

    grpc: bool = True
    """Whether gRPC is served, at ``gateway.listen``."""
    http: bool = True
    """Whether HTTP and the page are served, at ``feed.listen``."""
    probes: str = "127.0.0.1:8081"
    """``HOST:PORT`` of ``/healthz``, ``/readyz`` and ``/metrics``, which are served there whatever else is: in plain
    text, as those who probe speak it, and with a token as anywhere. ``none``: with HTTP alone."""
    leader: str = ""
    """``HOST:PORT`` of the host that leads, where no coordination names it."""
    connection_age: Seconds = Field(default=300.0, ge=0)
    """So long a connection takes calls; then its client opens another, which may come to a front that was added since.
    Streams end after the same time, over gRPC with ``UNAVAILABLE`` once what was read is answered, over HTTP with the
    id to go on from, and go on over the next. Give or take a tenth. 0: connections last for as long as clients like."""
    hold: Seconds = Field(default=2.0, ge=0, le=600)
    """How long a batch of perceptions waits for somebody to lead before its caller is told to come back."""
    answer_within: Seconds = Field(default=10.0, gt=0, le=600)
    """A leader that answers nothing for this long, though batches are under way to it, is hung up on, and they are sent
    again."""
    connect_timeout: Seconds = Field(default=2.0, gt=0, le=60)
    """How long a connection to the leader may take."""
    batches: int = Field(default=64, ge=1, le=1024)
    """Batches under way to the leader at a time; more wait here, as far as ``gateway.intake.pending`` lets them."""
    ask_timeout: Seconds = Field(default=2.0, gt=0, le=60)
    """How long the leader may take to say how the mind is; then the stores alone are asked."""
    ask_every: Seconds = Field(default=1.0, ge=0, le=60)
    """It is asked at most this often, however many want to know."""
    upstream: ClientSettings = ClientSettings()
    """How the leader is reached. Its token takes the scopes `perceive`, `watch`, `operate` and `forward` there."""
