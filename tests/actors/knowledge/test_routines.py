from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.knowledge.routines import routine

MONDAY = 1_772_409_600.0  # 2026-03-02T00:00:00Z
HOUR, DAY, MINUTE = 3600.0, 86_400.0, 60.0
NOW = MONDAY + 28 * DAY


def at(days: range | list[int], *hours: float, jitter: float = 10.0) -> list[float]:
    chance = random.Random(7)
    every = [MONDAY + day * DAY + hour * HOUR for day in days for hour in hours]
    return sorted(one + chance.uniform(-jitter, jitter) * MINUTE for one in every)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (at(range(28), 2.0), "nightly about 02:00"),
        (at(range(28), 0.0), "nightly about 00:00"),
        (at(range(28), 9.0, 17.0), "daily about 09:00 and 17:00"),
        (at([d for d in range(28) if d % 7 < 5], 9.0), "on weekdays about 09:00"),
        (at([d for d in range(28) if d % 7 > 4], 9.0), "at weekends about 09:00"),
        (at(range(1, 28, 7), 16.0), "every Tuesday about 16:00"),
        (at([d for d in range(28) if d % 7 in {0, 3}], 16.0), "every Monday and Thursday about 16:00"),
        ([MONDAY + n * 5400.0 for n in range(448)], "about every 90 minutes"),
        ([MONDAY + n * 36 * HOUR for n in range(19)], "about every 36 hours"),
    ],
)
def test_when_something_comes_is_told_in_words(times: list[float], words: str) -> None:
    found = routine(times, NOW)
    assert found is not None
    said = found.words()
    assert said.partition(" about ")[0] == words.partition(" about ")[0]
    assert said == words or all(abs(hour - 3600 * round(hour / 3600)) < 600 for hour in found.hours)
    assert (found.came, found.missed, found.over) == (len(times), (), None)


def test_a_day_on_which_it_did_not_come_is_told() -> None:
    found = routine(at([d for d in range(28) if d != 12], 2.0), NOW)
    assert found is not None
    assert [one // DAY for one in found.missed] == [(MONDAY + 12 * DAY) // DAY]


def test_what_does_not_come_three_times_in_a_row_is_over() -> None:
    times = at(range(14), 9.0)
    still, over = routine(times, MONDAY + 16 * DAY), routine(times, MONDAY + 17 * DAY)
    assert still is not None
    assert over is not None
    assert (still.over, over.over) == (None, times[-1])


@pytest.mark.parametrize("days", [28.0, 10.0])
def test_what_comes_by_chance_is_hardly_ever_a_routine(days: float) -> None:
    chance = random.Random(3)
    drawn = [
        sorted(MONDAY + chance.randrange(int(days)) * DAY + chance.uniform(8, 18) * HOUR for _ in range(count))
        for count in range(3, 30)
        for _ in range(40)
    ]
    assert sum(routine(times, NOW) is not None for times in drawn) <= len(drawn) // 200


@given(st.lists(st.floats(0, 4e9), max_size=60), st.floats(0, 4e9))
def test_any_times_have_a_routine_or_none(times: list[float], later: float) -> None:
    times = sorted(times)
    found = routine(times, (times[-1] if times else 0.0) + later)
    if found is not None:
        assert found.words()
        assert found.came <= len(times)
        assert found.same(found)
