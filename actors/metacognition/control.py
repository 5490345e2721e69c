"""Control: proposes changes of attention when monitoring notices a trouble, and takes them back when it is over."""

import msgspec

from actors.core import Description, Inward
from actors.effects import Count, Effect, Send, WakeAt
from actors.events import Configured, Event, Observation, Observed, Proposal, Propose, Started, Tick
from actors.metacognition.settings import MetacognitionSettings
from actors.names import ATTENTION
from actors.snapshots import pack, unpack
from environment.messages import Instant

_REMEDY = {
    Observation.REPETITION: (Proposal.WIDEN_INHIBITION, Proposal.NARROW_INHIBITION),
    Observation.DOMINANCE: (Proposal.WIDEN_INHIBITION, Proposal.NARROW_INHIBITION),
    Observation.LOOP: (Proposal.WIDEN_INHIBITION, Proposal.NARROW_INHIBITION),
    Observation.OVERLOAD: (Proposal.RAISE_THRESHOLD, Proposal.LOWER_THRESHOLD),
    Observation.BUDGET: (Proposal.RAISE_THRESHOLD, Proposal.LOWER_THRESHOLD),
}
"""What helps against a trouble, and what takes it back."""


class ControlCore(Inward):
    """Proposes, never decides: attention bounds how far a proposal may go.

    Guarantees: at most one proposal in ``act_every``; each is taken back once its trouble is over.
    """

    def __init__(self, name: str, goal: str, settings: MetacognitionSettings) -> None:
        self.name, self.saved = name, _Saved
        self._goal = goal
        self._settings = settings
        self._wanted: list[tuple[Observation, Proposal, str]] = []
        self._made: dict[str, int] = {}
        self._last: Instant = float("-inf")

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        match event:
            case Observed():
                return self._observed(event, now)
            case Started() | Tick():
                return self._propose(now)
            case Configured(section=MetacognitionSettings() as settings):
                self._settings = settings
                return self._propose(now)
            case _:
                return []

    def _observed(self, event: Observed, now: Instant) -> list[Effect]:
        remedy, relief = _REMEDY[event.observation]
        key = event.observation.value
        self._wanted = [w for w in self._wanted if w[0] is not event.observation]
        if not event.over:
            self._wanted.append((event.observation, remedy, event.reason))
        elif self._made.get(key, 0) > 0:
            self._wanted.append((event.observation, relief, "the trouble is over"))
        return self._propose(now)

    def _propose(self, now: Instant) -> list[Effect]:
        if not self._wanted:
            return []
        due = self._last + self._settings.act_every
        if now < due:
            return [WakeAt(due)]
        observation, proposal, reason = self._wanted.pop(0)
        self._last = now
        step = 1 if proposal is _REMEDY[observation][0] else -1
        self._made[observation.value] = max(0, self._made.get(observation.value, 0) + step)
        return [
            Send(ATTENTION, Propose(self.name, proposal, f"{observation.value}: {reason}")),
            Count("proposals_total"),
            WakeAt(now + self._settings.act_every),
        ]

    def describe(self) -> Description:
        return Description("metacognitive", self._goal, (), {"proposals_waiting": float(len(self._wanted))})

    def snapshot(self) -> bytes:
        return pack(_Saved(self._wanted, self._made, self._last))

    def restore(self, state: bytes) -> None:
        saved = unpack(state, _Saved)
        self._wanted, self._made, self._last = saved.wanted, saved.made, saved.last


class _Saved(msgspec.Struct):
    wanted: list[tuple[Observation, Proposal, str]]
    made: dict[str, int]
    last: Instant
