"""Changes of traces expire: nobody takes what is left for all there was, and what is live is known all the same."""

import asyncio
import math

import pytest

from environment.errors import ChangesGone
from environment.messages import Level
from environment.ports import WriteLevel, WriteTrace
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.copying import tally
from tests.environment.stores.cassandra.openings import opening
from tests.environment.stores.making import NOON, live_ids, revision, trace

SOON = CassandraSettings(generation=1000, known_ids_bytes=1 << 17, changes_kept=1)
LATE = CassandraSettings(generation=1000, known_ids_bytes=1 << 17)
opened = opening(LATE)
_CHANGES = "SELECT change FROM changes WHERE mind = ? AND bucket = 0"


def retired(number):
    return WriteLevel(trace(number).id, Level(0.01, NOON, 60.0), live=False, conscious=None)


async def told(stores):
    """The changes that are left."""
    statement = await stores._session.prepare(_CHANGES)
    return [row.change for row in await stores._session.execute(statement, (stores._mind,), idempotent=True)]


async def until(condition):
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110 - it is the servers' to say
            await asyncio.sleep(0.1)


async def test_a_mind_whose_changes_all_expired_is_whole(opened):
    stores = await opened(SOON)
    stores._note = lambda: None  # it never writes down what is live
    await stores.commit([WriteTrace(trace(n)) for n in range(40)])
    await stores.commit([retired(n) for n in range(0, 40, 4)])
    await stores.commit([WriteTrace(revision(trace(1), "causes", "because"))])
    before = await tally(stores.moving)
    alive = {trace(n).id for n in range(40) if n % 4}

    async def over():
        return not await told(stores)

    await until(over)
    head = await stores.traces.head()
    with pytest.raises(ChangesGone):
        await stores.traces.changes(0, 10)
    with pytest.raises(ChangesGone):
        await stores.traces.changes(head - 1, 10)
    assert await stores.traces.changes(head, 10) == (head, [])

    fresh = await opened()
    assert set(await live_ids(fresh, 7)) == alive
    assert await tally(fresh.moving) == before
    await fresh.commit([WriteTrace(trace(n)) for n in range(44)])  # the first 40 were there
    assert await fresh.traces.head() == head + 4
    await fresh._ids._filling
    assert fresh._ids.complete
    assert all(fresh._ids.may_hold(trace(n).id) for n in range(40))
    assert not fresh._ids.may_hold("t-nowhere")
    await fresh._noting  # now what is live is written down, and nobody has to ask for it
    assert (await fresh._live.generation()).change == head + 4
    assert await fresh._live.ids(head + 4) == alive | {trace(n).id for n in range(40, 44)}
    assert await fresh.traces.forget(math.inf) == 10
    assert (await fresh.statistics())["traces_rows"] == 34


async def test_one_change_that_is_missing_is_noticed(opened):
    stores = await opened()
    await stores.commit([WriteTrace(trace(n)) for n in range(6)])
    await stores.commit([WriteTrace(revision(trace(1), "causes", "one")), WriteTrace(trace(6))])
    two = [revision(trace(2), "causes", "one")]
    two.append(revision(two[0], "causes", "two"))
    await stores.commit([WriteTrace(each) for each in two])  # one change of two versions
    await stores.commit([retired(0)])
    numbers = await told(stores)
    assert numbers == [1, 2, 3, 4, 5, 6, 7, 8, 10, 11]
    for after in (0, *numbers):
        reached, found = await stores.traces.changes(after, 100)
        assert reached == 11
        assert len(found) == len([n for n in (4, 5, 6, 7, 8, 10, 11) if n > after])  # each under its last change
    drop = await stores._session.prepare("DELETE FROM changes WHERE mind = ? AND bucket = 0 AND change = ?")
    await stores._session.execute(drop, (stores._mind, 7), idempotent=True)
    for after in (0, 3, 6):
        with pytest.raises(ChangesGone):
            await stores.traces.changes(after, 100)
    for after in (7, 8, 10, 11):
        assert (await stores.traces.changes(after, 100))[0] == 11
    await stores._session.execute(drop, (stores._mind, 11), idempotent=True)
    with pytest.raises(ChangesGone):
        await stores.traces.changes(10, 100)


async def test_a_quiet_mind_writes_down_what_is_live_before_it_is_too_late(opened):
    stores = await opened(CassandraSettings(generation=1000, known_ids_bytes=1 << 17, changes_kept=4))

    async def written_down():
        return (await stores._live.generation()).change == await stores.traces.head()

    await stores.commit([WriteTrace(trace(n)) for n in range(5)])
    await until(written_down)
    await stores.commit([retired(2)])
    await stores.commit([WriteTrace(trace(5))])
    await until(written_down)  # though nothing is written any more

    async def over():
        return not await told(stores)

    await until(over)
    asked = []
    fresh = await opened()
    fresh._live._asked = lambda: asked.append(True)
    assert set(await live_ids(fresh, 7)) == {trace(n).id for n in (0, 1, 3, 4, 5)}
    assert not asked
