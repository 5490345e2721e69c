"""Configuration of active thinking."""

from pydantic import Field

from environment.config import Seconds, Section, Share


class ThinkingSettings(Section):
    """What is done about conscious thoughts."""

    act_above: Share = 0.5
    """Percentile of salience among conscious thoughts from which one is thought about; others pass by."""
    per_hour: float = Field(default=30.0, gt=0)
    """Acts an hour (mind time), at most; bursts of a quarter of it."""
    answers_per_hour: float = Field(default=600.0, gt=0)
    """Questions of those who speak to the mind that are answered an hour (mind time), at most; bursts of a quarter of
    it. Answers take nothing of the rate of the stream. What comes beyond is counted as ``limit_hits:answers``."""
    answer_within: Seconds = 3600.0
    """Age (of event time) from which a question is history, and is not answered in the stream."""
    slots: int = Field(default=7, ge=1, le=64)
    """Slots of working memory (Miller, 1956)."""
    latent: int = Field(default=0, ge=0, le=1024)
    """Thoughts that left working memory and come back when something with two of their associations comes to mind: the
    latest, for three times as long as they were held. 0: none do; the example's day is told the same with 21."""
    half_life: Seconds = 600.0
    """Decay of a slot's activation."""
    memories: int = Field(default=6, ge=1, le=64)
    """Traces recalled for an act."""
    recall_above: Share = 0.5
    """Cosine from which a recalled trace is to the point; two shared associations count as much."""
    result_share: Share = 0.7
    """Salience of a result as a share of the thought's it came from."""
    max_depth: int = Field(default=8, ge=1, le=64)
    """Longest lineage that is still acted upon."""
    loop_window: int = Field(default=12, ge=4)
    """Recent acts among which a loop is looked for."""
    loop_repeats: int = Field(default=3, ge=2)
    """Acts about the same thing within that window that make a loop: it is ended and said."""
