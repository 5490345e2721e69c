"""A goal, from the order to what it changes of what is told, in virtual time."""

from dataclasses import replace

from actors.events import Marked
from actors.names import KNOWLEDGE
from environment.goals import GOALS, GoalLayer, goal_id
from environment.marks import FeedbackMark, MarkKind
from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay

WORDS = ("gate", "lamp", "boiler", "sign", "cart", "pump", "shelf")


async def told(folder, *, pursue: bool):
    lines = [
        NewPerception("yard", at, at, text=f"the {WORDS[n % 7]} by door {n % 5} looks {('wet', 'new', 'old')[n % 3]}")
        for n, at in ((n, 1e9 + 120.0 * n) for n in range(120))
    ]
    stores = await open_stores(folder, "mind", inline=True, synchronous="OFF")
    mind = Replay(Settings(), stores, seed=3)
    entries = [entry async for entry in mind.feed(lines[:5])]
    mark = FeedbackMark("k-1", goal_id("boiler"), MarkKind.GOAL, 1e9, "ann", "boiler", value="goal 0.9")
    if pursue:
        mind.world.send("", KNOWLEDGE, Marked((mark,)), 1.0)
    entries += [entry async for entry in mind.run(replace(one, key=str(n)) for n, one in enumerate(lines[5:]))]
    kept = await GOALS.get(stores.collections, mark.target)
    await stores.close()
    return [entry for entry in entries if "boiler" in entry.text], kept


async def test_what_bears_on_a_goal_is_told_and_says_so_and_twice_the_same(tmp_path):
    without, kept = await told(tmp_path / "without", pursue=False)
    assert kept is None or not kept.held
    more, kept = await told(tmp_path / "with", pursue=True)
    assert kept is not None
    assert kept.layer is GoalLayer.GOAL
    assert kept.weight >= 0.9
    assert len(more) > len(without)
    assert any(entry.why.parts.get("goal", 0.0) > 1.0 for entry in more)
    assert (more, kept) == await told(tmp_path / "again", pursue=True)
