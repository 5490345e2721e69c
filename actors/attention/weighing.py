"""What a trace is worth as a candidate, and what made it so."""

from collections.abc import Mapping, Sequence

from actors.attention.inhibition import Inhibition
from actors.attention.marks import StandingMutes
from actors.attention.settings import AttentionSettings
from actors.running import RunningRank
from environment.messages import Instant, Trace, Vector
from environment.salience import at as level_at
from environment.severity import log_odds, salience_of


class Weighing:
    """Weighs by level, marks, goals and what was said already; values are levels."""

    def __init__(self, goals: Sequence[Vector], mutes: StandingMutes, inhibition: Inhibition, memory: int) -> None:
        self._goals = tuple(goals)
        self._mutes = mutes
        self._inhibition = inhibition
        self.relevance = RunningRank(memory)

    def weigh(
        self, trace: Trace, now: Instant, settings: AttentionSettings, *, again: bool
    ) -> tuple[float, dict[str, float]]:
        """Its value now, and what spoke for it, in log odds; what marks lift has had its turn when it is ``again``."""
        thought, value = trace.thought, level_at(trace.level, now)
        steps = {"resonance": value}
        if salience_of(value) < settings.break_in:
            weighed = self._mutes.weighed(thought, value, settings)
            steps["taste"] = min(value, weighed) if again else weighed
            left = self._bearing(thought.vector, settings)
            steps["goal"] = steps["taste"] * left
            steps["told"] = value = steps["taste"] * (left * (1.0 - self._inhibition.loss(thought.vector, now)))
        return value, {**thought.evidence, **_apart(thought.salience, steps)}

    def _bearing(self, vector: Vector, settings: AttentionSettings) -> float:
        """What is left of a value by how much a thought bears on the mind's goals, ranked among the latest."""
        if not self._goals:
            return 1.0
        rank = self.relevance.update(max(float(vector @ goal) for goal in self._goals))
        return 1.0 - settings.goal_weight * (1.0 - rank)


def _apart(value: float, steps: Mapping[str, float]) -> dict[str, float]:
    """What each step changed."""
    odds = [log_odds(each) for each in (value, *steps.values())]
    changes = ((name, round(after - before, 3)) for name, before, after in zip(steps, odds, odds[1:], strict=False))
    return {name: change for name, change in changes if change}
