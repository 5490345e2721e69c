"""What a mind pursues, asked and ordered of a gateway as it is served."""

from typing import Any

from environment.goals import GOALS, HELD, GoalLayer, GoalSignal, SignalKind, StandingGoal, goal_id
from environment.marks import MARKS, MarkKind
from environment.messages import PerceptionRef
from tests.environment.stores.making import NOON
from tests.orchestration.cli.conftest import flags, submind

DAY = 86_400.0


def counted(text: str, days: int) -> StandingGoal:
    one = StandingGoal(goal_id(text), text)
    for day in range(days):
        at = NOON + 4 * day * DAY
        one.hear(GoalSignal(at, SignalKind.CONSCIOUS, PerceptionRef("p-1", at, "chat")))
    return one


async def test_goals_are_proposed_granted_refused_set_and_dropped(gateway: Any, at: list[str]) -> None:
    assert (await submind("goals", *at)).err.strip() == "nothing is pursued or proposed"
    boiler, pump = counted("boiler\x1b[31m", 5), counted("pump", 5)
    few = counted("valve", 3)
    await gateway.stores.commit([GOALS.write(one.id, one) for one in (boiler, pump, few)])
    listed = await submind("goals", *at)
    assert (listed.out.count("proposed: goal"), "valve" in listed.out, "\x1b" in listed.out) == (2, False, False)
    granted = (await submind("goals", boiler.id, "--grant", "--by", "ann", "--json", *at)).objects[0]
    assert (granted["layer"], granted["weight"], granted["by"], granted["proposed"]) == ("goal", 0.3, "ann", "none")
    assert (await submind("goals", "pumps", "--refuse", *at)).code == 0
    again = await submind("goals", "pump", "--grant", *at)
    assert (again.code, "not proposed" in again.err) == (1, True)
    value = (await submind("goals", "cold chain", "--set", "--identity", "--weight", "0.6", "--json", *at)).objects[0]
    assert (value["layer"], value["weight"]) == ("identity", 0.6)
    held = (await submind("goals", "--json", *at)).objects
    assert [one["text"] for one in held] == ["cold chain", boiler.text], "at once, though no mind runs"
    kinds = [mark.kind for mark in (await MARKS.all_of(gateway.stores.collections)).values()]
    assert kinds == [MarkKind.GOAL] * 3
    assert (await submind("goals", "chain, cold", "--drop", *at)).code == 0
    assert (await submind("mark", boiler.id, "--undo", *at)).code == 0
    (left,) = (await submind("goals", "--json", *at)).objects
    assert (left["text"], left["layer"], left["proposed"]) == (boiler.text, "none", "goal"), "as before it was granted"


async def test_goals_of_the_configuration_are_listed_beside_those_held(serve: Any) -> None:
    async with serve(goals=("Say it once.",)) as served:
        at = flags(served)
        assert (await submind("goals", "boiler", "--set", *at)).code == 0
        listed = (await submind("goals", *at)).out.splitlines()
    assert ("goal Say it once. — mind.goals" in listed[0], "boiler" in listed[1], len(listed)) == (True, True, 2)


async def test_what_cannot_be_ordered_is_said(gateway: Any, at: list[str]) -> None:
    held = [StandingGoal(goal_id(f"pump {n}"), f"pump {n}", layer=GoalLayer.GOAL, weight=0.3) for n in range(HELD)]
    await gateway.stores.commit([GOALS.write(one.id, one) for one in held])
    full = await submind("goals", "boiler", "--set", *at)
    assert (full.code, f"{HELD} goals and values are held" in full.err) == (1, True)
    assert (await submind("goals", "pump 3", "--set", "--weight", "0.9", *at)).code == 0
    assert (await submind("goals", "boiler", "--drop", *at)).code == 1
    assert (await submind("goals", "the", "--set", *at)).code == 1
    assert (await submind("goals", "boiler", *at)).code == 2
    assert (await submind("goals", "boiler", "--grant", "--drop", *at)).code == 2
    assert (await submind("goals", "boiler", "--set", "--weight", "0.95", *at)).code == 2
