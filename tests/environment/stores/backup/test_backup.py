"""A mind in a file: whole, and of one moment."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from environment.errors import FencedOut, StoreBroken, WrongSchema
from environment.identity import perception_seq
from environment.messages import Level
from environment.population import MEMBERS, write_growth, write_member
from environment.ports import WriteEntries, WriteLevel, WriteState, WriteTrace
from environment.stores import paging
from environment.stores.backup import taking
from environment.stores.backup.archive import GONE
from environment.stores.copying import MARGIN, Copy, differences, mark_of, tally
from environment.stores.sqlite.snapshot import open_snapshot, read_answers
from tests.environment.stores.backup.taken import take
from tests.environment.stores.making import NOON, entry, perception, revision, trace


async def test_everything_comes_back_as_it_was(living, snapshot, opened, tmp_path):
    told = []
    backup = await take(snapshot, tmp_path / "a.submind", tell=lambda kind, count: told.append((kind, count)))
    before = await tally(living.moving)
    assert backup.manifest.counts == {**{kind: each.count for kind, each in before.items()}, "beside": 0}
    assert {kind for kind, _ in told} >= {"perceptions", "traces", "entries", "states", "changes"}
    assert differences(before, await tally(backup)) == []
    backup.verify()
    new = await opened("new")
    await Copy(backup, new, "backup 1").run()
    assert differences(before, await tally(new.moving)) == []
    assert await new.perceptions.read(0, 100) == await living.perceptions.read(0, 100)
    assert await new.stream.read(1, 100) == await living.stream.read(1, 100)
    assert await new.registry.history() == await living.registry.history()
    for name in [t.id for t in (await living.traces.changes(0, 100))[1]]:
        assert await new.traces.revisions(name) == await living.traces.revisions(name)
    again, fresh = await new.perceptions.append([perception(1, key="k-3"), perception(2, key="new")])
    assert (again.new, fresh.seq) == (False, await living.perceptions.head() + 1)


async def test_it_shows_the_moment_at_which_it_began(living, snapshot, opened, tmp_path, monkeypatch):
    """The mind goes on between any two pages; what it does is in the next backup."""
    monkeypatch.setattr(paging, "PAGE", 3)
    before = await tally(living.moving)
    steps, some = 0, asyncio.Event()

    async def live_on():
        nonlocal steps
        while True:
            n = 1000 + steps
            await living.perceptions.append([perception(n, key=f"later-{n}")])
            newer = (await living.traces.get([trace(1).id]))[trace(1).id]
            await living.commit(
                [
                    WriteTrace(trace(n)),
                    WriteTrace(revision(newer, "people", f"step {n}")),
                    WriteEntries((entry(8 + steps),)),
                    WriteLevel(trace(3).id, Level(0.5, NOON + n, 60.0), True, 8 + steps),
                    WriteState("causes", b"%d" % n),
                ]
            )
            steps += 1
            if steps == 5:
                some.set()

    going = asyncio.create_task(live_on())
    await some.wait()
    backup = await take(snapshot, tmp_path / "a.submind")
    seen = steps
    going.cancel()
    await asyncio.gather(going, return_exceptions=True)
    assert seen > 5  # it went on meanwhile
    assert differences(before, await tally(backup)) == []
    assert backup.manifest.unsettled == 0
    assert differences(before, await tally(living.moving)) != []


async def test_a_snapshot_of_a_mind_that_goes_on_refers_to_nothing_that_is_missing(living, opened, tmp_path):
    """Whatever moment is caught: every perception that a trace cites is in the later snapshot of the log."""
    stop = asyncio.Event()

    async def live_on():
        n = 5000
        while not stop.is_set():
            n += 1
            (receipt,) = await living.perceptions.append([perception(n)])
            made = trace(n)
            cited = (replace(made.thought.perceptions[0], id=receipt.id),)
            cursor = WriteState("text", b"%d" % receipt.seq)
            await living.commit([WriteTrace(replace(made, thought=replace(made.thought, perceptions=cited))), cursor])

    going = asyncio.create_task(live_on())
    try:
        for number in range(8):
            await asyncio.sleep(0.02)
            stores = await open_snapshot(tmp_path / "living", "alpha")
            backup = await take(stores, tmp_path / f"{number}.submind")
            await stores.close()
            there = {each.seq for each in await all_of(backup, "perceptions")}
            cited = [
                perception_seq(ref.id)
                for moved in await all_of(backup, "traces")
                for ref in moved.standing.thought.perceptions
                if moved.standing.thought.at > NOON + 4000
            ]
            assert set(cited) <= there
            cursors = [int(each.state) for each in backup.all_of("states") if each.name == "text"]
            assert {*cursors} <= there
            backup.close()
        assert len(cited) > 5
    finally:
        stop.set()
        await going


async def test_whoever_wrote_before_cannot_write_where_it_was_restored(living, snapshot, opened, tmp_path):
    for _ in range(7):
        epoch = await living.lead()
    await living.perceptions.lead(epoch + 30)
    await snapshot.close()
    now = await open_snapshot(tmp_path / "living", "alpha")
    backup = await take(now, tmp_path / "a.submind")
    await now.close()
    assert backup.manifest.epoch == epoch + 30
    new = await opened("new")
    await Copy(backup, new, "backup 1").run()
    for late in (epoch, epoch + 30, epoch + MARGIN):
        with pytest.raises(FencedOut):
            await new.commit([WriteState("causes", b"late")], late)
        with pytest.raises(FencedOut):
            await new.perceptions.lead(late)
    assert await new.lead() > epoch + MARGIN


async def test_a_snapshot_makes_and_changes_nothing(living, snapshot, tmp_path):
    with pytest.raises(StoreBroken, match="no such file"):
        await open_snapshot(tmp_path / "nowhere", "alpha")
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(TypeError):
        await snapshot.commit([WriteState("causes", b"")])
    await living.perceptions._executor.write(lambda connection: connection.execute("PRAGMA user_version = 0"))
    with pytest.raises(WrongSchema, match="start it once with this version"):
        await open_snapshot(tmp_path / "living", "alpha")
    await living.perceptions._executor.write(lambda connection: connection.execute("PRAGMA user_version = 99"))
    with pytest.raises(WrongSchema, match="with the version that runs it"):
        await open_snapshot(tmp_path / "living", "alpha")


async def test_what_stands_beside_the_stores_goes_along(snapshot, tmp_path):
    from environment.stores.sqlite.answer_cache import open_answers

    answers = await open_answers(tmp_path / "living", "alpha")
    await answers.put({f"q-{n}": b"a" * n for n in range(5)})

    async def beside(of):
        await read_answers(tmp_path / "living", "alpha", of)
        await read_answers(tmp_path / "nowhere", "alpha", of)

    backup = await take(snapshot, tmp_path / "a.submind", beside=beside)
    await answers.close()
    assert [(each.place, each.name, each.value) for each in backup.beside()] == [
        ("answers", f"q-{n}", b"a" * n) for n in range(5)
    ]


async def test_traces_that_change_while_a_cluster_is_read_are_told_as_of_one_change(living, tmp_path, monkeypatch):
    """Read without a snapshot, as a cluster is: the mind goes on between the readings."""
    monkeypatch.setattr(paging, "PAGE", 4)
    moving, moves, levels = living.moving, 0, {}
    read, named = moving.traces, moving.named

    async def traces(after):
        nonlocal moves
        async for page in read(after):
            moves += 1
            older = (await living.traces.get([trace(0).id]))[trace(0).id]
            again, level = revision(older, "people", f"once more {moves}"), Level(0.4, NOON + moves, 60.0)
            moved = WriteLevel(trace(4).id, level, True, None)
            await living.commit([WriteTrace(again), WriteTrace(trace(100 + moves)), moved])
            yield page

    async def caught(ids):
        nonlocal moves
        if moves < 12:  # again while it is read again
            moves += 1
            await living.commit([WriteEntries((entry(7 + moves - 6),))] if moves > 6 else [])
            level = Level(0.5, NOON + moves, 60.0)
            await living.commit([WriteLevel(trace(4).id, level, True, 7 + moves - 6)])
            levels[await living.traces.head()] = level
        return await named(ids)

    monkeypatch.setattr(moving, "traces", traces)
    monkeypatch.setattr(moving, "named", caught)
    backup = await take(living, tmp_path / "a.submind")
    assert 7 < moves <= 12
    found = await traces_of(backup)
    assert len(found) == backup.manifest.counts["traces"] == (await living.statistics())["traces_rows"]
    assert backup.manifest.unsettled == 0
    newest = (await living.traces.get([trace(0).id]))[trace(0).id]
    assert found[newest.id].standing == newest
    assert len(found[newest.id].revisions) == newest.version
    assert found[trace(4).id].standing.level == levels[max(at for at in levels if at <= backup.manifest.change)]
    assert backup.manifest.entries == 7
    assert await living.stream.head() == moves + 1
    assert found[trace(4).id].standing.conscious is None  # what says so is behind the cut
    assert GONE not in backup.manifest.replaced.values()


async def all_of(backup, kind):
    return [each async for _, page in backup.pages(kind) for each in page]


async def traces_of(backup):
    """The traces that a backup holds, by id: each once."""
    everything = await all_of(backup, "traces")
    found = {moved.standing.id: moved for moved in everything}
    assert len(found) == len(everything)
    return found


async def test_a_mind_that_changes_faster_than_it_is_read_is_taken_all_the_same(living, tmp_path, monkeypatch):
    """Whatever is read has changed before it came, and cites what was thought just then."""
    monkeypatch.setattr(paging, "PAGE", 4)
    monkeypatch.setattr(taking, "_AGAIN", 8)
    moving, reads = living.moving, 0
    named, newborn = moving.named, []

    async def outrun(ids):
        nonlocal reads
        reads += 1
        known = await living.traces.get(ids)
        if not set(ids) <= set(newborn):
            new = trace(200 + reads)
            newborn.append(new.id)
            citing = [
                replace(again, thought=replace(again.thought, parents=(new.id,)))
                for again in [revision(known[name], "people", f"read {reads} times") for name in sorted(known)]
            ]
            await living.commit([WriteTrace(new), *map(WriteTrace, citing)])
        return await named(ids)

    await living.commit([WriteTrace(trace(n)) for n in range(100, 110)])
    monkeypatch.setattr(moving, "named", outrun)
    monkeypatch.setattr(moving, "changed", partial(changed_since, moving.changed, living))
    backup = await asyncio.wait_for(take(living, tmp_path / "a.submind"), 60)
    assert reads < 40
    found = await traces_of(backup)
    assert len(found) == backup.manifest.counts["traces"]
    assert backup.manifest.unsettled > 0
    cited = {name for moved in found.values() for each in moved.revisions for name in each.thought.parents}
    assert {name for name in cited if name in newborn} <= set(found)


async def changed_since(changed, living, after):
    """Something changes before each look at what changed."""
    first = (await living.traces.get([trace(1).id]))[trace(1).id]
    await living.commit([WriteTrace(revision(first, "people", "again"))])
    return await changed(after)


async def test_a_mind_that_grows_while_it_is_read_is_read_again(living, tmp_path, monkeypatch):
    from tests.environment.stores.making import grown, member

    read, times = living.registry.connections, 0

    async def connections():
        nonlocal times
        times += 1
        answer = await read()
        if times < 4:
            await living.commit(
                [write_growth(grown(4 + times)), write_member(member(4 + times)), WriteState(f"c{times}", b"x")]
            )
        return answer

    monkeypatch.setattr(living.registry, "connections", connections)
    backup = await take(living, tmp_path / "a.submind")
    assert times == 4
    monkeypatch.undo()
    assert differences(await tally(living.moving), await tally(backup)) == []
    assert len([each for each in backup.all_of("documents") if each.collection == MEMBERS.name]) == 6


async def test_a_house_is_taken_before_anything_moves_in(snapshot, opened, tmp_path):
    backup = await take(snapshot, tmp_path / "a.submind")
    new = await opened("new")
    mark = await Copy(backup, new, "backup 1").begin()
    assert (mark.stage, (await mark_of(new)).stage) == ("perceptions", "perceptions")
    assert await new.perceptions.head() == 0
    await Copy(backup, new, "backup 1").run()
    epoch = await new.moving.epoch()
    assert (await Copy(backup, new, "backup 1").begin()).stage == ""
    assert await new.moving.epoch() == epoch  # whoever lives there now is not disturbed
