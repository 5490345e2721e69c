"""Configuration of the host process."""

from pydantic import Field

from environment.config import Seconds, Section
from environment.stores.cassandra.driver.settings import CassandraSettings


class RetentionSettings(Section):
    """How long things are kept. The stream, and what it rests on directly, is kept for ever."""

    perceptions: Seconds | None = Field(default=90 * 86_400.0, gt=0)
    """Perceptions received longer ago are forgotten once every perceptual submind has passed them; null keeps all.
    One from a moment when the clock stood more than a day ahead goes with those that came after it."""
    traces: Seconds | None = Field(default=90 * 86_400.0, gt=0)
    """Retired traces that were never conscious are forgotten this long after (mind time); null keeps all."""
    changes: Seconds | None = Field(default=90 * 86_400.0, gt=0)
    """Recorded changes of connections are forgotten this long after (mind time); null keeps all."""
    retired: Seconds | None = Field(default=30 * 86_400.0, ge=2 * 86_400.0)
    """What a submind that retired left in the registry (report, state, spending) is removed this long after, once its
    changes of connections are forgotten as well; null keeps all. Its thoughts and the log of growth stay."""
    documents: Seconds | None = Field(default=7 * 86_400.0, gt=0)
    """Documents of collections that expired are forgotten this long after (mind time), and so is what is remembered of
    those that were removed; null keeps all."""
    documents_most: int | None = Field(default=100_000, ge=1)
    """Documents in one collection of a faculty: beyond that the oldest by event time go, as the log says; null keeps
    all. Those of the mind itself, as the log of growth, are bounded by what they tell of."""
    every: Seconds = Field(default=600.0, gt=0)
    """How often that is looked after."""
    batch: int = Field(default=5000, ge=1, le=100_000)
    """Rows forgotten in one transaction."""


class StoreSettings(Section):
    """Where a mind is kept."""

    address: str = ""
    """Empty: SQLite, in the data directory. ``sqlite:DIR``: there. ``cassandra://HOST[:PORT],HOST/KEYSPACE?dc=NAME``:
    on a cluster, with ``username``, ``password_file``, ``ca_file``, ``cert_file`` and ``key_file`` as further parts.
    Several minds may share a keyspace; each sees only what is its own."""
    cassandra: CassandraSettings = CassandraSettings()
    """How requests to a cluster are bounded, timed and repeated."""


class HostSettings(Section):
    """The process that people start."""

    retention: RetentionSettings = RetentionSettings()
    """How long raw input is kept."""
    advertise: str = ""
    """``HOST:PORT`` at which other machines reach this host's gRPC: what a host that stands by tells its callers while
    this one leads. Empty: where it listens, under this machine's name where that is every address."""
    restart: Seconds = Field(default=0.5, gt=0)
    """Wait before the mind process is started again; doubles with each further death, and part of it is chance."""
    restart_most: Seconds = Field(default=60.0, gt=0)
    """Longest of these waits."""
    steady_after: Seconds = Field(default=60.0, gt=0)
    """A mind process that ran this long had no bad start: the next wait is the first again."""
    start_within: Seconds = Field(default=120.0, gt=0)
    """A mind process whose actors are not all born by then is started again."""
    stop_within: Seconds = Field(default=20.0, gt=0)
    """How long the mind process may take to stop before it is killed."""
