"""``submind pack``: innate knowledge comes and goes, with all that came of it and nothing that was experienced."""

from pathlib import Path
from typing import Any

from actors.knowledge.fact import ENTITIES, FACTS
from environment.messages import NewPerception
from environment.packs import PackSection, keep_packs
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay
from tests.environment.stores.making import NOON
from tests.orchestration.cli.conftest import submind


async def lived(gateway: Any, *said: str) -> tuple[set[tuple[str, str]], set[str]]:
    """What a mind holds to be so, and whom and what it knows, after it was told some more."""
    stores = gateway.stores
    at = NOON + 60 * await stores.perceptions.head()
    async for _ in Replay(Settings(), stores).run([NewPerception("chat", at, at, one, trust=0.5) for one in said]):
        pass
    facts = (await FACTS.all_of(stores.collections)).values()
    names = {one.name for one in (await ENTITIES.all_of(stores.collections)).values()}
    return {(fact.subject, fact.value) for fact in facts if fact.open}, names


async def test_a_pack_comes_in_versions_and_goes_with_all_that_came_of_it(
    gateway: Any, at: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "assets.csv"

    async def pack(*args: object) -> Any:
        done = await submind("pack", *args, *at)
        assert done.code == 0, done.err
        return done

    file.write_text("name,location,supplier\npress 3,hall 1,Verzolu\nvan 7,yard,Quillon\n")
    assert "2 sections came, 0 went" in (await pack("add", file)).out
    facts, names = await lived(gateway, "Bo: the kettle is in bay 3")
    assert {("press 3", "hall 1"), ("van 7", "Quillon"), ("kettle", "bay 3")} <= facts
    first = (await pack("list", "--json")).objects
    assert [(one["name"], one["sections"], one["facts"], one["added"]) for one in first] == [("assets.csv", 2, 4, True)]
    file.write_text("name,location,supplier\npress 3,hall 1,Verzolu\nvan 7,yard,Wenstoll\n")
    assert "1 sections came, 1 went" in (await pack("add", file)).out
    assert (await pack("list", "--json")).objects[0]["version"] != first[0]["version"]
    facts, names = await lived(gateway, "Bo: van 7 was moved to dock 2")
    assert {("van 7", "Wenstoll"), ("van 7", "dock 2")} <= facts
    assert "2 sections went" in (await pack("remove", "assets.csv")).out
    facts, names = await lived(gateway, "Bo: good night")
    assert facts == {("kettle", "bay 3"), ("van 7", "dock 2")}
    assert not {"Verzolu", "Quillon", "Wenstoll", "press 3"} & names
    assert (await pack("list")).err == "there are no packs\n"


async def test_what_cannot_be_done_is_told_in_a_sentence(gateway: Any, at: list[str], tmp_path: Path) -> None:
    bad, own, none = (tmp_path / name for name in ("a.csv", "own.csv", "none.md"))
    bad.write_text("name,place\nvan\n")
    own.write_text("name,place\nvan,yard\n")
    await keep_packs(gateway.stores, [PackSection("own.csv", "van", "van, place yard.", 0.9)])
    for given, code, told in (
        (("remove", "b.csv"), 1, "no pack 'b.csv' is known"),
        (("add", own), 1, "own.csv is a pack of knowledge.packs"),
        (("remove", "own.csv"), 1, "take it out there"),
        (("add", bad), 1, "a.csv, line 2: 1 values for 2 columns"),
        (("add", __file__), 1, "a pack is Markdown"),
        (("add", none), 2, "it cannot be read"),
    ):
        done = await submind("pack", *given, *at)
        assert (done.code, told in done.err) == (code, True), done.err
