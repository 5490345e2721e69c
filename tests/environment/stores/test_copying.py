"""A mind moves from one store to another, whole, however often the move is interrupted."""

import itertools

import pytest

from environment.configuration import read_configurations
from environment.errors import FencedOut, MoveRefused, StoreUnavailable
from environment.messages import NewPerception
from environment.ports import LAST_EPOCH, WriteLevel, WriteState, WriteTrace
from environment.stores import copying, paging
from environment.stores.copying import MARGIN, Copy, differences, margin, tally
from tests.environment.stores.furnished import GivingOut, furnish, opening
from tests.environment.stores.making import NOON, document, live_ids, perception, revision, trace, vector


@pytest.fixture
async def opened(tmp_path):
    """Opens stores by name: inline, so that many moves take little time."""
    async with opening(tmp_path, inline=True) as open_at:
        yield open_at


@pytest.fixture
async def old(opened):
    stores = await opened("old")
    await furnish(stores)
    return stores


async def test_everything_arrives_as_it_was(old, opened):
    new, told = await opened("new"), []
    await Copy(old.moving, new, "old", lambda kind, count: told.append((kind, count))).run()
    before, after = await tally(old.moving), await tally(new.moving)
    assert differences(before, after) == []
    assert {kind: each.count for kind, each in after.items()} == {
        "perceptions": 43,
        "traces": 20,
        "entries": 7,
        "connections": 6,
        "changes": 12,
        "states": 2,
        "reports": 2,
        "documents": 15,
    }
    assert [kind for kind, _ in itertools.groupby(kind for kind, _ in told)] == list(copying.KINDS)
    # What a tally could have overlooked, by the ports themselves.
    read = await new.perceptions.read(0, 100)
    assert read == await old.perceptions.read(0, 100)
    assert read[0].seq == 6
    assert await new.perceptions.head() == await old.perceptions.head()
    assert await live_ids(new) == await live_ids(old)
    for name in [t.id for t in (await old.traces.changes(0, 100))[1]]:
        assert await new.traces.revisions(name) == await old.traces.revisions(name)
    assert await new.stream.read(1, 100) == await old.stream.read(1, 100)
    assert await new.registry.history() == await old.registry.history()
    assert await new.registry.history("people") == await old.registry.history("people")
    assert await new.registry.connections() == await old.registry.connections()
    assert await read_configurations(new.collections, 10) == await read_configurations(old.collections, 10)
    (moved,) = (await new.collections.get("notes", ["1"])).values()
    assert (moved, moved.version) == (document(1, vector=vector(1)), 3)
    assert await new.collections.get("notes", ["4"]) == {}
    assert await new.collections.names() == [".moving", *(await old.collections.names())[1:]]


async def test_the_mind_lives_on_in_its_new_house(old, opened):
    new = await opened("new")
    await Copy(old.moving, new, "old").run()
    again, fresh = await new.perceptions.append([perception(1, key="k-3"), perception(2, key="new")])
    assert not again.new
    assert (await new.perceptions.get([again.id]))[again.id].text == "line 103"
    assert fresh.seq == await old.perceptions.head() + 1
    (forgotten,) = await new.perceptions.append([perception(3, key="old-1")])
    assert forgotten.new  # its perception was forgotten, and so was the key
    standing = (await new.traces.get([trace(2).id]))[trace(2).id]
    await new.commit([WriteTrace(revision(standing, "control", "in the new store"))])
    assert [r.version for r in await new.traces.revisions(standing.id)] == [1, 2]


async def test_a_version_keeps_the_level_it_was_written_with(old, opened):
    new = await opened("new")
    await Copy(old.moving, new, "old").run()
    of = trace(2).id  # made conscious after it was written, at another level
    for stores in (old, new):
        standing = (await stores.traces.get([of]))[of]
        await stores.commit([WriteTrace(revision(standing, "control", "later"))])
    assert await new.traces.revisions(of) == await old.traces.revisions(of)
    assert (await new.traces.revisions(of))[0].level == trace(2).level


@pytest.mark.parametrize("after", [False, True], ids=["before it was written", "after it was written"])
async def test_it_is_resumed_wherever_it_was_interrupted(old, opened, after, monkeypatch):
    monkeypatch.setattr(paging, "PAGE", 9)
    monkeypatch.setattr(copying, "_COMMIT_BYTES", 6000)
    wanted = await tally(old.moving)
    for nth in itertools.count(1):
        new = await opened(f"new-{nth}")
        try:
            await Copy(old.moving, GivingOut(new, nth, after=after), "old").run()
        except StoreUnavailable:
            await Copy(old.moving, new, "old").run()
            assert differences(wanted, await tally(new.moving)) == []
            continue
        break
    assert nth > 20
    assert differences(wanted, await tally(new.moving)) == []


async def test_once_done_it_is_not_done_again(old, opened):
    new = await opened("new")
    await Copy(old.moving, new, "old").run()
    await new.commit([WriteState("causes", b"it lives on")])
    await Copy(old.moving, new, "old").run()
    assert await new.registry.state("causes") == b"it lives on"
    assert differences(await tally(old.moving), await tally(new.moving)) == ["states"]


@pytest.mark.parametrize("there", ["perceptions", "traces", "states"])
async def test_a_house_in_which_somebody_lives_is_refused(old, opened, there):
    new = await opened("new")
    if there == "perceptions":
        await new.perceptions.append([perception(1)])
    elif there == "traces":
        await new.commit([WriteTrace(trace(1))])
    else:
        await new.commit([WriteState("causes", b"")])
    with pytest.raises(MoveRefused, match=there):
        await Copy(old.moving, new, "old").run()
    other = await opened("new", "beta")  # another mind beside it is no obstacle
    assert await other.perceptions.head() == 0


async def test_a_move_that_somebody_else_began_is_refused(old, opened):
    new = await opened("new")
    with pytest.raises(StoreUnavailable):
        await Copy(old.moving, GivingOut(new, 4), "one store").run()
    with pytest.raises(MoveRefused, match="one store"):
        await Copy(old.moving, new, "another store").run()


async def test_a_mind_that_is_started_there_meanwhile_ends_the_move(old, opened, monkeypatch):
    monkeypatch.setattr(paging, "PAGE", 5)
    new = await opened("new")

    entries = old.moving._entries

    async def overtaken(after):
        await (await opened("new")).lead()
        async for page in entries(after):
            yield page

    old.moving._entries = overtaken
    copy = Copy(old.moving, new, "old")
    with pytest.raises(FencedOut):
        await copy.run()


async def test_a_difference_is_found_in_every_kind(old, opened):
    new = await opened("new")
    await Copy(old.moving, new, "old").run()
    before = await tally(old.moving)
    level = (await new.traces.get([trace(0).id]))[trace(0).id].level
    await new.commit([WriteLevel(trace(0).id, level, True, 9)])
    assert differences(before, await tally(new.moving)) == ["traces"]
    await new.perceptions.append([NewPerception("ops", NOON, NOON, text="one too many")])
    assert differences(before, await tally(new.moving)) == ["perceptions", "traces"]


def test_copies_of_copies_never_use_up_the_terms_there_are():
    assert margin(1) == margin(10_000) == MARGIN
    epoch = 1
    for _ in range(10_000):
        epoch += margin(epoch) + 3  # the copy leads, then whoever starts the mind there
    assert epoch < 0.6 * LAST_EPOCH
