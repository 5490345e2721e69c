"""``submind pack``: innate knowledge comes and goes, with all that came of it and nothing that was experienced."""

from pathlib import Path
from typing import Any

from actors.knowledge.fact import ENTITIES, FACTS
from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay
from tests.environment.stores.making import NOON
from tests.orchestration.cli.conftest import submind


async def lived(data: Path, *said: str) -> tuple[set[tuple[str, str]], set[str]]:
    """What a mind holds to be so, and whom and what it knows, after it was told some more."""
    stores = await open_stores(data, "mind", inline=True, synchronous="OFF")
    at = NOON + 60 * await stores.perceptions.head()
    async for _ in Replay(Settings(), stores).run([NewPerception("chat", at, at, one, trust=0.5) for one in said]):
        pass
    facts = (await FACTS.all_of(stores.collections)).values()
    names = {one.name for one in (await ENTITIES.all_of(stores.collections)).values()}
    await stores.close()
    return {(fact.subject, fact.value) for fact in facts if fact.open}, names


async def test_a_pack_comes_in_versions_and_goes_with_all_that_came_of_it(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "assets.csv"

    async def pack(*args: object) -> Any:
        return await submind("pack", *args, "--data-dir", data)

    file.write_text("name,location,supplier\npress 3,hall 1,Verzolu\nvan 7,yard,Quillon\n")
    done = await pack("add", file)
    assert (done.code, "2 sections came, 0 went" in done.out) == (0, True), done.err
    facts, names = await lived(data, "Bo: the kettle is in bay 3")
    assert {("press 3", "hall 1"), ("van 7", "Quillon"), ("kettle", "bay 3")} <= facts
    first = (await pack("list", "--json")).objects
    assert [(one["pack"], one["sections"], one["facts"], one["added"]) for one in first] == [("assets.csv", 2, 4, True)]
    file.write_text("name,location,supplier\npress 3,hall 1,Verzolu\nvan 7,yard,Wenstoll\n")
    assert "1 sections came, 1 went" in (await pack("add", file)).out
    again = (await pack("list", "--json")).objects
    assert again[0]["version"] != first[0]["version"]
    facts, names = await lived(data, "Bo: van 7 was moved to dock 2")
    assert {("van 7", "Wenstoll"), ("van 7", "dock 2")} <= facts
    gone = await pack("remove", "assets.csv")
    assert (gone.code, "2 sections went" in gone.out) == (0, True)
    facts, names = await lived(data, "Bo: good night")
    assert facts == {("kettle", "bay 3"), ("van 7", "dock 2")}
    assert not {"Verzolu", "Quillon", "Wenstoll", "press 3"} & names
    assert (await pack("list")).err == "there are no packs\n"


async def test_what_cannot_be_done_is_told_in_a_sentence(tmp_path: Path) -> None:
    file, mind = tmp_path / "a.csv", tmp_path / "mind.yaml"
    file.write_text("name,place\nvan,yard\n")
    mind.write_text(f"knowledge:\n  packs: [{file}]\n")
    for given, code, told in (
        (("remove", "b.csv"), 1, "no pack 'b.csv' was added"),
        (("add", file, "--mind", mind), 2, "a.csv is a pack of knowledge.packs"),
        (("remove", "a.csv", "--mind", mind), 2, "take it out there"),
        (("add", mind), 2, "a pack is Markdown"),
    ):
        done = await submind("pack", *given, "--data-dir", tmp_path / "data")
        assert (done.code, told in done.err) == (code, True), done.err
