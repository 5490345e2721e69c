"""Packs follow their files while a mind runs, and one that cannot be read changes nothing."""

import os

import pytest

from actors.knowledge.settings import KnowledgeSettings
from environment.errors import BadPack
from environment.messages import NewPerception
from environment.packs import PACKS, PackSection, keep_packs
from environment.stores.sqlite import open_stores
from orchestration.cli.failure import MISUSED, told
from orchestration.runtime.hosting.pack_files import PackFiles
from orchestration.settings import Settings
from orchestration.simulation.replay import replay

NOON = 1_772_539_200.0


async def test_what_changes_in_a_file_is_taken_over_and_told_and_nothing_else(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("name,place\nvan,yard\nkey,desk\n")
    stores = await open_stores(tmp_path / "kept", "mind")
    packs = PackFiles(KnowledgeSettings(packs=[file]), stores, await stores.lead(1))
    await packs.look()
    assert {one.section for one in packs.taught.came} == {"van", "key"}
    told_once = packs.taught
    file.write_text("name,place\nvan,hall\nkey,desk\n")
    os.utime(file, ns=(1, 1))
    await packs.look()
    assert [one.text for one in packs.taught.came] == ["van, place hall."]
    assert packs.taught.gone == tuple(one.id for one in told_once.came if one.section == "van")
    file.write_text("name,place\nvan\n")
    before = packs.taught
    await packs.look()
    assert packs.taught is before
    assert len(await PACKS.all_of(stores.collections)) == 2
    again = PackFiles(KnowledgeSettings(), stores, await stores.lead(2))
    await again.look()
    assert await PACKS.all_of(stores.collections) == {}
    assert len(again.taught.gone) == 2
    added = PackSection("b.csv", "mug", "mug, place shelf.", 0.9, (("mug", "place", "shelf"),), added=True)
    await keep_packs(stores, [added], added="b.csv")
    await again.look()
    assert (again.taught.came, again.taught.gone) == ((added,), ())
    await keep_packs(stores, [], added="b.csv")
    await again.look()
    assert (again.taught.came, again.taught.gone) == ((), (added.id,))
    await stores.close()


async def test_a_replay_is_born_with_them_and_they_are_no_news(tmp_path):
    file = tmp_path / "gates.md"
    file.write_text("# Gates\nA gate that sticks wants graphite, not oil.\n")
    lines = [NewPerception("desk", NOON + 60.0 * n, NOON, f"gate {n} opened at the yard") for n in range(20)]
    question = NewPerception("operator", NOON + 2000.0, NOON, "what does a gate that sticks want?", trust=0.9)
    born = Settings().model_copy(update={"knowledge": KnowledgeSettings(packs=[file])})
    bare = [one async for one in replay(Settings(), [*lines, question])]
    said = [one async for one in replay(born, [*lines, question])]
    assert [one.text for one in said if one.kind != "answer"] == [one.text for one in bare if one.kind != "answer"]
    (answer,) = [one for one in said if one.kind == "answer"]
    assert "graphite" in answer.text
    assert "pack gates.md: Gates" in [ref.source for ref in answer.perceptions]
    file.write_text("")
    with pytest.raises(BadPack) as wrong:
        [one async for one in replay(born, lines)]
    failure = told(wrong.value)
    assert failure is not None
    assert (failure.message, failure.code) == (f"{file}: there is nothing in it", MISUSED)
