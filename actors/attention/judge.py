"""What a model thinks that somebody would want to be told, as one more voice about candidates near the threshold.

How far it is believed is learned (Dawid and Skene, 1979, with the calibrated chance of salience in the place of the
other raters): of whom it rates high among what is likely wanted and low among the rest, and most of all where people
said that something was useful or not. Who rates all alike, or at random, has no weight.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from actors.attention.contest import Asked, Contest, Held
from actors.attention.marks import StandingMutes, critical, lifted
from actors.attention.settings import AttentionSettings
from actors.effects import Count, Effect, Generate, WakeAt
from actors.submind.budget import Allowance
from actors.submind.composing import apart, clock_time, material
from actors.substrate.judging import Judgement, judgements
from actors.substrate.ports import Act, Generation, Material, Request, Role
from environment.identity import entry_id
from environment.messages import Instant, Thought
from environment.severity import log_odds, salience_of

_GOALS, _TOLD = 3, 3
"""Goals, and latest conscious thoughts, that a model is shown."""
_TOKENS = 40
"""Of an answer, for each candidate."""
_ROUNDS, _SPREAD = 8, 0.25
"""Of expectation maximisation, and the least variance of a rating."""
_PRIOR, _FAITH = 4.0, 0.75
"""Ratings that stand for what is believed of a model before it gave any, of each kind; how much higher than all they
are of what is wanted, and lower of the rest. Models that rate at random lose it within some dozen ratings."""


class SavedJudge(msgspec.Struct):
    """What a snapshot holds of a judge."""

    seen: list[tuple[str, float, int]] = []
    told: list[Thought] = []
    left: float = 0.0
    at: Instant | None = None


class Judge:
    """Asks one question about the few best candidates of a moment, and moves what they are worth by the answer.

    Guarantees: a moment waits ``judge_patience`` seconds at most; without a usable answer the order is what it was, and
    the reason is counted; nothing moves by more than ``judge`` log odds, and nothing critical down.
    """

    def __init__(
        self, name: str, goals: Sequence[str], settings: AttentionSettings, mutes: StandingMutes, *, model: bool
    ) -> None:
        """``model``: whether there is one; ``goals``: of the mind; ``mutes`` know what people found useful."""
        self._name, self._goals, self._mutes = name, tuple(goals), mutes
        self._model = model
        self._pursued: tuple[str, ...] = ()
        self._seen: deque[tuple[str, float, int]] = deque(maxlen=settings.memory)
        """Trace, log odds of its chance without the rating, and the rating."""
        self._told: deque[Thought] = deque(maxlen=_TOLD)
        self._allowance = Allowance(settings.judgements_per_hour)
        self.weight = self._middle = 0.0
        """Log odds of the chance for each step of a rating, and the rating that says nothing."""

    def configure(self, settings: AttentionSettings, now: Instant) -> None:
        """From now on so many an hour."""
        self._allowance.configure(settings.judgements_per_hour, now)

    def pursue(self, goals: Mapping[str, float]) -> None:
        """The mind pursues these as well."""
        self._pursued = tuple(text for text, weight in goals.items() if weight)

    def told(self, thought: Thought) -> None:
        """It became conscious."""
        if self._model:
            self._told.append(thought)

    def listens(self, settings: AttentionSettings) -> bool:
        """Whether a model is asked at all."""
        return self._model and settings.judge > 0

    def ask(self, contest: Contest, passing: float, settings: AttentionSettings, now: Instant) -> list[Effect]:
        """Take the best of a moment out of their contest until they are judged, where that could change who passes."""
        few = contest.few
        held, bound = contest.held, settings.judge
        if not self.listens(settings) or held is None or held.judged or contest.pace.spent:
            return []

        def passes(one: Held, shift: float) -> bool:
            value = lifted(one.value, shift)
            return salience_of(value) >= settings.worth and contest.rank(value) >= passing

        if not any(passes(one, bound) for one in few) or (len(few) == 1 and passes(held, -bound)):
            return []
        if not self._allowance.take(now):
            return [Count("judgements_missing_total:limit")]
        few = sorted(few, key=lambda one: (one.trace.thought.time, one.trace.id))  # no order that it could repeat
        goals = [Material(Role.GOAL, text) for text in (*self._goals, *self._pursued)[:_GOALS]]
        memories = [material(Role.MEMORY, each, apart(each.time, held.trace.thought.time)) for each in self._told]
        events = [material(Role.EVENT, one.trace.thought, clock_time(one.trace.thought.time)) for one in few]
        request = Request(Act.JUDGE, self._name, (*goals, *memories, *events), max_tokens=_TOKENS * (len(few) + 1))
        token = f"judge {entry_id(held.trace.id, held.trace.version)}"
        contest.wait_for(token, Asked(now, request, few))
        return [Generate(token, request), WakeAt(now + settings.judge_patience)]

    def heard(self, asked: Asked, said: Generation, bound: float) -> tuple[Held, list[Effect]]:
        """The best of those asked about, by what a model said."""
        rated = judgements(said.text, asked.request) if said.by_model else {}
        for place, given in rated.items():
            one = asked.few[place]
            self._seen.append((one.trace.id, log_odds(salience_of(one.value)), given.want))
        self._learn()
        for place, given in rated.items():
            self._move(asked.few[place], given, said.model, bound)
        missing = [] if rated else [Count(f"judgements_missing_total:{said.cause or 'form'}")]
        return asked.best(), [Count("judgements_total", len(rated)), *missing]

    def _move(self, one: Held, given: Judgement, model: str, bound: float) -> None:
        """A chance moves by what the rating says in log odds, a level by half of that (``environment/severity.py``)."""
        shift = max(-bound, min(bound, self.weight * (given.want - self._middle) / 2))
        if shift < 0 and critical(one.trace.thought):
            shift = 0.0
        if moved := round(shift, 3):
            one.value = lifted(one.value, moved)
            one.parts = {**one.parts, "judge": moved}
            one.said = given.why, model

    def _learn(self) -> None:
        """How much more highly it rates what is wanted, by all that it rated."""
        if not self._seen:
            return
        names, odds, wants = zip(*self._seen, strict=True)
        wanted, chance = np.array(wants, float), np.array(odds)
        marked = np.array([self._mutes.said.get(name, np.nan) for name in names])
        mean, weight, middle = float(wanted.mean()), 0.0, 0.0
        for _ in range(_ROUNDS):
            share = 1 / (1 + np.exp(-(chance + weight * (wanted - middle))))
            share = np.where(np.isnan(marked), share, marked)
            (high, off, much), (low, also, more) = (_rating(part, wanted, mean) for part in (share, 1 - share))
            spread = max(_SPREAD, (off + also) / len(wanted))
            weight = max(0.0, (high - low + _FAITH * (much + more)) / spread)
            middle = (high + low) / 2
        self.weight, self._middle = weight, middle

    def dump(self) -> SavedJudge:
        """For a snapshot."""
        return SavedJudge(list(self._seen), list(self._told), self._allowance.left, self._allowance.at)

    def load(self, saved: SavedJudge) -> None:
        """From a snapshot."""
        self._seen.extend(saved.seen)
        self._told.extend(saved.told)
        self._allowance.left, self._allowance.at = saved.left, saved.at
        self._learn()


def _rating(part: NDArray[np.float64], wanted: NDArray[np.float64], mean: float) -> tuple[float, float, float]:
    """How a share of all was rated: mean, squared deviations, and how much of the mean is what was known before."""
    number = float(part.sum()) + _PRIOR
    rating = (float(part @ wanted) + _PRIOR * mean) / number
    return rating, float(part @ (wanted - rating) ** 2), _PRIOR / number
