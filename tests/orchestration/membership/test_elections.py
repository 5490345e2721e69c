"""A hundred schedules. One that fails says its seed, and runs alone with ``-k "seed-17]"``."""

from collections import Counter
from pathlib import Path

import pytest

from tests.orchestration.membership.elections import World

SEEDS = 100
_seen: dict[int, Counter[str]] = {}


@pytest.mark.parametrize("seed", range(SEEDS), ids=lambda seed: f"seed-{seed}")
def test_no_number_is_written_twice(seed: int, tmp_path: Path) -> None:
    try:
        _seen[seed] = World(seed, tmp_path).run()
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error


def test_the_schedules_hold_what_they_are_to_show() -> None:
    if len(_seen) < SEEDS:
        pytest.skip("only some of the schedules were run")
    total = sum(_seen.values(), Counter[str]())
    assert total["refused"] >= SEEDS / 2, "hardly ever was an overtaken leader caught writing"
    assert sum(1 for seen in _seen.values() if seen["refused"]) >= SEEDS / 4
    assert sum(1 for seen in _seen.values() if seen["writers"] >= 3) >= SEEDS * 0.9
    assert total["written"] > SEEDS * 100
    print(dict(total))  # noqa: T201 - for people


def test_a_schedule_is_its_seed(tmp_path: Path) -> None:
    one, again = World(7, tmp_path / "one"), World(7, tmp_path / "again")
    assert one.run() == again.run()
    assert one.stored == again.stored
    assert one.etcd.given == again.etcd.given
