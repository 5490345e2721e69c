"""Configuration of what reads a mind."""

from pydantic import Field

from environment.config import Seconds, Section


class TailSettings(Section):
    """How the stream is followed."""

    fast: Seconds = Field(default=0.03, gt=0)
    """Pause between two looks at the stream while it is moving."""
    idle: Seconds = Field(default=0.3, gt=0)
    """Pause that looks back off to while nothing happens. Nobody following: no looks at all."""
    backoff: float = Field(default=1.25, gt=1)
    """Factor by which the pause grows with every look that finds nothing."""
    batch: int = Field(default=200, ge=1, le=10_000)
    """Entries read from the log at a time, by the poller and by each reader that is behind."""
    recent: int = Field(default=512, ge=0)
    """Entries kept in memory for all readers together; whoever is further behind reads the log."""


class ChangesSettings(Section):
    """How the history of connections is read and followed."""

    every: Seconds = Field(default=0.5, gt=0)
    """Pause between two looks at the history while somebody follows it."""
    batch: int = Field(default=500, ge=1, le=10_000)
    """Changes read from the store at a time."""
    scan: int = Field(default=10_000, ge=1, le=1_000_000)
    """Changes one call looks at to find those that are wanted."""
    recent: int = Field(default=2048, ge=0)
    """Changes kept in memory for all followers together; whoever is further behind reads the history."""


class ViewSettings(Section):
    """How a mind is looked at."""

    tail: TailSettings = TailSettings()
    """How the stream is followed."""
    changes: ChangesSettings = ChangesSettings()
    """How the history of connections is read and followed."""
    stale_after: Seconds = 30.0
    """An actor whose last report is older than this though work waits for it is silent, and the mind degraded."""
    page: int = Field(default=1000, ge=1, le=10_000)
    """Most entries, subminds or connections in one page of a list; of the last two as many where no size is asked."""
    reasons: int = Field(default=20, ge=1, le=10_000)
    """Most reasons that a status gives for how the mind is; of the others it gives the number."""
    summary_above: int = Field(default=500, ge=0)
    """With more actors than this their reports are added up for a status once in ``summary_every``, for all who ask."""
    summary_every: Seconds = Field(default=2.0, gt=0)
    """How old the sums of a status may be then."""
    search_k: int = Field(default=100, ge=1, le=10_000)
    """Most hits one search may ask for."""
    live_limit: int = Field(default=1000, ge=1)
    """Most live traces one call may list."""
    history_limit: int = Field(default=1000, ge=1)
    """Most connection changes one call may list."""
    follow_batch: int = Field(default=1000, ge=1)
    """Changed traces read at a time while the search index catches up."""
    episodes: int = Field(default=50_000, ge=1, le=10_000_000)
    """Most perceptions that are recalled and answered from: some 700 bytes of memory each, in the host, each front and
    in the process of active thinking, which reads the latest four times as many when it begins. Of more those that are
    like others but for their figures are only counted first, then the oldest go."""
    questions_per_second: float = Field(default=20.0, ge=0, allow_inf_nan=False)
    """Most questions a second that each process answers on average (`Ask`), ten seconds' worth at once; beyond it
    callers are asked to come back. 0: any number."""
    recalls_every: Seconds = 60.0
    """How often at most each process that answers readers writes what it told them, for the mind to learn which of its
    memories are of use: one document of the latest 256 perceptions. 0: never."""
    marks: int = Field(default=1000, ge=1, le=100_000)
    """Marks on entries and matters that are kept; the oldest go first."""
    marks_ahead: Seconds = Field(default=31_536_000.0, gt=0)
    """How far ahead a mute may end, or a reminder lie."""
    offload_above: int = Field(default=256, ge=0)
    """Index work on more traces than this moves to a worker thread."""
