"""Every row of every table bears its mind: what the contract asks of the ports, asked of the tables."""

import asyncio
import random
import secrets
from dataclasses import replace

import pytest

from environment.collections import WriteDocument
from environment.ports import WriteReport, WriteTrace
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.stores import open_stores
from tests.environment.stores.cassandra.openings import A_BIT_OF_ALL
from tests.environment.stores.making import NOON, document, perception, report, trace

SETTINGS = CassandraSettings(generation=16, record_bytes=1024)


@pytest.mark.parametrize("names", [("", "x"), ("", ":traces"), ("a", "A")], ids=["prefix", "separator", "case"])
async def test_no_table_holds_a_row_of_another_mind(names, keyspace_of_its_own):
    """Whatever the minds are called."""
    place, own = f"{keyspace_of_its_own}?dc={keyspace_of_its_own.dc}", secrets.token_hex(4)
    ours, theirs = [await open_stores(place, own + name, settings=SETTINGS, rng=random.Random(1)) for name in names]

    async def live(stores, words):
        await stores.perceptions.append([perception(n, key=f"{words} {n}", text=words) for n in range(8)])
        await stores.commit([*A_BIT_OF_ALL, WriteReport(report(reason=words))])
        await stores.commit([WriteDocument(document(n, body=words.encode(), expires=NOON)) for n in range(8)])
        made = [replace(trace(n), thought=replace(trace(n).thought, text=words)) for n in range(100, 140)]
        await stores.commit([WriteTrace(each) for each in made])
        await stores._noting

    await asyncio.gather(live(ours, "ours"), live(theirs, "theirs"))
    session, looked = ours._session, 0
    tables = await session.prepare("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?")
    found = await session.execute(tables, (keyspace_of_its_own.keyspace,), idempotent=True)
    for table in {row.table_name for row in found} - {"schema_migrations"}:
        select = await session.prepare(f"SELECT * FROM {table}")  # noqa: S608 - the names are ours
        rows = await session.execute(select, idempotent=True)
        assert all(row.mind for row in rows)
        mine = [value for row in rows if row.mind == ours._mind for value in row]
        assert not any(b"theirs" in value for value in mine if isinstance(value, bytes))
        assert not any("theirs" in value for value in mine if isinstance(value, str))
        looked += len(mine)
    assert looked > 100
    await ours.close()
    await theirs.close()
