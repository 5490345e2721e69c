"""A change of schema under load: the old version writes on while it is made, then the new one takes over."""

import asyncio
import random
import re
import shutil

import pytest

from environment.errors import FencedOut, WrongSchema
from environment.ports import WriteEntries, WriteTrace
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.schema import migrations
from environment.stores.opening import open_stores
from tests.environment.stores.making import entry, name, perception, trace


@pytest.fixture
async def address(keyspace):
    session = await open_session(keyspace, rng=random.Random(1))
    await migrations.migrate(session, runner="tests", rng=random.Random(1))
    await session.close()
    return f"{keyspace}?dc={keyspace.dc}"


@pytest.fixture
def next_schema(tmp_path):
    """This version's migrations and one more, which adds a column to every table there is, and a table."""
    folder = tmp_path / "schema"
    shutil.copytree(migrations.SCHEMA, folder)
    made = [statement for one in migrations.load_migrations() for statement in one.statements]
    tables = [found[1] for one in made if (found := re.match(r"CREATE TABLE IF NOT EXISTS (\w+)", one))]
    assert len(tables) > 10
    more = [f"ALTER TABLE {table} ADD IF NOT EXISTS added_later text;" for table in tables]
    more.append("CREATE TABLE IF NOT EXISTS later (mind text PRIMARY KEY);")
    (folder / f"{len(migrations.load_migrations()) + 1:03}_later.cql").write_text("\n".join(more))
    return folder


class Load:
    """A version at work: it takes perceptions in, and leaves traces and entries, one after the other."""

    def __init__(self, host, mind, fence, said=0):
        self.host, self.mind, self.fence = host, mind, fence
        self.acknowledged = {}
        self.said = said
        self.going = True
        self.tasks = [asyncio.ensure_future(self.think()), *(asyncio.ensure_future(self.feed(at)) for at in range(4))]

    async def feed(self, client):
        number = 0
        while self.going:
            key = f"{self.fence}-{client}-{number}"
            (receipt,) = await self.host.perceptions.append([perception(number, key=key)])
            self.acknowledged[key] = receipt.id
            number += 1

    async def think(self):
        while self.going:
            number = self.said + 1
            await self.mind.commit([WriteTrace(trace(number)), WriteEntries((entry(number),))], self.fence)
            self.said = number

    async def until_more(self, count=30):
        target = len(self.acknowledged) + count, self.said + 5
        async with asyncio.timeout(60):
            while len(self.acknowledged) < target[0] or self.said < target[1]:
                await asyncio.sleep(0.05)
                assert not [task.exception() for task in self.tasks if task.done()]

    async def end(self):
        self.going = False
        await asyncio.gather(*self.tasks)


async def test_nothing_is_lost_while_the_schema_changes_under_load(keyspace, address, next_schema, monkeypatch):
    old = [await open_stores(address, "alpha", writer=writer) for writer in ("host", "stream")]
    before = Load(*old, await old[1].lead())
    await before.until_more()
    session = await open_session(keyspace, rng=random.Random(3))
    done = await migrations.migrate(
        session, migrations.load_migrations(next_schema), runner="next", rng=random.Random(3)
    )
    await session.close()
    assert [one.name for one in done] == ["later"]
    await before.until_more()

    with pytest.raises(WrongSchema, match="a newer version has migrated it"):
        await open_stores(address, "alpha", writer="host")
    monkeypatch.setattr(migrations, "SCHEMA", next_schema)
    new = [await open_stores(address, "alpha", writer=writer) for writer in ("host", "stream")]
    await before.until_more()
    fence = await new[1].lead()
    with pytest.raises(FencedOut):
        await old[1].commit([WriteTrace(trace(1_000_000))], before.fence)
    before.going = False
    ended = await asyncio.gather(*before.tasks, return_exceptions=True)
    assert [type(one) for one in ended if one is not None] in ([], [FencedOut])

    after = Load(*new, fence, said=await new[1].stream.head())
    assert after.said in (before.said, before.said + 1)
    await after.until_more()
    await after.end()
    everything = before.acknowledged | after.acknowledged
    there = {one.key: one.id for one in await new[0].perceptions.read(0, 1_000_000)}
    assert {key: there.get(key) for key in everything} == everything
    assert len(there) == await new[0].perceptions.head()
    assert [one.seq for one in await new[1].stream.read(1, 1_000_000)] == list(range(1, after.said + 1))
    kept = await new[1].traces.get([name("t", number) for number in range(1, after.said + 1)])
    assert len(kept) == after.said
    for stores in (*old, *new):
        await stores.close()
