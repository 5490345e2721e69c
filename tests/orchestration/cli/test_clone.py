"""``submind snapshot`` and ``submind clone`` as people run them, and as they are killed."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from environment.ancestry import Ancestor, ancestor_document, read_ancestors
from environment.collections import WriteDocument
from environment.stores.copying import KINDS, mark_of
from environment.stores.opening import open_stores
from orchestration.loading import load_settings
from tests.environment.stores.furnished import furnish
from tests.environment.stores.making import perception
from tests.orchestration.cli.conftest import at, gateway, start, submind

__all__ = ["at", "gateway"]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def content(place: Path, name: str) -> dict[str, list[object]]:
    """All of a mind that is copied, by kind."""
    stores = await open_stores(place, name)
    try:
        pages = {}
        for kind in KINDS:
            pages[kind] = [one for _, page in [p async for p in stores.moving.pages(kind)] for one in page]
        return {**pages, "ancestors": await read_ancestors(stores.collections)}
    finally:
        await stores.close()


async def test_a_clone_is_all_that_its_parent_was_and_knows_whom_it_comes_from(living: Path, tmp_path: Path) -> None:
    before = await content(living, "mind")
    done = await submind("clone", "twin", "--data-dir", living, "--rate", "0")
    assert done.code == 0, done.err
    assert all(line.startswith("✓") for line in done.out.splitlines())
    twin = await content(tmp_path / "twin", "twin")
    (ancestor,) = twin.pop("ancestors")
    assert (ancestor.mind, ancestor.perceptions, ancestor.entries) == ("mind", 51, 7)
    assert await content(living, "mind") == before
    assert before.pop("ancestors") == []
    documents = [each for each in twin["documents"] if each.collection != "mind.ancestors"]
    assert {**twin, "documents": documents} == before
    settings = load_settings(tmp_path / "twin" / "mind.yaml", environ={})
    assert (settings.mind.name, settings.attention.per_hour) == ("twin", 3)
    assert names_in(tmp_path) == ["living", "twin"]  # no file is left behind


async def test_the_clone_of_a_clone_names_both_and_so_does_its_file(living: Path, tmp_path: Path) -> None:
    for told in (("twin", "--data-dir", living), ("third", "--data-dir", tmp_path / "twin", "--name", "twin")):
        assert (await submind("clone", *told, "--rate", "0")).code == 0
        stores = await open_stores(tmp_path / told[0], told[0])
        await stores.perceptions.append([perception(900)])
        await stores.close()
    third = (await content(tmp_path / "third", "third"))["ancestors"]
    assert [(each.mind, each.perceptions) for each in third] == [("twin", 52), ("mind", 51)]
    file = tmp_path / "third.submind"
    assert (await submind("snapshot", "--to", file, "--data-dir", tmp_path / "third", "--name", "third")).code == 0
    checked = await submind("restore", file, "--check")
    assert [line.split(" as of")[0].strip() for line in checked.err.splitlines()[1:3]] == [
        "a clone of twin",
        "a clone of mind",
    ]
    told_json = await submind("restore", file, "--check", "--json")
    assert [each["ancestor"]["mind"] for each in told_json.objects if "ancestor" in each] == ["twin", "mind"]


async def test_a_clone_begins_with_a_snapshot_of_before(living: Path, tmp_path: Path) -> None:
    file = tmp_path / "before.submind"
    assert (await submind("snapshot", "--to", file, "--data-dir", living)).code == 0
    before = await content(living, "mind")
    stores = await open_stores(living, "mind")
    await stores.perceptions.append([perception(1)])
    await stores.close()
    assert (await submind("clone", "twin", file, "--to", tmp_path / "else")).code == 0
    assert (await content(tmp_path / "else", "twin"))["perceptions"] == before["perceptions"]
    assert file.exists()


async def test_a_store_on_disk_holds_both_where_no_mind_runs_in_it(living: Path) -> None:
    assert (await submind("clone", "twin", "--data-dir", living, "--to", living, "--rate", "0")).code == 0
    both = [await content(living, name) for name in ("mind", "twin")]
    assert both[0]["perceptions"] == both[1]["perceptions"]
    stores = await open_stores(living, "twin")
    epoch = await stores.moving.epoch()
    await stores.lead()
    await stores.close()
    parent = await open_stores(living, "mind")
    assert await parent.moving.epoch() < epoch  # each has terms of its own
    await parent.close()


async def test_what_is_asked_wrongly_is_told_in_a_sentence(living: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.submind"
    assert (await submind("snapshot", "--to", file, "--data-dir", living)).code == 0
    assert (await submind("clone", "twin", "--data-dir", living)).code == 0
    for given, code, told in (
        (("clone", "mind", "--data-dir", living), 2, "a name of its own"),
        (("clone", "mind", file, "--to", tmp_path / "new"), 2, "a name of its own"),
        (("clone", "No Name", "--data-dir", living), 2, "NAME"),
        (("clone", "other", "--data-dir", tmp_path / "nowhere"), 1, "there is no mind in"),
        (("clone", "twin", file, "--to", living), 0, ""),
        (("clone", "twin", "--data-dir", living), 1, "came here from clone"),
    ):
        done = await submind(*given)
        assert (done.code, told in done.err) == (code, True), (given, done.err)
    assert not (tmp_path / "new").exists()
    assert not [name for name in names_in(tmp_path) if name.startswith(".")]


@pytest.mark.timeout(240)
async def test_killed_again_and_again_it_is_half_nowhere_and_arrives_once(tmp_path: Path) -> None:
    stores = await open_stores(tmp_path / "living", "mind")
    await furnish(stores, 1500)
    await stores.close()
    command = ("clone", "twin", "--data-dir", tmp_path / "living", "--rate", "0")
    before = await content(tmp_path / "living", "mind")
    part, arrived = tmp_path / "..twin.clone.submind.part", tmp_path / "twin" / "mind.db"
    for stage in ("", "perceptions", "traces", "connections"):
        process = await start(*command)
        async with asyncio.timeout(60):
            while not (arrived if stage else part).exists():  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.002)
            await _reached(tmp_path / "twin", stage)
        process.send_signal(signal.SIGKILL)
        assert await process.wait() == -signal.SIGKILL
    half = await submind("run", "--data-dir", tmp_path / "twin", "--mind", _named(tmp_path, "twin"))
    assert half.code == 1
    assert "still moving" in half.err
    done = await submind(*command)
    assert done.code == 0, done.err
    assert "which an earlier run took" in done.err
    assert await content(tmp_path / "living", "mind") == before
    assert (await content(tmp_path / "twin", "twin"))["traces"] == before["traces"]


def _named(folder: Path, name: str) -> Path:
    path = folder / "named.yaml"
    path.write_text(f"mind: {{name: {name}}}")
    return path


async def _reached(place: Path, stage: str) -> None:
    """Wait until a copy into ``place`` is at a stage, or behind it."""
    if not stage:
        return
    stores = await open_stores(place, "twin")
    while (mark := await mark_of(stores)) is None or KINDS.index(mark.stage) < KINDS.index(stage):  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.001)
    await stores.close()


async def test_status_says_whom_a_mind_comes_from(gateway: Any, at: list[str]) -> None:
    first, then = Ancestor("mind", 1000.0, 51, 7, "a" * 16), Ancestor("twin", 2000.0, 60, 9, "b" * 16)
    documents = [WriteDocument(ancestor_document(each)) for each in (first, then)]
    await gateway.stores.commit(documents)
    told = (await submind("status", "--json", *at)).objects[0]["lineage"]
    assert [(each["mind"], each["perceptions"]) for each in told] == [("twin", 60), ("mind", 51)]
    shown = (await submind("status", *at)).out
    assert "a clone of twin as of 1970-01-01 00:33:20: perceptions to 60, entries to 9" in shown
