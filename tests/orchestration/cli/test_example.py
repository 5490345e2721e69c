"""The example's day, moved to end when mind time meets the wall."""

from __future__ import annotations

import pytest

from orchestration.cli.example import BOOT, LASTS, day_at

NOW = 1_795_000_000.0


def test_the_day_is_lived_in_the_time_it_is_given_and_keeps_its_intervals() -> None:
    day = day_at(NOW)
    times = [perception.time for perception in day.perceptions]
    assert times == sorted(times)
    assert len({perception.source for perception in day.perceptions}) == 10
    assert day.clock.meets == pytest.approx(NOW + BOOT + LASTS, abs=1)
    assert times[-1] == pytest.approx(day.clock.meets, abs=1)
    assert day.clock.delay(times[0], NOW) == pytest.approx(BOOT, abs=0.1)
    assert 0.9 * 86_400 < times[-1] - times[0] < 1.1 * 86_400
    half = times[len(times) // 2]
    assert BOOT < day.clock.delay(half, NOW) < BOOT + LASTS


def test_no_perception_is_ever_ahead_of_mind_time_when_it_is_told() -> None:
    day = day_at(NOW)
    for perception in day.perceptions:
        told_at = NOW + day.clock.delay(perception.time, NOW)
        assert perception.time <= day.clock.at(told_at) + 1
