"""Actors that are no more leave nothing on Cassandra that grows with their number, and what they thought stays."""

import pytest

from environment.errors import FencedOut
from environment.lineage import NodeKind, explain
from environment.ports import WriteConnections, WriteEntries, WriteRemoved, WriteReport, WriteState, WriteTrace
from environment.stores.cassandra import partitions
from tests.environment.stores.cassandra.openings import opened
from tests.environment.stores.making import NOON, change, connection, entry, report, trace

__all__ = ["opened"]
GONE = "causes-1"
LISTS = (
    ("names", "kind = 'owner' AND name = ?"),
    ("names", "kind = 'state' AND name = ?"),
    ("reports", "name = ?"),
    ("states", "name = ?"),
    ("connections", "owner = ?"),
    ("fenced_logs", "family = 'of causes-1' AND log = ?"),
    ("fenced_log_names", "family = 'of causes-1' AND log = ?"),
    ("heads", "family = 'of causes-1' AND log = ?"),
)


async def left(stores, mind):
    """In which tables there is a row of the one who is gone."""
    session, found = stores._session, []
    for table, where in LISTS:
        statement = await session.prepare(f"SELECT mind FROM {table} WHERE mind = ? AND {where}")  # noqa: S608 - ours
        if await session.execute(statement, (mind, GONE), idempotent=True):
            found.append(table)
    statement = await session.prepare("SELECT era FROM eras WHERE mind = ? AND scope = ?")
    scope = partitions.history_scope(GONE)
    return found + ["eras"] * bool(await session.execute(statement, (mind, scope), idempotent=True))


async def lived(opened, fence):
    """One that wrote everything an actor writes, by a writer of its own, and has ended."""
    actor = await opened(writer=GONE)
    made = change(0, GONE)
    await actor.commit([WriteReport(report(GONE)), WriteState(GONE, b"state")], fence)
    await actor.commit([WriteConnections(GONE, (connection(owner=GONE),), (), (made,))], fence)
    await actor.commit(
        [WriteTrace(trace(1)), WriteEntries((entry(1, focus=trace(1).id, lineage=(trace(1).id,)),))], fence
    )
    await actor.commit([WriteConnections(GONE, (), (("k1", "people"),), ())], fence)
    return actor


async def test_nothing_of_its_own_stays_and_its_thoughts_are_explained(opened):
    mind = await opened(writer="mind")
    fence = await mind.lead()
    actor = await lived(opened, fence)
    assert set(await left(mind, opened.mind)) >= {"names", "reports", "states", "fenced_logs", "heads", "eras"}
    before = await explain(mind, entry(1).id)
    assert await mind.registry.forget(NOON * 2) == 1
    await mind.commit([WriteRemoved((GONE,))], fence)
    assert await left(mind, opened.mind) == []
    assert GONE not in await mind.registry.owners()
    assert await mind.registry.history() == []
    explained = await explain(mind, entry(1).id)
    assert explained == before
    assert explained.children[0].kind is NodeKind.TRACE
    successor = await opened(writer="mind")
    assert await successor.lead() > fence  # with a writer less to close
    with pytest.raises(FencedOut):
        await actor.commit([WriteState(GONE, b"late")], fence)
    await successor.commit([WriteRemoved((GONE,))], await successor.lead())
    assert await left(successor, opened.mind) == []
