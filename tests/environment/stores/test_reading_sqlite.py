"""What a reader of SQLite sees while others write."""

from contextlib import suppress

import pytest

from environment.messages import Level, perception_id
from environment.ports import WriteLevel, WriteTrace
from environment.stores.sqlite import open_stores
from tests.environment.stores.contract import NOON, perception, revision, trace


@pytest.fixture
async def stores(tmp_path):
    opened = await open_stores(tmp_path, "alpha")
    yield opened
    await opened.close()


async def meanwhile(lane, step, work):
    """Have another process do something in the middle of the next read: before the statement with ``step`` in it."""
    happened = []

    async def elsewhere():
        opened = await open_stores(lane.path.parent, "alpha", inline=True)
        await work(opened)
        await opened.close()
        happened.append(step)

    def begins(statement):
        if step in statement and not happened:
            with suppress(StopIteration):
                elsewhere().send(None)  # inline, nothing ever waits

    await lane.read(lambda connection: connection.set_trace_callback(begins))
    return happened


async def test_revisions_are_of_one_moment(stores):
    await stores.commit([WriteTrace(trace(1))])
    later = WriteTrace(revision(trace(1), "causes", "more of it"))
    happened = await meanwhile(stores._lane, "RECURSIVE", lambda other: other.commit([later]))
    assert [found.version for found in await stores.traces.revisions(trace(1).id)] == [1]
    assert happened
    assert [found.version for found in await stores.traces.revisions(trace(1).id)] == [1, 2]


async def test_who_meets_traces_that_are_being_forgotten_is_answered(stores):
    sunk = WriteLevel(trace(1).id, Level(0.01, NOON, 60.0), live=False, conscious=None)
    await stores.commit([WriteTrace(trace(1)), WriteTrace(trace(2)), sunk])
    happened = await meanwhile(stores._lane, "json_each", lambda other: other.traces.forget(NOON + 9))
    assert [found.id for found in await stores.traces.between(NOON, NOON + 9)] == [trace(2).id, trace(1).id]
    assert happened
    assert [found.id for found in await stores.traces.between(NOON, NOON + 9)] == [trace(2).id]


async def test_a_perception_that_is_being_forgotten_is_there_or_not(stores):
    await stores.perceptions.append([perception(1)])
    lane = stores._perception_lane
    happened = await meanwhile(lane, "SELECT body", lambda other: other.perceptions.forget(NOON + 99, 9))
    assert list(await stores.perceptions.get([perception_id(1)])) == [perception_id(1)]
    assert happened
    assert not await stores.perceptions.get([perception_id(1)])
