"""Migrations against a real server: order, repetition, two runners, dead runners, other versions."""

import asyncio
import random
import re

import pytest

from environment.errors import StoreBroken, StoreUnavailable, WrongSchema
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.errors import NoSuchTable
from environment.stores.cassandra.schema.migrations import (
    _CLAIM,
    _TABLE,
    SCHEMA,
    applied,
    load_migrations,
    migrate,
    require_schema,
)

ADDITIVE = re.compile(r"CREATE TABLE IF NOT EXISTS|ALTER TABLE \w+ (ADD IF NOT EXISTS|WITH) ")
BIRDS = "CREATE TABLE IF NOT EXISTS birds (id int PRIMARY KEY, name text);"
SONGS = "ALTER TABLE birds ADD IF NOT EXISTS song text;\nCREATE TABLE IF NOT EXISTS songs (id int PRIMARY KEY);"


@pytest.fixture
def files(tmp_path):
    """Two migrations in a folder of their own."""
    (tmp_path / "001_birds.cql").write_text(f"-- who sings\n{BIRDS}\n")
    (tmp_path / "002_songs.cql").write_text(SONGS)
    return tmp_path


async def tables(session):
    select = await session.prepare("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?")
    rows = await session.execute(select, (session.address.keyspace,), idempotent=True)
    return {row.table_name for row in rows}


class TestFiles:
    def test_comments_and_layout_are_not_part_of_the_checksum(self, files):
        before = load_migrations(files)[0].checksum
        (files / "001_birds.cql").write_text(f"{BIRDS.replace(' (', chr(10) + '   (')} -- later thoughts; more")
        assert load_migrations(files)[0].checksum == before
        (files / "001_birds.cql").write_text(BIRDS.replace("name", "title"))
        assert load_migrations(files)[0].checksum != before

    def test_the_projects_own_are_numbered_and_only_add(self):
        own = sorted(SCHEMA.glob("*.cql"))
        assert [one.file for one in load_migrations()] == [file.name for file in own]
        for statement in (each for one in load_migrations() for each in one.statements):
            assert ADDITIVE.match(statement), statement


async def test_missing_migrations_are_applied_in_order_and_only_once(session, files):
    known = load_migrations(files)
    told = []
    done = await migrate(session, known, runner="a", rng=random.Random(1), told=told.append)
    assert [one.number for one in done] == [one.number for one in told] == [1, 2]
    assert {"birds", "songs", "schema_migrations"} <= await tables(session)
    assert await applied(session, known) == 2
    assert await migrate(session, known, runner="b", rng=random.Random(2)) == []
    (files / "003_nests.cql").write_text("CREATE TABLE IF NOT EXISTS nests (id int PRIMARY KEY)")
    done = await migrate(session, load_migrations(files), runner="a", rng=random.Random(1))
    assert [one.file for one in done] == ["003_nests.cql"]


async def test_two_runners_at_once_apply_everything_once(keyspace, files):
    known = load_migrations(files)
    sessions = [await open_session(keyspace, rng=random.Random(at)) for at in range(3)]
    try:
        done = await asyncio.gather(
            *(migrate(one, known, runner=f"runner-{at}", rng=random.Random(at)) for at, one in enumerate(sessions))
        )
        assert sorted(one.number for some in done for one in some) == [1, 2]
        assert await applied(sessions[0], known) == 2
    finally:
        for one in sessions:
            await one.close()


async def test_a_node_that_does_not_know_the_table_yet_is_asked_again(session, files, monkeypatch):
    """What was prepared by one node may be executed by another, which another runner's table has not reached."""
    late = {"conditional": 2, "serial": 2}

    def lagging(name, ask):
        async def asked(*given):
            if late[name]:
                late[name] -= 1
                raise NoSuchTable(str(session.address), "schema_migrations")
            return await ask(*given)

        return asked

    await session.run(_TABLE)
    assert await migrate(session, load_migrations(files)[:1], runner="before", rng=random.Random(1))
    done = migrate(session, load_migrations(files), runner="one", rng=random.Random(1))
    real = session.serial

    async def first(select):  # the first look comes before the claim
        monkeypatch.setattr(session, "serial", lagging("serial", real))
        monkeypatch.setattr(session, "conditional", lagging("conditional", session.conditional))
        return await real(select)

    monkeypatch.setattr(session, "serial", first)
    assert [each.number for each in await done] == [2]
    assert not any(late.values())


async def test_a_runner_that_died_is_waited_for_until_its_claim_expires(session, files):
    known = load_migrations(files)
    await session.run(_TABLE)
    await session.conditional(await session.prepare(_CLAIM), (3, "dead"))
    began = asyncio.get_running_loop().time()
    with pytest.raises(StoreUnavailable, match="being migrated by dead"):
        await migrate(session, known, runner="a", rng=random.Random(1), wait=0.5)
    assert await applied(session, known) == 0
    done = await migrate(session, known, runner="a", rng=random.Random(1), wait=60)
    assert len(done) == 2
    assert asyncio.get_running_loop().time() - began > 1.5


async def test_a_runner_that_died_between_doing_and_recording_is_made_good(session, files):
    known = load_migrations(files)
    await session.run(BIRDS.rstrip(";"))
    assert len(await migrate(session, known, runner="a", rng=random.Random(1))) == 2
    assert "songs" in await tables(session)


async def test_a_runner_outlives_its_claims_length(session, files):
    known = load_migrations(files)

    class Slow:
        """The session, with nodes that take their time to agree on a schema."""

        def __getattr__(self, name):
            return getattr(session, name)

        async def run(self, cql):
            if under_claim in cql:
                begun.set()
            await asyncio.sleep(1.7)
            return await session.run(cql)

    begun, under_claim = asyncio.Event(), "TABLE IF NOT EXISTS birds"
    one = asyncio.ensure_future(migrate(Slow(), known, runner="slow", rng=random.Random(1), holds=3))
    await asyncio.wait_for(begun.wait(), 60)
    other = await migrate(session, known, runner="quick", rng=random.Random(2), holds=3, wait=60)
    assert len(await one) == 2
    assert other == []


async def test_older_and_newer_keyspaces_are_refused_with_what_to_do(session, files):
    known = load_migrations(files)
    with pytest.raises(WrongSchema, match=r"schema 0, this version knows 2: run `submind migrate`"):
        await require_schema(session, known)
    await migrate(session, known[:1], runner="a", rng=random.Random(1))
    with pytest.raises(WrongSchema, match=r"schema 1, this version knows 2: run `submind migrate`"):
        await require_schema(session, known)
    await migrate(session, known, runner="a", rng=random.Random(1))
    await require_schema(session, known)
    with pytest.raises(WrongSchema, match=r"schema 2, this version knows 1: a newer version"):
        await require_schema(session, known[:1])
    with pytest.raises(WrongSchema, match="newer version"):
        await migrate(session, known[:1], runner="a", rng=random.Random(1))


async def test_a_migration_that_was_changed_after_it_was_applied_is_named(session, files):
    await migrate(session, load_migrations(files), runner="a", rng=random.Random(1))
    (files / "001_birds.cql").write_text(BIRDS.replace("name", "title"))
    changed = load_migrations(files)
    for call in (require_schema(session, changed), migrate(session, changed, runner="a", rng=random.Random(1))):
        with pytest.raises(StoreBroken, match=r"001_birds\.cql was applied with checksum \w{32}"):
            await call


async def test_a_version_runs_on_newer_schemas_that_say_so_and_on_no_others(session, files):
    old = load_migrations(files)
    await migrate(session, old, runner="a", rng=random.Random(1))
    (files / "003_nests.cql").write_text("-- runs with schema 2\nCREATE TABLE IF NOT EXISTS nests (id int PRIMARY KEY)")
    await migrate(session, load_migrations(files), runner="a", rng=random.Random(1))
    await require_schema(session, old)
    assert await migrate(session, old, runner="a", rng=random.Random(1)) == []
    with pytest.raises(WrongSchema, match="newer version"):
        await require_schema(session, old[:1])
    (files / "004_eggs.cql").write_text("CREATE TABLE IF NOT EXISTS eggs (id int PRIMARY KEY)")
    await migrate(session, load_migrations(files), runner="a", rng=random.Random(1))
    with pytest.raises(WrongSchema, match="newer version"):
        await require_schema(session, old)
