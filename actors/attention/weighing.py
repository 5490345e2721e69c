"""What a trace is worth as a candidate, and what made it so."""

from collections.abc import Mapping, Sequence

from actors.attention.inhibition import Inhibition
from actors.attention.marks import StandingMutes, critical, lifted
from actors.attention.settings import AttentionSettings
from actors.running import RunningRank
from environment.episodes.words import telling
from environment.messages import Instant, Trace, Vector
from environment.salience import at as level_at
from environment.severity import log_odds, salience_of


class Weighing:
    """Weighs by level, marks, goals and what was said already; values are levels."""

    def __init__(self, goals: Sequence[Vector], mutes: StandingMutes, inhibition: Inhibition, memory: int) -> None:
        """``goals``: of the configuration."""
        self._goals = tuple(goals)
        self._mutes = mutes
        self._inhibition = inhibition
        self._pursued: tuple[tuple[frozenset[str], float], ...] = ()
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
            left = 1.0 if critical(thought) else left
            bears = (
                steps["taste"] if again else lifted(steps["taste"], settings.goal_lift * self._pursues(thought.text))
            )
            steps["goal"] = bears * left
            steps["told"] = value = bears * (left * (1.0 - self._inhibition.loss(thought.vector, now)))
        return value, {**thought.evidence, **_apart(thought.salience, steps)}

    def pursue(self, goals: Mapping[str, float]) -> None:
        """These words are what the mind pursues, with weights."""
        told = ((telling(text), weight) for text, weight in goals.items() if weight)
        self._pursued = tuple((terms, weight) for terms, weight in told if terms)

    def _pursues(self, text: str) -> float:
        """The weight of the goal that a text bears on most, by the share of its words that it has."""
        if not self._pursued:
            return 0.0
        said = telling(text)
        return max(weight * len(terms & said) / len(terms) for terms, weight in self._pursued)

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
