from __future__ import annotations

from actors.effects import Count, Send
from actors.events import Broadcast, Marked, Tick
from environment.goals import GoalLayer, Pursued, SignalKind, StandingGoal, goal_id
from environment.identity import perception_id
from environment.marks import FeedbackMark, MarkKind
from environment.messages import PerceptionRef
from environment.recalls import Recalls
from tests.actors.knowledge.test_knowledge import DAY, NOON, World
from tests.actors.making import entry, thought, trace

BOILER = goal_id("boiler")


def conscious(world: World, day: float, *terms: str) -> list[object]:
    at = NOON + day * DAY
    of = thought(associations=terms or ("boiler",), time=at)
    return list(world.tell(Broadcast(entry(int(day) + 1, of=of), trace(of)), at))


def kept(world: World, text: str = "boiler") -> StandingGoal:
    return world.kept["goals"][goal_id(text)]  # type: ignore[return-value]


def order(value: str, day: float, **more: object) -> Marked:
    at = NOON + day * DAY
    mark = FeedbackMark("k-1", BOILER, MarkKind.GOAL, at, "ann", "boiler", value=value, **more)  # type: ignore[arg-type]
    return Marked((mark,))


def told(effects: list[object]) -> list[dict[str, float]]:
    return [dict(e.event.goals) for e in effects if isinstance(e, Send) and isinstance(e.event, Pursued)]


def test_what_is_conscious_asked_for_and_found_useful_on_many_days_is_proposed_over_restarts() -> None:
    world = World()
    conscious(world, 0)
    conscious(world, 0.1)
    world.line("the boilers leak", NOON)
    for _ in range(2):
        world.tell(Recalls(((perception_id(1), NOON + 3 * DAY),)), NOON + 3 * DAY)
    of = PerceptionRef(perception_id(1), NOON, "chat")
    useful = FeedbackMark("k-2", "1", MarkKind.USEFUL, NOON + 5 * DAY, "ann", "a boiler leaks", perception=of)
    world.tell(Marked((useful,)), NOON + 5 * DAY)
    world.born()
    world.tell(Marked((useful,)), NOON + 5 * DAY)
    conscious(world, 9, "boiler", "valve")
    assert kept(world).proposed is GoalLayer.NONE
    conscious(world, 14)
    one = kept(world)
    assert [signal.kind for signal in one.evidence] == [
        *(SignalKind.CONSCIOUS, SignalKind.ASKED, SignalKind.USEFUL),
        *(SignalKind.CONSCIOUS, SignalKind.CONSCIOUS),
    ]
    assert (one.proposed, one.held) == (GoalLayer.GOAL, False), "nobody granted it"
    assert kept(world, "valve").proposed is GoalLayer.NONE


def test_attention_is_told_what_is_held_when_it_changes_and_again_and_that_it_is_no_more() -> None:
    world = World()
    assert not told(conscious(world, 0))
    assert told(list(world.tell(order("goal 0.5", 1), NOON + DAY))) == [{"boiler": 0.5}]
    assert not told(list(world.tell(order("goal 0.5", 1), NOON + DAY)))
    assert told(conscious(world, 2)) == [{"boiler": kept(world).weight}]
    assert kept(world).weight > 0.5
    assert told(list(world.tell(Tick(), NOON + 3 * DAY))) == [{"boiler": kept(world).weight}]
    weight = kept(world).weight
    world.born()
    assert told(conscious(world, 3)) == [{"boiler": kept(world).weight}]
    assert kept(world).weight > weight
    for _ in range(2):
        world.tell(order("none 0", 4), NOON + 4 * DAY)
    assert told(list(world.tell(Tick(), NOON + 5 * DAY))) == [{"boiler": 0.0}]
    assert told(list(world.tell(order("none 0", 4), NOON + 5 * DAY))) == []
    conscious(world, 6)
    world.tell(order("none 0", 4), NOON + 6 * DAY)
    assert len(kept(world).evidence) == 1, "what is dropped may come again"


def test_subjects_are_bounded_and_fade_and_what_is_held_stays() -> None:
    world = World(subjects=3)
    world.tell(order("goal 0.5", 0), NOON)
    conscious(world, 1, "valve")
    conscious(world, 2, "valve", "pump")
    assert Count("limit_hits:subjects", 1) in conscious(world, 3, "press")
    assert {one.text for one in world.kept["goals"].values()} == {"boiler", "valve", "press"}
    world.tell(Tick(), NOON + 200 * DAY)
    assert {one.text for one in world.kept["goals"].values()} == {"boiler"}
    world = World(subjects=0)
    conscious(world, 1)
    assert not world.kept["goals"]
