"""``submind replay``: the same stream every time, and nothing left behind."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from environment.stores.opening import open_stores
from tests.environment.stores.furnished import furnish
from tests.environment.stores.making import NOON
from tests.orchestration.cli.conftest import environ, submind

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "day.jsonl"


async def test_the_same_seed_gives_the_same_bytes_and_the_budget_holds() -> None:
    first = await submind("replay", EXAMPLE, "--budget", 12, "--seed", 3, "--json")
    second = await submind("replay", EXAMPLE, "--budget", 12, "--seed", 3, "--json")
    assert first.code == 0
    assert first.out == second.out
    thoughts = [told for told in first.objects if told["kind"] == "thought"]
    assert 0 < len(thoughts) <= 12
    assert [told["seq"] for told in first.objects] == list(range(1, len(first.objects) + 1))
    assert all(told["perceptions"] and told["time"].startswith("2026-03-0") for told in thoughts)
    lines = EXAMPLE.read_text("utf-8")
    for told in thoughts:
        why = told["why"]
        assert why["ground"] == "welcome" or why["needed"] <= why["rank"]
        assert told["text"] in lines or not why["quoted"]
    assert any(told["why"]["quoted"] for told in thoughts)
    assert len({told["severity"] for told in thoughts}) > 1


async def test_a_rate_is_held_and_people_read_lines(tmp_path: Path) -> None:
    done = await submind("replay", EXAMPLE, "--per-hour", 1, env=environ(TMPDIR=str(tmp_path)))
    assert done.code == 0
    assert 0 < len(done.out.splitlines()) < 80
    assert "thoughts of 474 perceptions" in done.err
    assert left(tmp_path) == [], "nothing is left behind"


async def test_bad_lines_are_told_and_the_rest_is_replayed(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    lines = [
        json.dumps({"source": "chat", "time": 1000 + n, "text": f"word {n} is said about pumps"}) for n in range(20)
    ]
    file.write_text("\n".join([*lines, '{"source": "chat", "txt": 1}', '{"source": "", "text": " "}']))
    done = await submind("replay", file, "--budget", 3)
    assert done.code == 1
    assert "line 21: there is no key 'txt'" in done.err
    assert "line 22: text: there is nothing in this text but white space" in done.err
    assert done.out


async def test_unstamped_lines_are_replayed_the_same_twice(tmp_path: Path) -> None:
    stdin = "\n".join(
        f"smoke and fire in the {word} hall, two people are trapped and hurt" for word in ("red", "old", "big", "new")
    ).encode()
    first = await submind("replay", "-", "--budget", 2, "--json", stdin=stdin)
    second = await submind("replay", "-", "--budget", 2, "--json", stdin=stdin)
    assert first.out == second.out
    assert first.objects[0]["time"].startswith("2000-01-01T")
    assert "4 lines carry no time" in first.err


async def test_what_cannot_be_replayed_is_told(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("\n")
    done = await submind("replay", empty)
    assert (done.code, "no line in it" in done.err) == (1, True)
    assert (await submind("replay", tmp_path / "absent")).code == 1
    assert (await submind("replay", empty, "--budget", 3, "--per-hour", 3)).code == 2
    assert (await submind("replay", empty, "--per-hour", "nan")).code == 2


def left(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


@pytest.fixture
async def old(tmp_path: Path) -> Path:
    stores = await open_stores(tmp_path / "old", "mind")
    await furnish(stores)
    await stores.close()
    return tmp_path / "old"


async def test_a_mind_replays_what_it_perceived_itself(old: Path, tmp_path: Path) -> None:
    whole = await submind("replay", "--data-dir", old, "--json")
    assert whole.code == 0, whole.err
    assert whole.objects
    by_address = await submind("replay", "--store", f"sqlite:{old}", "--json")
    assert by_address.objects == whole.objects
    at = datetime.fromtimestamp(NOON + 120, UTC).isoformat()
    early = await submind("replay", "--data-dir", old, "--until", at)
    late = await submind("replay", "--data-dir", old, "--since", at)
    counts = [int(done.err.split(" thoughts of ")[1].split()[0]) for done in (early, late)]
    assert sum(counts) == 43
    assert min(counts) > 0


async def test_a_replay_has_one_history(old: Path, tmp_path: Path) -> None:
    for given, told in (
        ((), "give a FILE"),
        (("-", "--data-dir", old), "two histories"),
        (("-", "--since", "2026-01-01T00:00:00Z"), "a mind's own log"),
        (("--data-dir", tmp_path / "nowhere"), "there is no mind in"),
        (("--data-dir", old, "--since", "2030-01-01T00:00:00Z"), "perceived nothing in that time"),
        (("--data-dir", old, "--since", "yesterday-ish"), "--since"),
    ):
        done = await submind("replay", *given)
        assert done.code in {1, 2}, given
        assert told in done.err, given
