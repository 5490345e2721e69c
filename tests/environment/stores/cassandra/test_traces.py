"""Traces on Cassandra beyond the contract: many versions, generations of what is live, ids that are surely new."""

import asyncio
import math
from dataclasses import replace

import pytest

from environment.messages import Level
from environment.ports import WriteConnections, WriteEntries, WriteLevel, WriteTrace
from environment.stores.cassandra import partitions
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.traces import trace_store
from environment.stores.cassandra.traces.scan import scan_traces
from tests.environment.stores.cassandra.openings import opening
from tests.environment.stores.making import NOON, change, entry, live_ids, name, revision, trace

SMALL = CassandraSettings(generation=20, known_ids_bytes=1 << 17, retired=4)
GONE = Level(0.01, NOON, 60.0)
opened = opening(SMALL)


async def rows(stores, cql, *values):
    return await stores._session.execute(await stores._session.prepare(cql), values, idempotent=True)


async def test_a_trace_of_very_many_versions_is_read_and_forgotten_as_a_whole(opened):
    stores = await opened()
    versions = [trace(1)]
    for n in range(2, partitions.VERSIONS + 12):
        following = revision(versions[-1], "causes", f"version {n}")
        versions.append(replace(following, authors=("text", "causes")))
    for start in range(0, len(versions), 200):
        await stores.commit([WriteTrace(each) for each in versions[start : start + 200]])
    newest = versions[-1]
    assert await stores.traces.get([newest.id]) == {newest.id: newest}
    assert [t async for found in stores.traces.live() for t in found] == [newest]
    found = await stores.traces.revisions(newest.id)
    assert [(r.version, r.thought.text) for r in found] == [(v.version, v.thought.text) for v in versions]
    level = Level(0.75, NOON + 5, 60.0)
    await stores.commit([WriteLevel(newest.id, level, live=True, conscious=9)])
    assert (await stores.traces.get([newest.id]))[newest.id] == replace(newest, level=level, conscious=9)
    elsewhere = await opened()  # it has to read how the trace stands
    last = revision(newest, "causes", "the last")
    await elsewhere.commit([WriteTrace(last), WriteTrace(versions[3])])
    assert (await stores.traces.get([newest.id]))[newest.id].thought.text == "the last"
    await stores.commit([WriteLevel(newest.id, GONE, live=False, conscious=None)])
    assert await stores.traces.forget(math.inf) == 1
    assert await stores.traces.revisions(newest.id) == []
    assert (
        await rows(stores, "SELECT id FROM traces WHERE mind = ? AND id = ? AND chunk = 1", stores._mind, last.id) == []
    )
    everything = scan_traces(stores._session, stores._mind)
    assert newest.id not in [name async for name, _ in everything]


async def test_generations_say_what_is_live_and_old_ones_go(opened):
    stores = await opened()
    alive = set()
    for n in range(100):
        alive.add(trace(n).id)
        writes = [WriteTrace(trace(n))]
        if n % 3 == 0 and n:
            alive.discard(trace(n - 2).id)
            writes.append(WriteLevel(trace(n - 2).id, GONE, live=False, conscious=None))
        await stores.commit(writes)
        if stores._noting is not None and n % 10 == 9:
            await stores._noting
            assert set(await live_ids(stores, 100)) == alive
    generation = await stores._live.generation()
    assert generation.change >= await stores.traces.head() - 2 * SMALL.generation
    assert generation.previous > 0
    kept = await rows(stores, "SELECT mind, generation, page FROM live_pages")
    assert {row.generation for row in kept if row.mind == stores._mind} == {generation.change, generation.previous}
    assert set(await live_ids(await opened(), 7)) == alive


async def test_what_is_live_is_found_while_generations_come_and_go(opened):
    writer, reader = await opened(), await opened()
    await writer.commit([WriteTrace(trace(n)) for n in range(300)])

    async def write():
        for n in range(300, 700, 20):
            await writer.commit([WriteTrace(trace(m)) for m in range(n, n + 20)])

    async def read():
        counts = []
        while not writing.done():
            found = await live_ids(reader, 50)
            assert len(found) == len(set(found))
            assert {trace(n).id for n in range(300)} <= set(found)
            counts.append(len(found))
        return counts

    writing = asyncio.ensure_future(write())
    counts = await read()
    await writing
    assert counts == sorted(counts)
    assert len(await live_ids(reader, 50)) == 700


async def test_a_generation_that_goes_while_it_is_read_is_read_anew(opened):
    stores = await opened()
    await stores.commit([WriteTrace(trace(n)) for n in range(30)])
    first = await stores._live.write_down(30, NOON)
    live = stores._live
    real, told = live.generation, [first]

    async def behind():
        return told.pop() if told else await real()

    await stores.commit([WriteTrace(trace(n)) for n in range(30, 60)])
    await live.write_down(50, NOON)
    await live.write_down(60, NOON)
    live.generation = behind
    assert await live.ids(60) == {trace(n).id for n in range(60)}
    assert not told


async def test_an_older_moment_is_told_from_the_generation_before(opened):
    stores = await opened(CassandraSettings(generation=1000))
    await stores.commit([WriteTrace(trace(n)) for n in range(30)])
    await stores.commit([WriteLevel(trace(n).id, GONE, live=False, conscious=None) for n in range(10)])
    await stores._live.write_down(30, NOON)
    await stores._live.write_down(40, NOON)
    assert await stores._live.ids(35) == {trace(n).id for n in range(5, 30)}
    assert await stores._live.ids(12) == {trace(n).id for n in range(12)}


async def test_new_ids_are_told_without_a_read_and_known_ones_never_taken_for_new(opened):
    stores = await opened()
    for n in range(60):
        await stores.commit([WriteTrace(trace(n))])
    await stores._ids._filling
    assert stores._ids.complete
    before = stores._statuses.reads
    await stores.commit([WriteTrace(trace(n)) for n in range(60, 120)])
    assert stores._statuses.reads == before
    if stores._noting is not None:
        await stores._noting

    for settings in (SMALL, CassandraSettings(known_ids_bytes=1 << 18), CassandraSettings(known_ids_bytes=0)):
        again = await opened(settings)
        await again.commit([WriteTrace(trace(n)) for n in range(0, 120, 7)])
        assert await again.traces.head() == 120
        if again._ids._filling is not None:
            await again._ids._filling
        await again.commit([WriteTrace(trace(n)) for n in range(120)])
        assert await again.traces.head() == 120


async def test_what_another_writes_is_known_as_well(opened):
    one, two = await opened(), await opened()
    await one.commit([WriteTrace(trace(1))])
    await two.commit([WriteTrace(trace(n)) for n in range(2, 30)])
    await two.commit([WriteLevel(trace(1).id, GONE, live=False, conscious=None)])
    await one.commit([WriteTrace(trace(n)) for n in range(1, 30)])
    assert await one.traces.head() == 30
    assert (await one.statistics())["traces_live_rows"] == 28
    assert await two.traces.forget(math.inf) == 1
    await one.commit([WriteTrace(trace(1))])
    assert (await one.traces.get([trace(1).id]))[trace(1).id].live
    assert (await one.statistics())["traces_rows"] == 29


async def test_a_trace_that_is_raised_while_it_is_being_forgotten_stays(opened):
    cleaner, writer = await opened(), await opened()
    await writer.commit([WriteTrace(replace(trace(n), live=False)) for n in range(6)])
    reader = cleaner._writer
    decide, raised = reader.decide_on, []

    async def slow(*asked):
        if not raised:
            raised.append(True)
            high = Level(0.9, NOON, 60.0)
            await writer.commit([WriteLevel(trace(2).id, high, live=True, conscious=None)])
        return await decide(*asked)

    reader.decide_on = slow
    assert await cleaner.traces.forget(math.inf) == 5
    assert set(await live_ids(writer)) == {trace(2).id}
    assert (await writer.statistics())["traces_rows"] == 1


async def test_the_directory_of_what_was_forgotten_goes_with_it(opened):
    """However many go at once; and what comes to an old hour later is found again."""
    stores, era = await opened(), partitions.ERA * 3600.0
    times = [NOON + n * era + hour * 3600 for n in range(4) for hour in (0, 1)]
    for n, at in enumerate(times):
        gone = replace(trace(n), level=Level(0.01, at, 60.0), live=False)
        await stores.commit([WriteConnections("a", (), (), (replace(change(n, "a"), at=at),)), WriteTrace(gone)])

    async def left(scope):
        statement = await stores._session.prepare("SELECT era FROM eras WHERE mind = ? AND scope = ?")
        rows = await stores._session.execute(statement, (stores._mind, scope), idempotent=True)
        return [row[0] for row in rows]

    scopes = partitions.history_scope("a"), partitions.RETIRED
    before = [await left(scope) for scope in scopes]
    assert [len(each) for each in before] == [4, 4]
    for forget in (stores.registry.forget, stores.traces.forget):
        gone = [await forget(times[6], limit=1) for _ in range(8)]
        assert gone == [1] * 6 + [0] * 2
    assert [await left(scope) for scope in scopes] == [each[3:] for each in before]
    fresh = await opened()
    again = replace(change(9, "a"), at=times[0])
    await fresh.commit([WriteConnections("a", (), (), (again,))])
    assert (await stores.registry.history("a"))[-1] == again
    assert await stores.registry.forget(times[6]) == 1
    assert await left(scopes[0]) == before[0][3:]


async def test_a_long_stream_is_read_across_its_chunks(opened):
    stores = await opened()
    count = partitions.ENTRIES + 40
    for start in range(1, count + 1, 133):
        await stores.commit([WriteEntries(tuple(entry(n) for n in range(start, min(start + 133, count + 1))))])
    assert await stores.stream.head() == count
    first = partitions.ENTRIES - 3
    assert [e.seq for e in await stores.stream.read(first, 9)] == list(range(first, first + 9))
    assert len(await stores.stream.read(1, 10_000)) == count
    assert (await stores.stream.find(name("c", count))).seq == count


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
async def test_a_short_page_of_changes_is_the_last(opened, monkeypatch, limit):
    monkeypatch.setattr(trace_store, "_WINDOW", 5)
    stores = await opened()
    await stores.commit([WriteTrace(trace(n)) for n in range(12)])
    for n in range(0, 12, 2):  # most of the first windows is told by later ones
        await stores.commit([WriteLevel(trace(n).id, Level(0.6, NOON + n, 60.0), live=True, conscious=None)])
    reached, told, pages = 0, [], [limit]
    while pages[-1] == limit:
        reached, found = await stores.traces.changes(reached, limit)
        told += [each.id for each in found]
        pages.append(len(found))
    assert told == [trace(n).id for n in (*range(1, 12, 2), *range(0, 12, 2))]
    assert reached == await stores.traces.head() == 18
