from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.perception.levels import Deviation, Levels, Reading
from actors.snapshots import pack, unpack


def levels():
    return Levels(shift=6.0, size=64)


def run(values, series=None, step=60.0, first=0):
    series = series or levels()
    changes = [series.take(Reading(v, step * i, f"p{i}")) for i, v in enumerate(values, first)]
    return [(first + i, c) for i, c in enumerate(changes) if c is not None]


def noise(n, centre=10.0, spread=0.1, seed=1):
    chance = random.Random(seed)
    return [chance.gauss(centre, spread) for _ in range(n)]


def test_a_level_shift_is_told_once_with_its_figures():
    found = run([*noise(100, 6.2), *noise(300, 9.4)])
    assert len(found) == 1
    at, change = found[0]
    assert change.kind is Deviation.SHIFT
    assert 100 <= at <= 104
    assert change.before == pytest.approx(6.2, abs=0.15)
    assert change.after == pytest.approx(9.4, abs=0.15)
    assert change.since == 60.0 * 99
    assert {r.id for r in change.readings} <= {"p100", "p101", "p102", "p103", "p104"}


def test_the_way_back_is_told_too():
    found = run([*noise(100, 6.2), *noise(100, 9.4), *noise(100, 6.2)])
    assert [c.kind for _, c in found] == [Deviation.SHIFT, Deviation.SHIFT]
    assert found[1][1].after < found[1][1].before


def test_one_reading_that_returns_is_a_spike():
    values = noise(200)
    values[150] = 14.0
    ((at, change),) = run(values)
    assert change.kind is Deviation.SPIKE
    assert (at, change.readings[0].id) == (151, "p150")
    assert (change.after, round(change.before)) == (14.0, 10)


def test_a_slow_drift_is_told_with_where_it_began():
    climb = [6.2 + 0.03 * i + e for i, e in enumerate(noise(200, 0.0, 0.05))]
    found = run([*noise(60, 6.2, 0.05), *climb])
    assert {c.kind for _, c in found} == {Deviation.DRIFT}
    assert 2 <= len(found) <= 8
    assert all(c.after > c.before for _, c in found)
    assert found[0][1].before == pytest.approx(6.2, abs=0.1)
    assert found[-1][1].origin.value == pytest.approx(6.2, abs=0.1)


def test_a_constant_that_moves_is_a_shift():
    ((_, change),) = run([5.0] * 50 + [7.0] * 50)
    assert change.kind is Deviation.SHIFT
    assert (change.before, change.after) == (5.0, 7.0)


def walk(n, seed):
    chance, value, out = random.Random(seed), 0.0, []
    for _ in range(n):
        value += chance.gauss(0, 1)
        out.append(value)
    return out


N = 20_000
QUIET = {
    "gauss": lambda c, i: 10 + c.gauss(0, 1),
    "constant": lambda c, i: 4.0,
    "uniform": lambda c, i: c.random(),
    "small steps": lambda c, i: round(4 + c.gauss(0, 0.2), 1),
}
BUSY = {
    "daily": lambda c, i: 20 + 5 * math.sin(2 * math.pi * i / 1440) + c.gauss(0, 0.3),
    "pure sine": lambda c, i: math.sin(i / 50),
    "on and off": lambda c, i: 6.0 if (i // 10) % 2 else 0.0,
    "heavy tails": lambda c, i: math.tan(math.pi * (c.random() - 0.5)),
    "bursts": lambda c, i: math.exp(c.gauss(0, 1.5)),
    "rare events": lambda c, i: float(c.random() < 0.01),
    "sawtooth": lambda c, i: float(i % 100),
    "counter": lambda c, i: 10.0 * i,
    "few errors": lambda c, i: float(sum(c.random() < 0.1 for _ in range(3))),
}


@pytest.mark.parametrize("name", QUIET)
def test_plain_noise_says_nothing(name):
    chance = random.Random(7)
    assert run([QUIET[name](chance, i) for i in range(N)]) == []


@pytest.mark.parametrize("name", BUSY)
def test_what_repeats_grows_silent(name):
    chance = random.Random(7)
    found = run([BUSY[name](chance, i) for i in range(N)])
    assert len(found) <= 30
    assert len([at for at, _ in found if at > N // 2]) <= 5


@pytest.mark.parametrize("seed", range(5))
def test_a_random_walk_is_told_logarithmically(seed):
    found = run(walk(N, seed))
    assert len(found) <= 30
    assert len([at for at, _ in found if at > N // 2]) <= 6


def test_a_real_change_after_weeks_of_rhythm_is_told():
    chance = random.Random(7)
    rhythm = [20 + 5 * math.sin(2 * math.pi * i / 1440) + chance.gauss(0, 0.3) for i in range(N)]
    assert any(at >= N for at, _ in run([*rhythm, *(v + 20 for v in rhythm[:200])]))


def test_a_yearly_spike_is_news_each_time():
    series = levels()
    found = []
    for year in range(3):
        values = noise(400, seed=year)
        values[200] = 30.0
        found += run(values, series, step=86_400.0, first=400 * year)
    assert [c.times for _, c in found] == [1, 1, 1]


numbers = st.one_of(st.floats(-1e150, 1e150), st.floats(-10, 10), st.sampled_from([0.0, 1.0, 5e-324, -1e150]))


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers, max_size=300), st.integers(0, 300))
def test_any_numbers_are_taken_in_bounded_memory_and_a_snapshot_continues_the_same(values, cut):
    whole = run(values)
    series = levels()
    first = run(values[:cut], series)
    again = unpack(pack(series), Levels)
    assert first + run(values[cut:], again, first=min(cut, len(values))) == whole
    assert len(again.window) <= 64
    assert len(again.pending) <= 4
    assert all(math.isfinite(x) for _, c in whole for x in (c.before, c.after, c.deviations))


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-3, 1e6), st.integers(0, 1000))
def test_the_unit_does_not_matter(unit, seed):
    values = [*noise(80, 10.0, 1.0, seed), *noise(40, 40.0, 1.0, seed + 1)]
    moved = run([unit * v for v in values])
    assert [(at, c.kind) for at, c in moved] == [(at, c.kind) for at, c in run(values)]


def test_a_change_small_beside_its_level_is_not_worth_words():
    assert run([*noise(100, 1000.0, 0.1), *noise(100, 1010.0, 0.1)]) == []
