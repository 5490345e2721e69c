"""Configuration of metacognition."""

from pydantic import Field

from environment.config import Seconds, Section, Share


class MetacognitionSettings(Section):
    """What is watched, and how boldly changes are proposed."""

    window: int = Field(default=20, ge=4)
    """Recent entries of the stream that are looked at."""
    repetition: Share = 0.8
    """Mean cosine of neighbours in the stream from which it repeats itself."""
    dominance: Share = 0.8
    """Share of the window one source may have, where several sources speak."""
    loop: int = Field(default=5, ge=2)
    """Entries of the window that may share their leading association."""
    drops_per_hour: float = Field(default=1.0, ge=0)
    """Dropped or refused thoughts an hour that are put up with."""
    budget_low: Share = 0.1
    """Share of the substrate's budget left at which it is nearly spent."""
    say_every: Seconds = 3600.0
    """The same trouble is spoken of at most this often."""
    act_every: Seconds = 1800.0
    """Control proposes at most one change in this time, so that its effect can be seen before the next."""
