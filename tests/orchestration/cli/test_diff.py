"""``submind diff``: what one mind knows and another does not."""

from dataclasses import replace
from pathlib import Path

import pytest

from actors.knowledge.fact import ENTITIES, FACTS, Edge, Entity, Fact, FactKind, FactStanding
from actors.matters.matter import MATTERS, Matter, MatterState
from environment.configuration import Configuration, write_configuration
from environment.messages import PerceptionRef
from environment.ports import WriteConnections, WriteEntries
from environment.stores.opening import open_stores
from tests.environment.stores.furnished import furnish
from tests.environment.stores.making import NOON, connection, entry, perception
from tests.orchestration.cli.conftest import submind

REF = PerceptionRef("p-1", NOON, "chat")
VAN = Fact("f-1", "van 7", "location", "dock 4", FactKind.PLACE, NOON, NOON, 0.6, 0.5, [REF], entity="e-1")


@pytest.fixture
async def two(tmp_path: Path) -> tuple[Path, Path]:
    """A mind and what it became: five perceptions and an entry more, van 7 elsewhere, and another rate."""
    for place in ("before", "after"):
        stores = await open_stores(tmp_path / place, "mind")
        await furnish(stores, 20)
        van = Entity("e-1", "van 7", REF, REF)
        await stores.commit([FACTS.write(VAN.key, VAN), ENTITIES.write(van.key, van)])
        if place == "after":
            await stores.perceptions.append([perception(700 + n) for n in range(5)])
            gone = replace(VAN, until=NOON + 60, closed=NOON + 60)
            bay = replace(VAN, id="f-2", value="\x1b[31mbay 3", since=NOON + 60)
            wrong = replace(VAN, id="f-3", value="moon", standing=FactStanding.WRONG)
            await stores.commit([FACTS.write(each.key, each) for each in (gone, bay, wrong)])
            matter = Matter("m-1", "Van 7 moves", MatterState.NEW, NOON, NOON, 0.5, [], 1, [], [])
            await stores.commit([MATTERS.write("m-1", matter), WriteEntries((entry(8),))])
            joined = replace(van, edges=[Edge("e-1", "with", 0.5, NOON, REF)])
            tie = connection("causes", "k-vans", "omega", label="vans")
            await stores.commit([ENTITIES.write(van.key, joined), WriteConnections("causes", (tie,), (), ())])
            body = '{"attention": {"per_hour": 9}}'
            await stores.commit([write_configuration(Configuration(4, NOON + 4, "somebody", body))])
        await stores.close()
    return tmp_path / "before", tmp_path / "after"


async def test_what_only_one_knows_is_told_by_kind(two: tuple[Path, Path]) -> None:
    done = await submind("diff", *two)
    assert done.code == 1
    told = done.out.splitlines()
    assert told[:2] == [f"A: mind at {two[0]}", f"B: mind at {two[1]}"]
    for line in (
        "perceptions: 43 in both, 0 only in A, 5 only in B",
        "entries: 7 in both, 0 only in A, 1 only in B",
        "facts: 0 in both, 1 only in A, 3 only in B",
        "entities: 1 in both, 0 only in A, 0 only in B",
        "  B  Van 7 moves (new, 1 lines)",
        "edges: 0 in both, 0 only in A, 1 only in B",
        "  B  causes to omega about vans",
        "  A  attention.per_hour: 3",
        "  B  attention.per_hour: 9",
    ):
        assert line in told
    assert "\x1b" not in done.out
    assert any(line.startswith("  A  van 7 location: dock 4 (since") and line.endswith(", held)") for line in told)
    assert any("moon" in line and line.endswith(", wrong)") for line in told)


async def test_programs_read_it_and_it_is_bounded(two: tuple[Path, Path]) -> None:
    done = await submind("diff", *two, "--limit", "2", "--json")
    assert done.code == 1
    sums = {each["kind"]: each for each in done.objects if "both" in each}
    assert sums["perceptions"]["only"] == [0, 5]
    assert [len(each) for each in sums["perceptions"]["first"]] == [0, 2]
    plain = await submind("diff", *two, "--limit", "2")
    assert "  B  … and 3 more" in plain.out


async def test_a_snapshot_stands_for_the_mind_it_was_taken_of(two: tuple[Path, Path], tmp_path: Path) -> None:
    assert (await submind("snapshot", "--to", tmp_path / "b.submind", "--data-dir", two[1])).code == 0
    same = await submind("diff", tmp_path / "b.submind", two[1])
    assert (same.code, "only in A" in same.out) == (0, True)
    assert " 1 only" not in same.out
    assert (await submind("diff", two[0], tmp_path / "b.submind")).out.count("\n") > 10


async def test_what_is_no_mind_is_told_in_a_sentence(two: tuple[Path, Path], tmp_path: Path) -> None:
    for given, code, told in (
        ((two[0], tmp_path / "nowhere"), 1, "there is no mind in"),
        ((two[0], f"{two[1]}#other"), 1, "no mind called other"),
        ((two[0], two[1] / "mind.db"), 1, "is not the backup of a mind"),
        ((two[0], "#twin"), 2, "name a mind"),
        ((two[0], f"{two[1]}#No Name"), 2, "No Name"),
    ):
        done = await submind("diff", *given)
        assert (done.code, told in done.err) == (code, True), (given, done.err)
