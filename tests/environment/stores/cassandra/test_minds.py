"""Two minds in one keyspace never see each other's anything, whatever they are called and whatever either does."""

import asyncio
import itertools
import math
import random
import secrets
from dataclasses import replace

import pytest

from environment.errors import FencedOut
from environment.index.shard import Shard
from environment.lineage import UnknownId, explain
from environment.messages import Level
from environment.ports import (
    Configuration,
    WriteConfiguration,
    WriteConnections,
    WriteEntries,
    WriteLevel,
    WriteReport,
    WriteState,
    WriteTrace,
)
from environment.search import SearchFilters
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.stores import open_stores
from orchestration.view.follower import TraceFollower
from orchestration.view.settings import ViewSettings
from tests.environment.stores.contract import (
    DIM,
    NOON,
    change,
    connection,
    entry,
    live_ids,
    perception,
    report,
    revision,
    trace,
    vector,
)

SETTINGS = CassandraSettings(generation=16, record_bytes=1024)


@pytest.fixture(params=[("", "x"), ("", ":traces"), ("a", "A")], ids=["prefix", "separator", "case"])
async def pair(request, shared_keyspace):
    """Two minds whose names are nearly the same."""
    own, place = secrets.token_hex(4), f"{shared_keyspace}?dc={shared_keyspace.dc}"
    minds = [
        await open_stores(place, own + name, lane="host", settings=SETTINGS, rng=random.Random(n))
        for n, name in enumerate(request.param)
    ]
    yield minds
    for each in minds:
        await each.close()


async def live(stores, numbers, words):
    """A life of its own, under ids that the other uses as well."""
    await stores.perceptions.append([perception(n, key=f"k{n}", text=f"{words} {n}") for n in numbers])
    head = await stores.stream.head()
    for n in numbers:
        mine = replace(trace(n), thought=replace(trace(n).thought, text=words, insights=(words,)))
        await stores.commit(
            [
                WriteTrace(mine),
                WriteTrace(revision(mine, "causes", f"{words}, because")),
                WriteEntries((replace(entry(head + 1), text=words),)),
                WriteConnections("causes", (connection(label=words),), (), (replace(change(n), reason=words),)),
                WriteState("text", words.encode()),
                WriteReport(report(reason=words)),
                WriteConfiguration(Configuration(n + 1, NOON, words, "{}")),
            ]
        )
        head += 1


async def seen(stores, numbers):
    """All that one mind shows through its interfaces."""
    ids = [trace(n).id for n in numbers]
    found = TraceFollower(stores.traces, lambda: Shard(DIM), ViewSettings())
    return {
        "perceptions": await stores.perceptions.read(0, 1000),
        "heads": (await stores.perceptions.head(), await stores.traces.head(), await stores.stream.head()),
        "traces": await stores.traces.get(ids),
        "revisions": [await stores.traces.revisions(name) for name in ids],
        "live": sorted(await live_ids(stores, 100)),
        "changes": (await stores.traces.changes(0, 1000))[1],
        "between": [
            await stores.traces.between(-math.inf, math.inf, limit=1000, **asked)
            for asked in ({}, {"author": "causes"}, {"author": "text"}, {"topic": "disks"})
        ],
        "search": [(h.trace, round(h.score, 5)) for h in await found.search(vector(1), 50, SearchFilters(), NOON)],
        "stream": await stores.stream.read(1, 1000),
        "found": [await stores.stream.find(entry(n + 1).id) for n in numbers],
        "connections": await stores.registry.connections(),
        "history": await stores.registry.history(),
        "reports": await stores.registry.reports(),
        "states": await stores.registry.state("text"),
        "configurations": await stores.registry.configurations(),
        "statistics": dict(await stores.statistics()),
    }


def words_of(shown):
    """Every text that is shown."""
    texts = [p.text for p in shown["perceptions"]] + [e.text for e in shown["stream"]]
    traces = itertools.chain(shown["traces"].values(), *shown["revisions"], *shown["between"], shown["changes"])
    texts += [each.thought.text for each in traces] + [c.reason for c in shown["history"]]
    texts += [c.label for c in shown["connections"]] + [r.reason for r in shown["reports"]]
    texts += [c.by for c in shown["configurations"]] + [shown["states"].decode()]
    return texts


async def test_what_one_does_the_other_never_sees(pair):
    one, two = pair
    numbers = range(12)
    await asyncio.gather(live(one, numbers, "ours"), live(two, numbers, "theirs"))
    first, second = await asyncio.gather(seen(one, numbers), seen(two, numbers))
    assert first["heads"] == second["heads"] == (12, 24, 12)
    assert all(text.startswith("ours") for text in words_of(first))
    assert all(text.startswith("theirs") for text in words_of(second))

    gone = [WriteLevel(trace(n).id, Level(0.01, NOON, 60.0), live=False, conscious=None) for n in numbers]
    await one.commit(gone)
    await live(one, range(12, 30), "ours")
    if one._noting is not None:
        await one._noting
    assert await one.traces.forget(math.inf) == 12
    assert await one.registry.forget(math.inf) == 30
    assert await one.perceptions.forget(math.inf, 1 << 60) >= 12
    await one.commit([WriteConnections("causes", (), (("k1", "people"),), ())])
    assert await seen(two, numbers) == second
    assert await one.traces.get([trace(n).id for n in numbers]) == {}
    assert await one.registry.connections() == []


async def test_leading_one_leaves_the_other_its_leader(pair):
    one, two = pair
    theirs = await two.lead()
    await two.commit([WriteState("x", b"1")], theirs)
    for _ in range(3):
        ours = await one.lead()
    await one.lead(1000)
    with pytest.raises(FencedOut):
        await one.commit([WriteState("x", b"2")], ours)
    await two.commit([WriteState("x", b"3")], theirs)
    assert await two.lead() == theirs + 1
    assert await one.registry.state("x") is None


async def test_an_id_of_the_other_is_an_unknown_one(pair):
    one, two = pair
    await one.commit([WriteTrace(trace(1)), WriteEntries((entry(1),))])
    (receipt,) = await one.perceptions.append([perception(1)])
    for name in (trace(1).id, entry(1).id, receipt.id):
        assert await explain(one, name)
        with pytest.raises(UnknownId):
            await explain(two, name)


async def test_no_table_holds_a_row_without_its_mind(pair, shared_keyspace):
    one, two = pair
    await asyncio.gather(live(one, range(8), "ours"), live(two, range(8), "theirs"))
    session = one._session
    tables = await session.prepare("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?")
    names = [r.table_name for r in await session.execute(tables, (shared_keyspace.keyspace,), idempotent=True)]
    looked = 0
    for name in set(names) - {"schema_migrations"}:
        select = await session.prepare(f"SELECT * FROM {name}")  # noqa: S608 - the names are ours
        rows = await session.execute(select, idempotent=True)
        ours = [row for row in rows if row.mind == one._mind]
        assert all(row.mind for row in rows)
        assert not any(b"theirs" in value for row in ours for value in row if isinstance(value, bytes))
        assert not any("theirs" in value for row in ours for value in row if isinstance(value, str))
        looked += len(ours)
    assert looked > 100
