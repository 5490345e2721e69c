"""The order in which traces sink agrees with looking at every one of them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environment import salience
from environment.expiry import Expiry
from environment.messages import Level

FLOOR = 0.05
NAMES = st.sampled_from([f"t-{n}" for n in range(4)])
LEVELS = st.builds(
    Level,
    st.sampled_from([0.0, 0.04, 0.06, 0.2, 0.5, 0.77, 1.0]),
    st.floats(4500, 5000),
    st.sampled_from([60.0, 600.0]),
)
ACTS = st.lists(st.tuples(NAMES, st.none() | LEVELS), max_size=60)


def sinks_at(level: Level) -> float:
    if level.value <= FLOOR:
        return level.at
    return level.at + level.half_life * math.log2(level.value / FLOOR)


def done(acts) -> tuple[Expiry, dict[str, Level]]:
    expiry, held = Expiry(), {}
    for name, level in acts:
        if level is None:
            expiry.remove(name)
            held.pop(name, None)
        else:
            expiry.set(name, level)
            held[name] = level
    return expiry, held


@given(ACTS, st.floats(5000, 7000))
def test_what_sank_is_popped_and_nothing_else(acts, now):
    expiry, held = done(acts)
    values = {name: salience.at(level, now) for name, level in held.items()}
    sunk = expiry.pop_below(FLOOR, now)
    assert len(set(sunk)) == len(sunk)
    assert all(values[name] < FLOOR * (1 + 1e-9) for name in sunk)
    assert all(values[name] >= FLOOR * (1 - 1e-9) for name in held.keys() - set(sunk))
    assert len(expiry) == len(held) - len(sunk)


@given(ACTS, st.floats(5000, 7000))
def test_the_least_is_the_least(acts, now):
    expiry, held = done(acts)
    while held:
        least = expiry.least(now)
        lowest = min(salience.at(level, now) for level in held.values())
        assert salience.at(held[least], now) == pytest.approx(lowest, rel=1e-6, abs=1e-300)
        expiry.remove(least)
        del held[least]
    assert expiry.least(now) is None
    assert expiry.next(FLOOR) is None


@given(ACTS.filter(lambda acts: any(level for _, level in acts)))
def test_it_says_when_the_next_one_sinks(acts):
    expiry, held = done(acts)
    when = expiry.next(FLOOR)
    if not held:
        assert when is None
    elif when > 5000:  # later than every level was set
        assert when == pytest.approx(min(sinks_at(level) for level in held.values()), rel=1e-6)
        assert expiry.pop_below(FLOOR, when - 1) == []
        assert expiry.pop_below(FLOOR, when + 1)
    else:
        assert math.isinf(when) or expiry.pop_below(FLOOR, 5001)


def test_it_does_not_grow_with_what_is_done_to_it():
    expiry = Expiry()
    for number in range(20_000):
        expiry.set(f"t-{number % 10}", Level(1 / (1 + number), 0.0, 60.0))
        expiry.set("up-and-down", Level((number % 7) / 7, 0.0, 3600.0))
    assert len(expiry) == 11
    assert sum(map(len, expiry._heaps.values())) < 300
