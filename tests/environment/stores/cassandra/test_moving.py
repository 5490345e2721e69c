"""A mind moves onto a real Cassandra, back from it, and from one keyspace's mind to another's."""

import random
import secrets
from dataclasses import replace
from pathlib import Path

import pytest

from environment.ports import WriteConnections
from environment.stores.cassandra import partitions
from environment.stores.copying import KINDS, Copy, differences, tally
from environment.stores.opening import open_stores
from tests.environment.stores.furnished import furnish
from tests.environment.stores.making import NOON, change, live_ids, perception


@pytest.fixture
async def open_for(shared_keyspace, tmp_path):
    """Opens a mind ``sqlite`` or ``cassandra``, in a place of its own for each name."""
    found, own = [], secrets.token_hex(6)

    async def build(backend, name="alpha"):
        if backend == "sqlite":
            stores = await open_stores(Path(tmp_path / name), "alpha")
        else:
            stores = await open_stores(f"{shared_keyspace}?dc={shared_keyspace.dc}", f"{own}-{name}")
        found.append(stores)
        return stores

    yield build
    for stores in found:
        await stores.close()


PAIRS = [("sqlite", "cassandra"), ("cassandra", "sqlite"), ("cassandra", "cassandra")]


@pytest.mark.parametrize(("here", "there"), PAIRS)
async def test_everything_arrives_as_it_was(open_for, here, there):
    old, new = await open_for(here, "old"), await open_for(there, "new")
    names = await furnish_anywhere(old)
    await Copy(old.moving, new, "old").run()
    before, after = await tally(old.moving), await tally(new.moving)
    assert differences(before, after) == []
    assert {kind: after[kind].count > 0 for kind in KINDS} == dict.fromkeys(KINDS, True)
    assert await new.perceptions.read(0, 100) == await old.perceptions.read(0, 100)
    assert await new.perceptions.head() == await old.perceptions.head()
    assert await live_ids(new) == await live_ids(old)
    for name in names:
        assert await new.traces.revisions(name) == await old.traces.revisions(name)
    assert await new.stream.read(1, 100) == await old.stream.read(1, 100)
    assert await new.registry.history() == await old.registry.history()


async def test_a_long_gap_costs_little_and_is_forgotten(open_for):
    old, new = await open_for("sqlite", "old"), await open_for("cassandra", "new")
    await old.moving.skip(1_000_000)
    await old.perceptions.append([perception(n, key=f"k-{n}") for n in range(3000)])
    await old.moving.skip(1_010_000)
    await old.perceptions.append([perception(n) for n in range(10)])
    await Copy(old.moving, new, "old").run()
    assert differences(await tally(old.moving), await tally(new.moving)) == []
    assert await new.perceptions.read(0, 5) == await old.perceptions.read(0, 5)
    assert await new.perceptions.read(1_002_999, 5) == await old.perceptions.read(1_002_999, 5)
    (known,) = await new.perceptions.append([perception(1, key="k-17")])
    assert (known.seq, known.new) == (1_000_018, False)
    again = await open_for("cassandra", "new")
    (known,) = await again.perceptions.append([perception(1, key="k-18")])
    assert (known.seq, known.new) == (1_000_019, False)
    assert await again.perceptions.get([f"p-{n:020x}" for n in (5, 999_999, 1_000_000, 1_005_000)]) == {}
    await again.moving.skip(1_020_000)
    (last,) = await again.perceptions.append([perception(1)])
    assert last.seq == 1_020_001


async def test_changes_of_connections_leave_in_the_order_of_each_history_without_being_held(open_for, monkeypatch):
    """Mind times are in another order than writes, over many hours and owners, and several stand in one commit."""
    monkeypatch.setattr(partitions, "PART", 16)
    stores = await open_for("cassandra")
    rng, made = random.Random(5), []
    for n in range(40):
        owner = f"owner {rng.randrange(5)}"
        together = [
            replace(change(3 * n + place, owner), at=NOON + 3600.0 * rng.randrange(-9, 9))
            for place in range(rng.randrange(1, 4))
        ]
        await stores.commit([WriteConnections(owner, (), (), tuple(together))])
        made += together
    pages = [page async for page in stores.moving.pages("changes")]
    assert max(len(page) for _, page in pages) <= partitions.PART
    found = [each for _, page in pages for each in page]
    assert sorted(found, key=made.index) == made
    assert found == sorted(made, key=lambda each: (each.owner, each.at))
    elsewhere = await open_for("cassandra")  # another process goes on
    assert [page async for page in elsewhere.moving.pages("changes", pages[2][0])] == pages[3:]


async def furnish_anywhere(stores):
    """``furnish``, for a log that forgets only from its beginning."""
    return await furnish(stores, middle=False)
