"""A mind is cloned while it thinks: it goes on as if nobody had looked, and the clone goes its own way."""

import asyncio
import secrets
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from environment.ancestry import read_ancestors
from environment.lineage import Standing, explain
from environment.messages import NewPerception
from environment.stores.backup.restored import Cloned
from environment.stores.copying import Copy, differences, tally
from environment.stores.opening import open_stores as open_stores_at
from environment.stores.sqlite import open_stores
from environment.stores.sqlite.snapshot import open_snapshot
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay
from orchestration.simulation.replay import replay as simulate
from tests.environment.stores.backup.taken import take
from tests.environment.stores.furnished import furnish
from tests.environment.stores.making import perception
from tests.orchestration.cli.conftest import submind
from tests.orchestration.living import LivingMind
from tests.orchestration.test_backup import PATIENT, goes_on, numbers, telling
from tests.orchestration.test_cluster import speaking_run, store

__all__ = ["store"]

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = Settings.model_validate({"attention": {"per_hour": 12}})


def history():
    lines = [msgspec.json.decode(line) for line in (ROOT / "examples" / "day.jsonl").read_bytes().splitlines()]
    told = [(datetime.fromisoformat(each["time"]).timestamp(), each) for each in lines if each.get("text")]
    return [NewPerception(each["source"], at, at, each["text"], key=each["key"]) for at, each in told]


async def test_a_clone_taken_while_it_is_fed_leaves_what_its_parent_says_as_it_is(tmp_path):
    lines = history()[:240]
    undisturbed = [entry async for entry in simulate(SETTINGS, lines, seed=3)]
    parent = await open_stores(tmp_path / "parent", "mind", inline=True, synchronous="OFF")
    told, snapshot = [], None
    feeding = Replay(SETTINGS, parent, seed=3)
    async for entry in feeding.run(lines):
        told.append(entry)
        if snapshot is None and len(told) == len(undisturbed) // 3:
            seen = await open_snapshot(tmp_path / "parent", "mind")
            snapshot = asyncio.create_task(take(seen, tmp_path / "taken.submind"))
        await asyncio.sleep(0.001)
    opened = await snapshot
    await seen.close()
    assert 0 < opened.manifest.entries < len(told)
    opened.close()
    assert told == undisturbed

    twin = await open_stores(tmp_path / "twin", "twin", inline=True, synchronous="OFF")
    source = Cloned(tmp_path / "taken.submind")
    await Copy(source, twin, source.label).run()
    assert differences(await tally(source), await tally(twin.moving)) == []
    (ancestor,) = await read_ancestors(twin.collections)
    shared, before = ancestor.entries, await tally(parent.moving)
    other = history()[240:400]
    went = [entry async for entry in Replay(SETTINGS, twin, seed=4).run(other)]
    assert went[:shared] == undisturbed[:shared]
    assert len(went) > shared
    assert [entry.seq for entry in went] == list(range(1, len(went) + 1))
    assert went[shared:] != undisturbed[shared:]
    own = {f"{one.source} {one.text}" for one in other}
    heard = {one.id for one in await twin.perceptions.read(ancestor.perceptions, 1000)}
    assert len(heard) == len(own)
    assert any(ref.id in heard for entry in went[shared:] for ref in entry.perceptions)
    for entry in went[shared:]:
        assert all(child.standing is not Standing.FORGOTTEN for child in (await explain(twin, entry.id)).children)
    assert differences(before, await tally(parent.moving)) == []
    assert await parent.perceptions.head() == len(lines)
    await parent.close()
    await twin.close()
    source.close()


async def test_one_on_a_cluster_is_cloned_into_its_keyspace_while_it_perceives(store, tmp_path):
    name, twin = (f"{which}-{secrets.token_hex(4)}" for which in ("m", "t"))
    parent = await open_stores_at(store, name)
    await furnish(parent, 60, middle=False)
    stop, number = asyncio.Event(), 0

    async def go_on():
        nonlocal number
        while not stop.is_set():
            number += 1
            await parent.perceptions.append([perception(5000 + number, key=f"later-{number}")])

    going = asyncio.create_task(go_on())
    try:
        done = await submind(
            "clone", twin, "--store", store, "--name", name, "--data-dir", tmp_path, "--rate", "0", env=PATIENT
        )
        assert done.code == 0, done.err
    finally:
        stop.set()
        await going
    cloned = await open_stores_at(store, twin)
    (ancestor,) = await read_ancestors(cloned.collections)
    assert (ancestor.mind, ancestor.entries) == (name, 7)
    assert 51 <= ancestor.perceptions <= await parent.perceptions.head()
    shared = [one for one in await parent.perceptions.read(0, 100_000) if one.seq <= ancestor.perceptions]
    assert await cloned.perceptions.read(0, 100_000) == shared
    assert await cloned.stream.read(1, 100) == await parent.stream.read(1, 100)
    before = await parent.perceptions.head()
    (receipt,) = await cloned.perceptions.append([perception(9000)])
    assert receipt.seq == ancestor.perceptions + 1
    assert await parent.perceptions.head() == before
    assert await read_ancestors(parent.collections) == []
    assert not list(await asyncio.to_thread(lambda: list(tmp_path.iterdir())))
    for stores in (parent, cloned):
        await stores.close()


@pytest.mark.timeout(600)
async def test_a_running_mind_is_cloned_and_both_live_on_apart(tmp_path):
    """The parent takes perceptions in all the time; the clone is started beside it and both think on."""
    here = LivingMind(tmp_path / "here", speaking_run)
    there = LivingMind(tmp_path / "there", speaking_run, {"SUBMIND__MIND__NAME": "twin"})
    try:
        await asyncio.to_thread(here.start)
        source = telling(here)
        await source.until(300)
        before = numbers(source)
        done = await submind("clone", "twin", "--data-dir", here.data_dir, "--to", there.data_dir, "--rate", "0")
        assert done.code == 0, done.err
        await source.until(len(before) + 1)
        await source.end()
        assert not (there.data_dir / "audit.log").exists()
        await asyncio.to_thread(there.start)
        told = (await submind("status", "--json", "--grpc", there.grpc)).objects[0]
        assert [(one["mind"], told["mind"]) for one in told["lineage"]] == [("mind", "twin")]
        shared = int(told["lineage"][0]["perceptions"])
        assert shared >= max(before.values())
        known = {line: seq for line, seq in numbers(source).items() if seq <= shared}
        assert await goes_on(there, there.data_dir, "twin", known) > 0
        assert (await submind("status", "--json", "--grpc", here.grpc)).objects[0].get("lineage", []) == []
        parent = await open_stores_at(here.data_dir, "mind", writer="tests")
        heard = {one.text for one in await parent.perceptions.read(0, 1_000_000)}
        await parent.close()
        assert heard == set(source.acknowledged)  # nothing of what the clone was told
        assert await goes_on(here, here.data_dir, "mind", numbers(source)) > 0
    finally:
        await asyncio.to_thread(here.end)
        await asyncio.to_thread(there.end)
