"""Keys: kept in memory, filed in order, found again by others and after a crash, told apart where they meet."""

import random
from dataclasses import replace

import pytest

from environment.stores.sqlite.connection_executor import ConnectionExecutor
from environment.stores.sqlite.perceptions import SqlitePerceptions
from environment.stores.sqlite.schema import PERCEPTIONS, migrate
from tests.environment.stores.making import NOON, perception


@pytest.fixture
async def opened(tmp_path):
    """Opens the log of a mind once more, as another process would."""
    lanes = []

    async def another(mind="alpha", **options):
        writer = ConnectionExecutor(tmp_path / "perceptions.db", inline=True, synchronous="OFF", busy_timeout=1.0)
        lanes.append(writer)
        await writer.write(lambda connection: migrate(connection, PERCEPTIONS))
        return SqlitePerceptions(writer, mind, **options)

    yield another
    for writer in lanes:
        await writer.close()


def crowded(mind, sources, keys):
    """A hash that puts all keys of a letter in one place."""
    return [0 if key is None else ord(key[0]) for key in keys]


async def filed(log):
    return await log._executor.read(lambda c: dict(c.execute("SELECT place, position FROM places").fetchall()))


@pytest.mark.parametrize("memory", [1, 100, 3000, 1 << 40])
async def test_a_key_stays_known_while_it_waits_is_filed_and_after_a_crash(opened, memory):
    log, told = await opened(memory=memory), {}
    chance = random.Random(memory)
    for life in range(3):
        for _ in range(12):
            numbers = [chance.randrange(30_000) for _ in range(chance.choice((1, 40, 500)))]
            receipts = await log.append([perception(n, key=f"k{n}") for n in numbers])
            for n, receipt in zip(numbers, receipts, strict=True):
                first = told.setdefault(n, receipt)
                assert receipt == replace(first, new=receipt is first)
        log = await opened(memory=memory)  # what waited in memory was lost
        assert await log.rows() == len(told), life
    assert bool(await filed(log)) == (memory < 1 << 40)


@pytest.mark.parametrize("memory", [1, 1 << 40])
async def test_keys_that_meet_in_one_place_are_told_apart(opened, memory):
    log = await opened(memory=memory, hashing=crowded)
    keys = ["a1", "a2", "b1", "a3", "a1", None, "b2"]
    first = await log.append([perception(n, key=key) for n, key in enumerate(keys)])
    assert [r.new for r in first] == [True] * 4 + [False, True, True]
    other = await opened("beta", memory=memory, hashing=crowded)
    assert [r.new for r in await other.append([perception(1, key="a1"), perception(1, key="a9")])] == [True, True]
    for each in (log, await opened(memory=memory, hashing=crowded)):
        again = await each.append([perception(9, key=key) for key in ("b2", "a3", "a2", "a1", "b1")])
        assert [(r.seq, r.new) for r in again] == [(first[at].seq, False) for at in (6, 3, 1, 0, 2)]


@pytest.mark.parametrize("memory", [1, 1 << 40])
async def test_a_forgotten_key_leads_on_to_those_behind_it_and_gives_its_place(opened, memory):
    log = await opened(memory=memory, hashing=crowded)
    receipts = [(await log.append([perception(n, key=f"a{n}")]))[0] for n in range(4)]
    assert await log.forget(NOON + 2, receipts[-1].seq) == 2
    for each in (log, await opened(memory=memory, hashing=crowded)):
        again = await each.append([perception(n, key=f"a{n}") for n in (2, 3)])
        assert [(r.id, r.new) for r in again] == [(r.id, False) for r in receipts[2:]]
    (back,) = await log.append([perception(5, key="a0")])
    assert back.new
    assert (await log.append([perception(6, key="a0")]))[0] == replace(back, new=False)
    fresh = await opened(memory=memory, hashing=crowded)
    assert (await fresh.append([perception(6, key="a0")]))[0] == replace(back, new=False)
    assert await log.rows() == 3


async def test_forgetting_leaves_no_places_behind(opened):
    log = await opened(memory=1)
    receipts = await log.append([perception(n, key=f"k{n}") for n in range(3000)])
    for n in range(20):
        await log.append([perception(n, key=f"l{n}", received=NOON + 1e6)])
    assert len(await filed(log)) > 3000
    while await log.forget(NOON + 1e5, receipts[-1].seq, limit=500):
        pass
    left = await log.read(0, 5000)
    assert [p.key for p in left] == [f"l{n}" for n in range(20)]
    assert set((await filed(log)).values()) <= {(1 << 48) | p.seq for p in left}
