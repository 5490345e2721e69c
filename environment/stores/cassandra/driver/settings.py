"""Configuration of the connection to Cassandra."""

from pydantic import Field

from environment.config import Seconds, Section


class CassandraSettings(Section):
    """How requests to Cassandra are bounded, timed and repeated; used where the store is a ``cassandra://`` address."""

    connect_timeout: Seconds = Field(default=10.0, gt=0)
    """How long opening may take before it fails with what is wrong."""
    request_timeout: Seconds = Field(default=5.0, gt=0)
    """How long one attempt may take; longer than the servers' own timeouts (2 s for a write)."""
    deadline: Seconds = Field(default=12.0, gt=0)
    """No attempt begins later than this after the first: so a request takes at most the two together."""
    attempts: int = Field(default=4, ge=1)
    """How often a request is tried that may be repeated."""
    pause: Seconds = Field(default=0.1, gt=0)
    """The first pause between attempts is drawn from 0 to this; it doubles with each."""
    longest_pause: Seconds = Field(default=2.0, gt=0)
    """What that doubling stops at."""
    in_flight: int = Field(default=512, ge=1, le=20_000)
    """Requests sent and not yet answered, per process; others wait their turn."""
    concurrency: int = Field(default=128, ge=1)
    """How many of them one call may have at once, where it makes many."""
    page_rows: int = Field(default=1000, ge=1)
    """Rows in one page of an answer."""
    speculate_after: Seconds = 0.5
    """When an unanswered request that may be repeated is sent to a second replica as well; 0 means never."""
    circuit_failures: int = Field(default=8, ge=1)
    """After how many failures in a row requests are refused at once."""
    circuit_cooldown: Seconds = Field(default=2.0, gt=0)
    """For how long they are, before one is let through to see; it is what writers are told to wait."""
    heartbeat: Seconds = Field(default=5.0, gt=0)
    """How often an idle connection is tried; one that does not answer for as long again is replaced."""
    reconnect_within: Seconds = Field(default=2.0, ge=1)
    """The longest pause between attempts to reach a server that was lost: for so long callers wait once it is back."""
    record_bytes: int = Field(default=32_768, ge=1024, le=1_048_576)
    """A commit that takes more than this is written beside the lightweight transaction that decides on it."""
    generation: int = Field(default=10_000, ge=16)
    """Changes of traces after which the ids of all that are live are written down anew: a start reads that and fewer
    changes than this since."""
    changes_kept: Seconds = Field(default=604_800.0, ge=1, le=630_720_000)
    """How long the change of a trace is told to who follows them: a follower that was away for longer reads what is
    live anew. What is live is written down at least eight times as often. A mind that was off for longer may have to
    ask every trace that it keeps whether it is live, when it starts."""
    retired: int = Field(default=20_000, ge=0)
    """Retired traces whose versions the writer remembers; others are read when somebody writes to them."""
    known_ids_bytes: int = Field(default=8 * 1024 * 1024, ge=0, le=1 << 30)
    """Memory of the writer's filter over all ids of traces ever: with it a new one is known to be new without a read.
    With 8 MiB one in fifty new ones is read for after ten million traces. 0: every new one is."""
    recent_keys: int = Field(default=65_536, ge=0)
    """Idempotency keys that the writer of the perception log keeps in memory with their numbers (100 bytes each): what
    is sent again soon is recognised without a read."""
    key_filter_bytes: int = Field(default=64 * 1024 * 1024, ge=0, le=1 << 32)
    """Memory of its filter over the keys of all perceptions that are kept, 2 MiB for each million of them: a new key is
    known to be new without a read. Where more are kept than fit, every new key is asked for."""
