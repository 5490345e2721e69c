"""The law of salience, as properties."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environment import salience
from environment.messages import Level

share = st.floats(0, 1)
instant = st.floats(0, 4e9)
half_life = st.floats(1, 1e8)
levels = st.builds(Level, share, instant, half_life)
later = st.floats(0, 1e8)


@given(levels, instant)
def test_it_stays_in_its_range_and_never_rises_by_itself(level, now):
    assert 0 <= salience.at(level, now) <= level.value <= 1
    assert salience.at(level, now + 60) <= salience.at(level, now)


@given(levels, st.lists(later, max_size=8))
def test_reading_it_on_the_way_changes_nothing(level, steps):
    read = level
    now = level.at
    for step in steps:
        now += step
        read = salience.settled(read, now)
    assert salience.at(read, now) == pytest.approx(salience.at(level, now), rel=1e-9, abs=1e-300)


@given(levels, instant, st.floats(-2, 2), st.integers(1, 1000))
def test_reinforcing_never_lowers_it_and_never_passes_the_ceiling(level, now, gain, times):
    before = salience.at(level, now)
    after = salience.reinforced(level, now, gain, times)
    assert before <= after.value <= max(before, salience.CEILING)
    assert after.at >= level.at


@given(levels, instant, st.floats(-2, 2))
def test_diminishing_never_raises_it(level, now, loss):
    assert 0 <= salience.diminished(level, now, loss).value <= salience.at(level, now)


@given(levels, instant)
def test_what_is_not_a_number_counts_nothing(level, now):
    assert salience.reinforced(level, now, math.nan).value == salience.at(level, now)
    assert salience.diminished(level, now, math.nan).value == salience.at(level, now)


def test_reference_values():
    hour = Level(0.8, 1000.0, 3600.0)
    assert salience.at(hour, 1000.0 + 3600) == pytest.approx(0.4)
    assert salience.at(hour, 1000.0 + 7200) == pytest.approx(0.2)
    still = Level(0.5, 0.0, 60.0)
    assert salience.reinforced(still, 0.0, 0.2, 1).value == pytest.approx(0.6)
    assert salience.reinforced(still, 0.0, 0.2, 3).value == pytest.approx(0.55)
    assert salience.reinforced(still, 0.0, 0.2, 7).value == pytest.approx(0.5 + 0.2 / 3 * 0.5)
    assert salience.reinforced(still, 0.0, 1.0).value == 0.92
    assert salience.reinforced(Level(0.97, 0.0, 60.0), 0.0, 0.5).value == 0.97
    assert salience.diminished(still, 60.0, 0.4).value == pytest.approx(0.15)
    with pytest.raises(ValueError, match="from 1"):
        salience.reinforced(still, 0.0, 0.2, 0)
