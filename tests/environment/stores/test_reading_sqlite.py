"""What a reader of SQLite sees while others write, and what it costs in an old mind."""

import math
from contextlib import suppress
from dataclasses import replace

import pytest

from environment.identity import perception_id
from environment.messages import Level
from environment.ports import WriteConnections, WriteEntries, WriteTrace
from environment.stores.sqlite import open_stores
from tests.environment.stores.making import NOON, change, connection, entry, perception, revision, trace


async def meanwhile(writer, step, work):
    """Have another process do something in the middle of the next read: before the statement with ``step`` in it."""
    happened = []

    async def elsewhere():
        opened = await open_stores(writer.path.parent, "mind", inline=True)
        await work(opened)
        await opened.close()
        happened.append(step)

    def begins(statement):
        if step in statement and not happened:
            with suppress(StopIteration):
                elsewhere().send(None)  # inline, nothing ever waits

    await writer.read(lambda connection: connection.set_trace_callback(begins))
    return happened


async def test_revisions_are_of_one_moment(stores):
    await stores.commit([WriteTrace(trace(1))])
    later = WriteTrace(revision(trace(1), "causes", "more of it"))
    happened = await meanwhile(stores._executor, "RECURSIVE", lambda other: other.commit([later]))
    assert [found.version for found in await stores.traces.revisions(trace(1).id)] == [1]
    assert happened
    assert [found.version for found in await stores.traces.revisions(trace(1).id)] == [1, 2]


async def test_a_perception_that_is_being_forgotten_is_there_or_not(stores):
    await stores.perceptions.append([perception(1)])
    writer = stores._perception_executor
    happened = await meanwhile(writer, "SELECT body", lambda other: other.perceptions.forget(NOON + 99, 9))
    assert list(await stores.perceptions.get([perception_id(1)])) == [perception_id(1)]
    assert happened
    assert not await stores.perceptions.get([perception_id(1)])


async def test_changes_that_a_wrong_clock_dated_keep_no_others_from_being_forgotten(stores):
    ahead = tuple(change(10**8 + n) for n in range(3))
    await stores.commit([WriteConnections("causes", (), (), ahead)])
    await stores.commit([WriteConnections("causes", (), (), tuple(change(n) for n in range(3)))])
    assert await stores.registry.forget(NOON + 5, limit=2) == 2
    assert await stores.registry.forget(NOON + 5, limit=2) == 1
    assert [c.at for c in await stores.registry.history()] == [c.at for c in ahead[::-1]]


async def test_nothing_is_asked_that_costs_more_the_older_a_mind_is(stores):
    """Each read is looked up in an index by all that it asks for: by the submind too, where it asks for one."""
    await stores.commit([WriteTrace(trace(1)), WriteTrace(trace(2)), WriteEntries((entry(1),))])
    held = connection(), replace(connection(), peer="other")
    await stores.commit([WriteConnections("causes", held, (), (change(1), change(2)))])
    asked: list[str] = []
    await stores._executor.read(lambda reader: reader.set_trace_callback(asked.append))
    await stores.statistics()
    await stores.traces.get([trace(1).id])
    await stores.traces.revisions(trace(1).id)
    await stores.traces.changes(0, 10)
    await stores.stream.read(1, 5)
    await stores.stream.find(entry(1).id)
    await stores.registry.state("causes")
    before = len(asked)
    await stores.registry.connections("causes")
    (mark, _) = await stores.registry.history("causes", 5)
    await stores.registry.history("causes", 5, since=NOON, before=mark.mark)
    await stores._executor.read(lambda reader: reader.set_trace_callback(None))

    def plan(reader, statement):
        return [row[3] for row in reader.execute(f"EXPLAIN QUERY PLAN {statement}")]

    for number, statement in enumerate(asked):
        if not statement.lstrip().startswith(("SELECT", "WITH")):
            continue
        steps = await stores._executor.read(lambda reader, statement=statement: plan(reader, statement))
        assert not [step for step in steps if step.startswith("SCAN") and step.split()[1] not in {"json_each", "chain"}]
        if "count(*)" in statement:
            assert any(small in statement for small in ("connections", "live", "states", "reports")), statement
        elif number >= before:
            assert any("owner=?" in step for step in steps), statement


async def test_a_mark_that_is_too_long_for_a_number_is_none(stores):
    with pytest.raises(ValueError, match="is not a mark of this history"):
        await stores.registry.history(before="9" * 5000)


async def test_what_no_row_can_hold_is_not_to_be_tried_again(stores):
    with pytest.raises(ValueError, match=r"mind\.db cannot hold that"):
        await stores.commit([WriteTrace(trace(1)), WriteTrace(replace(trace(2), level=Level(math.nan, NOON, 60.0)))])
    assert not await stores.traces.get([trace(1).id]), "all or nothing"
