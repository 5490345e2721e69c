"""Configuration of attention."""

from pydantic import Field

from environment.config import Seconds, Section, Share


class AttentionSettings(Section):
    """How many thoughts become conscious, and how the best are told from the good."""

    per_hour: float = Field(default=6.0, gt=0)
    """Target rate of conscious thoughts (mind time), whatever the input rate; at most twice as many in any hour."""
    hold: Seconds = 60.0
    """How long a candidate waits for a better one; at most a quarter of the mean interval between thoughts."""
    welcome: int = Field(default=3, ge=0)
    """First thoughts of a newborn mind, which has few winners to compare with yet: so many that are of ``worth`` pass,
    after a short ``welcome_hold`` (in a replay with a budget the very first alone, of one below ten no readings)."""
    welcome_hold: Seconds = 5.0
    """How long a candidate waits among these."""
    break_in: Share = 0.998
    """Salience at which a candidate does not wait: somebody speaks to the mind, or nothing comparable was ever seen."""
    memory: int = Field(default=500, ge=16)
    """Winners among which a candidate must stand out."""
    taste: float = Field(default=1.5, ge=0)
    """Log odds that what was marked as useful or not adds to the like or takes from it, at most; 0: marks only mute."""
    judge: float = Field(default=0.0, ge=0)
    """Log odds that a model's judgement adds to a candidate or takes from it, at most, where ``substrate.kind`` names
    one; how much it does is learned, and nothing critical is lowered. 0: none is asked; for a large model 4."""
    judgements_per_hour: float = Field(default=60.0, gt=0)
    """Questions put to a model about candidates, in the long run (mind time), a quarter of that at once; each takes
    some hundred tokens of ``substrate.budget``. What comes beyond goes by the rule's order."""
    judge_patience: Seconds = 30.0
    """How long candidates wait for a model's judgement before they go without."""
    worth: Share = 0.5
    """Salience, the chance that somebody would want it, below which nothing becomes conscious, however much room there
    is: rate and budget are what may be said, not what must be."""
    horizon: int = Field(default=24, ge=2)
    """Thoughts over which the rate is balanced."""
    goal_weight: Share = 0.05
    """Share of salience lost by what bears least on the mind's goals."""
    goal_lift: float = Field(default=4.0, ge=0)
    """Log odds that bearing on a goal or value that was granted adds, times its weight; 0: these are only listed."""
    inhibition: Share = 0.5
    """Inhibition of return: share of salience that an exact repeat of a recent conscious thought loses."""
    inhibited_above: Share = 0.5
    """Cosine to a recent conscious thought at which that loss begins."""
    inhibition_memory: int = Field(default=16, ge=1)
    """Conscious thoughts remembered for it."""
    inhibition_half_life: Seconds = Field(default=6 * 3600.0, gt=0)
    """Time in which that loss is halved: what was conscious yesterday is news when it happens again."""
    refractory: Seconds = 900.0
    """How long what has been conscious stays suppressed altogether, unless it was revised since."""
    bind: int = Field(default=2, ge=0, le=8)
    """Traces bound with the focus into one conscious thought, at most."""
    bind_above: float = Field(default=0.75, ge=0)
    """Kinship (cosine, more for each association in common) from which a recent trace belongs to the focus."""
    recent: int = Field(default=256, ge=8)
    """Recent salient traces remembered for binding."""
    concerned: int = Field(default=3, ge=0, le=64)
    """Cognitive subminds told of a conscious thought because their goals are nearest, besides its authors."""
    resend_after: Seconds = 20.0
    """Time after which a thought the stream has not confirmed is handed over again."""
    wording_patience: Seconds = 120.0
    """How long a thought waits for the substrate to word it before it goes with the words of its focus."""
    survey_every: Seconds = 3600.0
    """How often attention asks the environment what it may have missed."""
    bend: float = Field(default=2.0, ge=1)
    """How far metacognition may raise or lower the share of winners that pass: by this factor at most."""

    @property
    def ceiling_per_hour(self) -> float:
        """Thoughts an hour that are never exceeded in the long run."""
        return 1.5 * self.per_hour

    @property
    def ceiling_burst(self) -> float:
        """Thoughts at once: with what an hour adds, at most twice the target rate within it, and the welcome."""
        return max(float(self.welcome), self.per_hour / 2)
