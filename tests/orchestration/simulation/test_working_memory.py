"""Working memory outlives the actor that holds it."""

from actors.names import THINKING
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay
from tests.orchestration.simulation.histories import day


async def test_who_is_killed_and_comes_back_holds_in_mind_what_it_held_when_it_was_saved(inline_stores):
    mind = Replay(Settings(), inline_stores, seed=1)
    async for _ in mind.feed(day(0, 130)):
        pass
    world = mind.world
    before = world.shells[THINKING]
    held = before.core.describe().figures["working_memory"]
    assert held > 0
    await before.save(world.now)
    await world._die(before)
    after = world.shells[THINKING]
    assert after is not before
    assert after.core.describe().figures["working_memory"] == held
