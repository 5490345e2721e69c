"""A backup out of a real Cassandra while somebody writes to it: nothing in it refers to what is missing."""

import asyncio
from dataclasses import replace

from environment.identity import perception_seq
from environment.messages import Level
from environment.ports import WriteEntries, WriteLevel, WriteState, WriteTrace
from environment.stores import paging
from environment.stores.copying import Copy, differences, tally
from environment.stores.sqlite import open_stores as open_sqlite
from tests.environment.stores.backup.taken import take
from tests.environment.stores.backup.test_backup import all_of
from tests.environment.stores.cassandra.test_traces import opened
from tests.environment.stores.furnished import furnish
from tests.environment.stores.making import NOON, entry, perception, revision, trace

__all__ = ["opened"]


async def test_a_mind_that_thinks_perceives_and_forgets_meanwhile(opened, tmp_path, monkeypatch):
    """As its actors write: what something rests on before it, a state after what it speaks of."""
    monkeypatch.setattr(paging, "PAGE", 8)
    stores, writer = await opened(), await opened()
    await furnish(stores, 100, middle=False)
    stop, begun = asyncio.Event(), asyncio.Event()
    number, said = 5000, 7

    async def live_on():
        nonlocal number, said
        while not stop.is_set():
            number += 1
            (receipt,) = await writer.perceptions.append([perception(number)])
            made = trace(number)
            cited = (replace(made.thought.perceptions[0], id=receipt.id),)
            made = replace(made, thought=replace(made.thought, perceptions=cited))
            older = (await writer.traces.get([trace(0).id]))[trace(0).id]
            await writer.commit([WriteTrace(made), WriteTrace(revision(older, "people", f"step {number}"))])
            await writer.commit([WriteLevel(trace(4).id, Level(0.5, NOON + number, 60.0), live=True, conscious=None)])
            said += 1
            await writer.commit([WriteEntries((replace(entry(said), lineage=(made.id,), focus=made.id),))])
            await writer.commit([WriteLevel(made.id, made.level, live=True, conscious=said)])
            await writer.commit([WriteState("text", b"%d" % receipt.seq)])
            if number % 5 == 0:
                await writer.traces.forget(NOON + 1e6, limit=3)
            if number == 5010:
                begun.set()

    going = asyncio.create_task(live_on())
    try:
        await asyncio.wait_for(begun.wait(), 60)
        for attempt in range(3):
            at_least, before = number, said
            backup = await take(stores, tmp_path / f"{attempt}.submind")
            assert number > at_least
            await whole(backup, before)
            files = await open_sqlite(tmp_path / f"files-{attempt}", "alpha")
            await Copy(backup, files, "backup 1").run()
            assert differences(await tally(backup), await tally(files.moving)) == []
            assert await files.traces.rows() == (backup.manifest.counts["traces"], len(await live(files)))
            await files.close()
            backup.close()
    finally:
        stop.set()
        await going


async def live(stores):
    return [trace for page in [p async for p in stores.traces.live()] for trace in page]


async def whole(backup, said):
    """Every entry's lineage, every trace's perceptions and the cursor lead to something in there."""
    entries = await all_of(backup, "entries")
    assert [each.seq for each in entries] == list(range(1, len(entries) + 1))
    assert len(entries) == backup.manifest.entries >= said
    traces = {}
    for moved in await all_of(backup, "traces"):
        assert moved.standing.id not in traces
        assert [each.version for each in moved.revisions] == list(range(1, moved.standing.version + 1))
        traces[moved.standing.id] = moved.standing
    assert len(traces) == backup.manifest.counts["traces"]
    assert {name for each in entries[7:] for name in each.lineage} <= set(traces)
    assert max((each.conscious or 0) for each in traces.values()) <= len(entries)
    there = {each.seq for each in await all_of(backup, "perceptions")}
    cited = {ref.id for each in traces.values() if each.thought.at > NOON + 4000 for ref in each.thought.perceptions}
    assert {perception_seq(name) for name in cited} <= there
    assert {int(each.state) for each in backup.all_of("states") if each.name == "text"} <= there
    assert max(there) == backup.manifest.head
