"""``submind merge``: chosen memories of a mind, told to another that runs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actors.knowledge.fact import ENTITIES, FACTS, NAMES, FactStanding
from environment.marks import MARKS, FeedbackMark, MarkKind
from environment.messages import NewPerception
from environment.stores.opening import open_stores
from environment.stores.sqlite import open_stores as open_sqlite
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay
from tests.environment.stores.making import NOON
from tests.orchestration.cli.conftest import at, gateway, submind

__all__ = ["at", "gateway"]

LINES = (
    ("chat", "Mags: Van 7 is at dock 4.", 0.3, None),
    ("chat", "Mags: the kettle is blue.", 0.3, "k-1"),
    ("ops", "Olga: The heater is in room 12.", 0.9, None),
    ("ops", "Olga: nothing to add, thanks.", 0.9, None),
    ("chat", "Pim: van 7 needs a new tyre, somebody should look.", 0.3, "k-2"),
)


@pytest.fixture
async def other(tmp_path: Path) -> str:
    """A mind that has heard the lines and learnt from them."""
    stores = await open_sqlite(tmp_path / "other", "other", inline=True, synchronous="OFF")
    told = [
        NewPerception(source, NOON + 60 * n, NOON + 60 * n, text, trust=trust, key=key, labels={"room": "yard"})
        for n, (source, text, trust, key) in enumerate(LINES)
    ]
    async for _ in Replay(Settings(), stores).run(told):
        pass
    await stores.close()
    return f"{tmp_path / 'other'}#other"


async def heard(gateway: Any) -> list[Any]:
    return [each for each in await gateway.stores.perceptions.read(0, 1000) if "origin" in each.labels]


async def test_what_is_said_of_somebody_comes_over_once_with_its_origin(
    gateway: Any, at: list[str], other: str
) -> None:
    done = await submind("merge", other, "--entity", "Van 7", *at)
    assert (done.code, done.err) == (0, "2 new\n")
    first, second = await heard(gateway)
    assert (first.text, second.text) == (LINES[0][1], LINES[4][1])
    assert (first.source, first.time, second.key) == ("chat", NOON, "k-2")
    assert first.labels["room"] == "yard"
    assert first.labels["origin"].startswith("other p-")
    again = await submind("merge", other, "--entity", "van 7", *at, "--json")
    assert again.objects == [{"new": 0, "known": 2, "refused": 0, "wrong": 0, "beyond": 0, "corrected": 0}]
    assert len(await heard(gateway)) == 2


async def test_nothing_gains_trust_by_being_told(gateway: Any, at: list[str], other: str) -> None:
    assert (await submind("merge", other, "--since", "1970-01-01", *at)).code == 0
    told = {each.text: each.trust for each in await heard(gateway)}
    given = gateway.intake.trust_of
    assert told == {text: min(trust, given(source)) for source, text, trust, _ in LINES}
    assert any(given(source) > trust for source, _, trust, _ in LINES)
    assert any(given(source) < trust for source, _, trust, _ in LINES)


async def test_choices_narrow_each_other_and_a_dry_run_tells_nothing(gateway: Any, at: list[str], other: str) -> None:
    dry = await submind("merge", other, "--source", "ops", "--until", "2026-03-03T12:02:30Z", "--dry-run", *at)
    assert dry.code == 0
    none = await submind("merge", other, "--source", "nobody", *at)
    assert (none.code, none.err) == (0, "there is nothing of that\n")
    some = await submind("merge", other, "--source", "chat", "--limit", "2", *at)
    assert some.err == "2 new, 1 beyond\n"
    assert len(await heard(gateway)) == 2


async def test_what_both_have_in_common_is_not_told_again(gateway: Any, at: list[str], tmp_path: Path) -> None:
    """The other is a clone: what it shares has the same id, and need not have a key."""
    lines = [NewPerception("chat", NOON + n, NOON + n, f"line {n}", trust=0.5) for n in range(6)]
    await gateway.stores.perceptions.append(lines[:4])
    twin = await open_stores(tmp_path / "twin", "twin")
    await twin.perceptions.append([*lines[:4], *lines[4:]])
    await twin.close()
    await gateway.stores.perceptions.append([NewPerception("chat", NOON + 50, NOON + 50, "its own", trust=0.5)])
    before = await gateway.stores.perceptions.head()
    done = await submind("merge", f"{tmp_path / 'twin'}#twin", "--source", "chat", *at)
    assert done.err == "2 new, 4 known\n"
    assert await gateway.stores.perceptions.head() == before + 2


async def test_what_was_corrected_stays_behind(gateway: Any, at: list[str], other: str, tmp_path: Path) -> None:
    stores = await open_stores(tmp_path / "other", "other")
    for key, fact in (await FACTS.all_of(stores.collections)).items():
        if fact.value == "dock 4":
            fact.standing = FactStanding.WRONG
            await stores.commit([FACTS.write(key, fact)])
    await stores.close()
    done = await submind("merge", other, "--source", "chat", *at)
    assert done.err == "2 new, 1 wrong\n"
    assert LINES[0][1] not in {each.text for each in await heard(gateway)}


async def test_corrections_come_over_once_with_who_made_them_where(
    gateway: Any, at: list[str], other: str, tmp_path: Path
) -> None:
    stores = await open_stores(tmp_path / "other", "other")
    entities = {one.name: one for one in (await ENTITIES.all_of(stores.collections)).values()}
    van, heater = entities["Van 7"], next(one for name, one in entities.items() if "heater" in name)
    said = [
        FeedbackMark("k-1", van.key, MarkKind.CORRECT, NOON + 90, "olga", "location", value="dock 9"),
        FeedbackMark("k-2", heater.key, MarkKind.CORRECT, NOON + 90, "olga", "location", value="room 3"),
        FeedbackMark("k-3", van.key, MarkKind.CORRECT, NOON + 90, "olga", "price", value="9 EUR", undone=True),
    ]
    await stores.commit([MARKS.write(mark.id, mark) for mark in said])
    await stores.close()
    mine = replace(van, key="e-mine")
    await gateway.stores.commit([ENTITIES.write(mine.key, mine), NAMES.write("van 7", mine.key)])
    for told in ("2 new, 1 corrected\n", "3 known\n"):
        assert (await submind("merge", other, "--entity", "van 7", *at)).err == told
    ((_, mark),) = (await MARKS.all_of(gateway.stores.collections)).items()
    assert (mark.target, mark.text, mark.value) == ("e-mine", "location", "dock 9")
    assert mark.by.startswith("olga in other k-1")
    assert (await submind("mark", mark.id, "--undo", *at)).code == 0
    gateway.now[0] += 2 * 86_400.0
    await gateway.stores.collections.forget(gateway.now[0])
    assert (await submind("merge", other, "--entity", "van 7", *at)).err == "3 known\n", "it was taken back here"
    stores = await open_stores(tmp_path / "other", "other")
    await stores.commit([MARKS.write("k-1", replace(said[0], at=gateway.now[0]))])
    await stores.close()
    assert (await submind("merge", other, "--entity", "van 7", *at)).err == "2 known, 1 corrected\n", "said anew"


async def test_what_is_asked_wrongly_is_told_in_a_sentence(gateway: Any, at: list[str], other: str) -> None:
    for given, code, told in (
        ((other,), 2, "say what is to be told"),
        ((other, "--entity", "Nobody Known"), 1, "nothing is known there of 'Nobody Known'"),
        (("nowhere#other", "--source", "chat"), 1, "there is no mind in"),
    ):
        done = await submind("merge", *given, *at)
        assert (done.code, told in done.err) == (code, True), done.err
    assert await heard(gateway) == []


async def test_a_label_lowers_trust_and_never_raises_it(gateway: Any, at: list[str]) -> None:
    said = [f"trust_at_most={value}" for value in ("0.1", "1", "nan", "much")]
    codes = [(await submind("perceive", "-", "--label", each, *at, stdin=b"hello there\n")).code for each in said]
    assert codes == [0, 0, 1, 1]
    trusts = [each.trust for each in await gateway.stores.perceptions.read(0, 1000) if each.text == "hello there"]
    assert trusts == [0.1, gateway.intake.trust_of("stdin")]
