"""``submind evolve``: settings bred against labels, and none put to work."""

import json
from pathlib import Path

import pytest
import yaml

from environment.marks import MARKS, FeedbackMark, MarkKind
from environment.messages import NewPerception, PerceptionRef
from environment.stores.opening import open_stores
from orchestration.loading import load_settings
from tests.environment.stores.making import NOON
from tests.orchestration.cli.conftest import submind

QUIET = "in the yard nothing moves and the gate is closed"
HAPPENS = (
    "fire in the engine room, two people are burnt",
    "Olga cannot find the key of the medicine cupboard",
    "the mast of the Aurora broke in the storm",
    "thieves stole eleven outboard motors from hall 3",
    "Pim fainted at the slipway, the ambulance is coming",
    "water is pouring into the cellar of the customs house",
    "the crane dropped a container onto a parked lorry",
    "a whale is stranded beside the ferry terminal!",
    "payroll failed: nobody has been paid this month",
    "gas smells strongly near the bakery, street is closed",
    "the bridge will not open, three ships wait outside",
    "Hana resigned this morning, who takes her shifts?",
)


def lines() -> list[dict[str, object]]:
    """Four hours in which something happens every twenty minutes, among lines that say the same again."""
    told: list[dict[str, object]] = []
    for minute in range(0, 240, 2):
        at, key = NOON + 60 * minute, f"k-{minute}"
        text = HAPPENS[minute // 20] if minute % 20 == 10 else QUIET
        told.append({"source": "yard", "time": at, "key": key, "text": text})
    return told


@pytest.fixture
def day(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A history, its labels, and a mind that says far too little."""
    history, labels, mind = tmp_path / "day.jsonl", tmp_path / "day.csv", tmp_path / "mind.yaml"
    history.write_text("\n".join(map(json.dumps, lines())))
    rows = [f"{each['key']},{'no' if each['text'] == QUIET else 'yes'}" for each in lines()]
    labels.write_text("\n".join(["key,useful", *rows]))
    mind.write_text("attention: {per_hour: 0.2, welcome: 0}")
    return history, labels, mind


async def test_it_finds_what_is_better_says_so_on_labels_kept_apart_and_deploys_nothing(
    day: tuple[Path, Path, Path],
) -> None:
    history, labels, mind = day
    before = mind.read_text()
    bounds = ("--population", "3", "--generations", "2", "--seeds", "2", "--vary", "attention.per_hour=0.1..8")
    done = await submind("evolve", history, "--labels", labels, "--mind", mind, *bounds)
    assert done.code == 0, done.out + done.err
    assert "generation 2, variant" in done.err
    assert "labels kept apart, 2 other seeds" in done.out
    assert done.out.splitlines()[3].endswith("better")
    found = yaml.safe_load(done.out)
    assert found["attention"]["per_hour"] > 1
    fragment = mind.with_name("evolved.yaml")
    fragment.write_text(done.out)
    assert load_settings(fragment, environ={}).attention.per_hour == found["attention"]["per_hour"]
    assert mind.read_text() == before


async def test_time_bounds_it_and_no_gain_is_said(day: tuple[Path, Path, Path]) -> None:
    history, labels, mind = day
    given = ("--labels", labels, "--mind", mind, "--minutes", "0", "--seeds", "2", "--vary", "attention.worth=0.2..0.8")
    done = await submind("evolve", history, *given)
    assert done.code == 1
    assert "# the best of 1 variants, stopped by --minutes" in done.out
    assert "+0.000 ± 0.000 (standard error): no better" in done.out
    assert yaml.safe_load(done.out) == {"attention": {"worth": 0.5}}


async def test_marks_of_a_mind_are_labels(tmp_path: Path, day: tuple[Path, Path, Path]) -> None:
    stores = await open_stores(tmp_path / "data", "mind")
    told = [NewPerception("yard", float(str(e["time"])), float(str(e["time"])), str(e["text"])) for e in lines()]
    receipts = await stores.perceptions.append(told)
    for one, receipt in list(zip(told, receipts, strict=True))[5::10]:
        ref = PerceptionRef(receipt.id, one.time, one.source)
        kind = MarkKind.USEFUL
        mark = FeedbackMark(f"k-{receipt.seq}", "1", kind, one.time, "ann", one.text or "", perception=ref)
        await stores.commit([MARKS.write(mark.id, mark)])
    await stores.close()
    given = ("--vary", "attention.per_hour=1..4", "--population", "2", "--generations", "1", "--seeds", "2")
    done = await submind("evolve", "--data-dir", tmp_path / "data", "--mind", day[2], *given)
    assert done.code in {0, 1}, done.err
    assert "the best of 2 variants" in done.out
    assert not done.err.splitlines()[-1].endswith("best so far 0.000")


async def test_what_is_asked_wrongly_is_told_in_a_sentence(day: tuple[Path, Path, Path], tmp_path: Path) -> None:
    history, labels, mind = day
    bad = tmp_path / "bad.csv"
    for text, given, told in (
        ("", ("--labels", labels, "--vary", "attention.worth"), "write attention.worth=LOW..HIGH"),
        ("", ("--vary", "attention.worth=0..1"), "say what is worth telling"),
        ("", ("--labels", labels, "--vary", "attention.nothing"), "there is no setting attention.nothing"),
        ("", ("--labels", labels, "--vary", "mind.name"), "that is a number"),
        ("", ("--labels", labels, "--vary", "attention.worth=2..1"), "the lower bound first"),
        ("", ("--labels", labels, "--vary", "attention.worth=0..9"), "attention.worth"),
        ("", ("--labels", labels, "--vary", "attention.worth=low..high"), "=LOW..HIGH"),
        ("when\n1", ("--labels", bad, "--vary", "attention.worth=0..1"), "its first line names the columns"),
        ("time\nnoon", ("--labels", bad, "--vary", "attention.worth=0..1"), "line 2"),
        ("key,useful\nk-0,maybe", ("--labels", bad, "--vary", "attention.worth=0..1"), "useful is yes or no"),
        ("key\nk-0\nother", ("--labels", bad, "--vary", "attention.worth=0..1"), "too few: 3"),
    ):
        bad.write_text(text)
        done = await submind("evolve", history, *given, "--mind", mind)
        assert (done.code, told in done.err) == (2, True), (given, done.err)
