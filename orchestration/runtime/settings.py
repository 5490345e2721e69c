"""Configuration of the runtime: how actors listen, live and are brought back."""

from pydantic import Field

from environment.config import Seconds, Section
from orchestration.links.settings import LinkSettings
from orchestration.placement.settings import ClusterSettings

MIB = 1024 * 1024


class ReadSettings(Section):
    """How a perceptual submind watches the perception log."""

    gather: Seconds = 0.005
    """Pause after the kernel said that the log was written to: many small commits are read at once."""
    certain: Seconds = Field(default=5.0, gt=0)
    """The log is asked at least this often, even where its files look untouched."""
    fast: Seconds = Field(default=0.01, gt=0)
    """Where the kernel cannot watch files: pause between two looks while perceptions arrive."""
    idle: Seconds = Field(default=0.25, gt=0)
    """Pause that these looks back off to while none do."""
    backoff: float = Field(default=1.3, gt=1)
    """Factor by which that pause grows with every look that finds nothing."""


class ImageDecodingSettings(Section):
    """How much one image may take of the process that looks at it; of one that would take more that is said."""

    seconds: Seconds = Field(default=15.0, gt=0)
    """Longest that one image is looked at, counted as ``limit_hits:image_seconds``."""
    memory_bytes: int = Field(default=1024 * MIB, ge=64 * MIB)
    """Most memory that it may take, counted as ``limit_hits:image_memory``."""


class SupervisionSettings(Section):
    """When an actor is brought back, and when it is given up."""

    deaths: int = Field(default=5, ge=1)
    """An actor that dies more often than this within ``window`` is quarantined: not started again, and said so."""
    window: Seconds = Field(default=60.0, gt=0)
    """How long a death counts."""
    singleton_deaths: int = Field(default=30, ge=1)
    """The same for ``environment``, ``stream`` and ``attention``, without which nothing comes to mind."""
    backoff: Seconds = 0.2
    """Wait before the second life within the window; doubles with each further one, and part of it is chance."""
    backoff_most: Seconds = 5.0
    """Longest of these waits."""
    ping_every: Seconds = Field(default=15.0, gt=0)
    """How often each actor is asked whether it is well."""
    stuck_after: Seconds = Field(default=30.0, gt=0)
    """A submind that takes longer than this over one event is named and interrupted, which counts as a death of that
    one alone. Should be less than ``hung_after``."""
    start_within: Seconds = Field(default=300.0, gt=0)
    """A process of actors that is not up by then is killed, which counts as a death: a busy machine takes its time."""
    hung_after: Seconds = Field(default=60.0, gt=0)
    """An actor that has not answered for this long is killed, which counts as a death."""
    settle: Seconds = 10.0
    """When stopping: how long actors may take to finish what they began and save."""


class DensitySettings(Section):
    """How many subminds of a kind share one Ray actor, which is one process.

    Alone (1) a submind costs a process, some 35 MB; packed it costs some tens of kilobytes, and does the same. An error
    in a packed submind ends and restarts that one alone; the end of the process restarts all that live in it.
    """

    perceptual: int = Field(default=1, ge=1, le=3)
    """Subminds that perceive, to one actor."""
    cognitive: int = Field(default=1, ge=1, le=100_000)
    """Subminds that think about the world, to one actor. One actor uses one core at most."""
    metacognitive: int = Field(default=1, ge=1, le=2)
    """Subminds that think about the mind, to one actor."""

    def of(self, kind: str) -> int:
        """How many of a kind share an actor; 1 for the actors that every mind has."""
        found: int = getattr(self, kind, 1)
        return found


class RuntimeSettings(Section):
    """The mind process and its Ray."""

    link: LinkSettings = LinkSettings()
    """How events travel from one actor to another."""
    read: ReadSettings = ReadSettings()
    """How a perceptual submind watches the perception log."""
    image_decoding: ImageDecodingSettings = ImageDecodingSettings()
    """How much one image may take."""
    supervision: SupervisionSettings = SupervisionSettings()
    """When an actor is brought back, and when it is given up."""
    cluster: ClusterSettings = ClusterSettings()
    """On which Ray the actors live: one of the mind's own, or a cluster that others run."""
    subminds_per_actor: DensitySettings = DensitySettings()
    """How many subminds of a kind share one Ray actor."""
    generations: int = Field(default=256, ge=1)
    """Thoughts an actor may have asked the substrate for at a time; beyond it the newest are dropped, counted as
    ``limit_hits:generations``."""
    store_retry: Seconds = Field(default=0.1, gt=0)
    """Wait before a step that the store refused is tried again; doubles up to ``store_retry_most``."""
    store_retry_most: Seconds = Field(default=5.0, gt=0)
    """Longest of these waits. Part of each is chance."""
    object_store_bytes: int = Field(default=80 * MIB, ge=76 * MIB)
    """Shared memory that Ray sets aside; actors hardly use it."""
    starting_at_once: int = Field(default=4, ge=1, le=256)
    """Actor processes that Ray starts at a time."""
    fork_actors: bool = True
    """Fork the processes of actors from one that has imported what they need, where Ray is the mind's own: they take
    less than half the memory and are up sooner. Turn it off where a package that brings a faculty along cannot bear to
    be forked, say because it opens a GPU when it is imported."""
