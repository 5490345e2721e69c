from __future__ import annotations

from itertools import pairwise

import msgspec

from environment.erasure import Redactor, ScopeKind, ScopeMatcher, scope_of
from environment.goals import CAP, GOALS, GoalLayer, GoalSignal, SignalKind, StandingGoal, damp, goal_id, ranked
from environment.identity import perception_id
from environment.marks import FeedbackMark, MarkKind
from environment.messages import PerceptionRef

DAY = 86_400.0


def goal(*days: float, text: str = "boiler", **given: object) -> StandingGoal:
    one = StandingGoal(goal_id(text), text, **given)  # type: ignore[arg-type]
    for day in days:
        at = day * DAY
        one.hear(GoalSignal(at, SignalKind.CONSCIOUS, PerceptionRef(perception_id(int(day) + 1), at, "chat")))
    return one


def said(value: str, at: float = 1.0, **more: object) -> FeedbackMark:
    return FeedbackMark("k-1", goal_id("boiler"), MarkKind.GOAL, at, "ann", "boiler", value=value, **more)  # type: ignore[arg-type]


def test_five_days_over_fourteen_propose_a_goal_and_ten_over_thirty_a_value_of_what_is_one() -> None:
    assert goal(0, 1, 2, 14).proposed is GoalLayer.NONE
    assert goal(0, 0.1, 0.2, 0.3, 14).proposed is GoalLayer.NONE, "a day counts once"
    assert goal(0, 1, 2, 3, 13).proposed is GoalLayer.NONE
    assert goal(0, 1, 2, 3, 14).proposed is GoalLayer.GOAL
    assert goal(0, 30, 60, 90, 91).proposed is GoalLayer.NONE, "what lies so long back counts no more"
    often = [*range(0, 27, 3), 30]
    assert goal(*often).proposed is GoalLayer.GOAL
    assert goal(*often, layer=GoalLayer.GOAL).proposed is GoalLayer.IDENTITY
    assert goal(*often, layer=GoalLayer.IDENTITY).proposed is GoalLayer.NONE
    assert goal_id("the boilers") == goal_id("Boiler") != goal_id("boiler room")


def test_a_weight_grows_ever_less_and_never_beyond_its_cap() -> None:
    weights = [goal(*range(n), layer=GoalLayer.GOAL, weight=0.3).weight for n in range(33)]
    gains = [after - before for before, after in pairwise(weights)]
    assert gains == sorted(gains, reverse=True)
    assert round(gains[0], 6) == 0.05
    assert gains[-1] > 0
    assert goal(*range(80), layer=GoalLayer.GOAL, weight=0.9).weight == CAP
    held = goal(layer=GoalLayer.GOAL)
    held.decide(said("goal 7"))
    assert held.weight == CAP


def test_what_dominates_is_damped_and_equals_are_not() -> None:
    def weights(*given: float) -> list[float]:
        goals = [StandingGoal(str(n), str(n), layer=GoalLayer.GOAL, weight=one) for n, one in enumerate(given)]
        damp([*goals, StandingGoal("x", "counted", weight=0.9)])
        return [round(one.weight, 4) for one in goals]

    assert weights(0.8, 0.3, 0.3) == [0.76, 0.3, 0.3]
    assert weights(0.5, 0.5) == [0.5, 0.5]
    assert weights(0.9) == [0.9]
    assert weights(0.9, 0.1) == [0.855, 0.1]


def test_an_order_is_done_once_and_taken_back_as_if_it_had_not_been_given() -> None:
    one = goal(0, 1, 2, 3, 14)
    assert one.decide(said("refuse goal"))
    assert (one.proposed, one.held) == (GoalLayer.NONE, False)
    assert one.decide(said("refuse goal", 2.0, undone=True))
    assert one.proposed is GoalLayer.GOAL
    assert one.decide(said("goal 0.3", 3.0))
    one.weight = 0.5
    assert not one.decide(said("goal 0.3", 3.0))
    assert (one.layer, one.weight, one.by) == (GoalLayer.GOAL, 0.5, "ann")
    assert one.decide(said("none 0", 4.0))
    assert (one.held, one.evidence) == (False, [])
    value = StandingGoal("v", "calm", layer=GoalLayer.IDENTITY, weight=0.1)
    assert ranked([one, goal(0, 1, 2, 3, 14), value])[0] is value


def test_what_is_forgotten_leaves_its_signals_and_a_subject_goes_with_the_last_of_them() -> None:
    redactor = Redactor(ScopeMatcher(scope_of(ScopeKind.PERCEPTION, (), "salt")), {1, 2})
    few, _ = redactor.clean(msgspec.msgpack.decode(GOALS.write("v", goal(0, 1, 5)).document.body))
    assert len(few["evidence"]) == 1
    assert redactor.clean(msgspec.msgpack.decode(GOALS.write("v", goal(0, 1)).document.body))[1]
    named = ScopeMatcher(scope_of(ScopeKind.PERSON, ["Boiler"], "salt"))
    assert Redactor(named, set()).clean(msgspec.msgpack.decode(GOALS.write("v", goal(3)).document.body))[1]
