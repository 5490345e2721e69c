import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.perception.deviations import Alarm, Deviation, Deviations, Reading, Return
from actors.perception.settings import PerceptionSettings
from actors.perception.tail import TailFit
from actors.snapshots import pack, unpack

RATE = PerceptionSettings().false_alarms
BAR = -math.log(RATE)


def run(values, series=None, step=300.0, first=0):
    series = series or Deviations(8192)
    changes = [series.take(Reading(v, step * i, f"p{i}"), BAR) for i, v in enumerate(values, first)]
    return [(first + i, c) for i, c in enumerate(changes) if c is not None]


def noise(n, centre=10.0, spread=0.1, seed=1):
    chance = random.Random(seed)
    return [chance.gauss(centre, spread) for _ in range(n)]


def daily(days, seed=1, swing=20.0):
    return [50 + swing * math.sin(2 * math.pi * i / 288) + e for i, e in enumerate(noise(288 * days, 0.0, 1.0, seed))]


def alarms(found):
    return [(at, c) for at, c in found if isinstance(c, Alarm)]


def test_a_level_is_told_at_once_and_once_and_so_is_its_end():
    (at, alarm), (back_at, back) = run([*noise(100, 6.2), *noise(60, 9.4), *noise(100, 6.2)])
    assert (at, alarm.kind, alarm.reading.id) == (100, Deviation.JUMP, "p100")
    assert alarm.usual == pytest.approx(6.2, abs=0.2)
    assert (back.began.id, back.first.id) == ("p100", "p160")
    assert 160 <= back_at < 170


def test_a_spike_is_over_with_the_next_reading():
    values = noise(200)
    values[150] = 14.0
    (at, alarm), (back_at, back) = run(values)
    assert (at, alarm.now, back_at, back.began.id) == (150, 14.0, 151, "p150")


def test_a_small_lasting_deviation_adds_up():
    found = alarms(run([*noise(1500, 10.0, 1.0), *noise(300, 12.0, 1.0)]))
    assert [c.kind for _, c in found] == [Deviation.LASTING]
    assert 1500 < found[0][0] < 1540


def test_a_slow_rise_is_told_a_few_times_with_where_it_began():
    rising = [value + 3.0 * max(0, i - 40) / 160 for i, value in enumerate(noise(200, 6.3, 0.04))]
    told = [(at, c) for at, c in alarms(run(rising, step=900.0)) if c.kind is Deviation.DRIFT]
    assert 1 <= len(told) <= 4
    assert told[0][0] < 100
    assert told[0][1].usual == pytest.approx(6.3, abs=0.1)
    assert told[0][1].now > 6.5


def test_a_day_that_does_not_come_is_told_and_the_days_before_are_not():
    usual = daily(10)
    missing = [50 + e for e in noise(288, 0.0, 1.0, 2)]
    told = alarms(run([*usual, *missing]))
    first_day = [at for at, alarm in told if alarm.kind is Deviation.DRIFT]
    assert len(first_day) <= 3
    assert max(first_day) < 288
    found = [each for each in told if each[0] not in first_day]
    assert found
    assert {at >= len(usual) for at, _ in found} == {True}
    assert found[0][1].seasonal


def test_a_series_that_stops_moving_is_told():
    values = daily(10)
    found = alarms(run([*values, *[values[-1]] * 288]))
    assert Deviation.STILL in {c.kind for at, c in found if at >= len(values)}


def test_after_one_disaster_a_lesser_one_is_still_told():
    values = [*noise(150, 420, 6), 1e6, *noise(100, 420, 6, 2), *noise(4, 610, 8)]
    assert [at for at, _ in alarms(run(values))] == [150, 251]


def test_what_was_told_is_learned_once_so_that_a_lesser_one_is_told_at_once():
    values = [*noise(60, 11.5, 0.2), *noise(3, 0.1, 0.02), *noise(60, 11.5, 0.2, 2), *noise(4, 20.0, 0.2)]
    assert [at for at, _ in alarms(run(values))] == [60, 123]


@pytest.mark.parametrize(("left", "told"), [(0.8, False), (0.1, True)])
def test_a_series_is_still_when_it_moves_half_as_much(left, told):
    beats = [float((-1) ** i) for i in range(600)]
    kinds = {c.kind for _, c in alarms(run([*beats, *[left * beat for beat in beats[:100]]]))}
    assert (Deviation.STILL in kinds) is told


def test_the_first_day_of_a_series_with_a_rhythm_is_no_drift():
    drifts = [c for s in range(8) for _, c in alarms(run(daily(3, s, 60.0))) if c.kind is Deviation.DRIFT]
    assert len(drifts) <= 8 * 1.5


NOISES = {
    "gauss": lambda c, i: 10 + c.gauss(0, 1),
    "constant": lambda c, i: 4.0,
    "uniform": lambda c, i: c.random(),
    "steps": lambda c, i: round(4 + c.gauss(0, 0.2), 1),
    "daily": lambda c, i: 50 + 20 * math.sin(2 * math.pi * i / 288) + c.gauss(0, 1),
    "bursts": lambda c, i: math.exp(c.gauss(0, 1.5)),
    "counts": lambda c, i: float(sum(c.random() < 0.1 for _ in range(30))),
}


@pytest.mark.parametrize("name", NOISES)
def test_false_alarms_are_rare_whatever_the_noise(name):
    chance = random.Random(7)
    found = alarms(run([NOISES[name](chance, i) for i in range(20_000)]))
    assert len(found) <= 20_000 * RATE


def test_the_tail_of_a_known_law_is_known():
    tail, chance = TailFit(8192, 8), random.Random(3)
    for _ in range(8000):
        tail.learn(chance.expovariate(1.0))
    for surprise in (4.0, 7.0, 9.0):
        assert tail.surprise(surprise) == pytest.approx(surprise, abs=1.2)


def test_what_falls_off_again_and_again_is_told_at_first_only():
    found = alarms(run([10 + i % 170 + e for i, e in enumerate(noise(20_000, 0.0, 0.3))]))
    told = [at for at, alarm in found if alarm.kind is not Deviation.DRIFT]
    assert 1 <= len([at for at in told if at < 2000]) <= 6
    assert len([at for at in told if at >= 2000]) <= 18_000 * RATE


def test_a_second_disaster_of_the_same_size_is_told_as_well():
    values = noise(4000, 420, 6)
    values[1500] = values[3500] = 1e6
    assert [at for at, _ in alarms(run(values))] == [1500, 3500]


def test_who_remembers_next_to_nothing_takes_any_number_all_the_same():
    assert alarms(run([*noise(2000), 1e6], Deviations(8)))[-1][0] == 2000


numbers = st.one_of(st.floats(-1e150, 1e150), st.floats(-10, 10), st.sampled_from([0.0, 1.0, 5e-324, -1e150]))


@settings(max_examples=60, deadline=None)
@given(st.lists(numbers, max_size=120), st.integers(0, 120))
def test_any_numbers_are_taken_and_a_snapshot_continues_the_same(values, cut):
    whole = run(values)
    series = Deviations(8192)
    first = run(values[:cut], series)
    again = unpack(pack(series), Deviations)
    assert first + run(values[cut:], again, first=min(cut, len(values))) == whole
    for _, change in whole:
        figures = (change.usual, change.now, change.surprise) if isinstance(change, Alarm) else (change.first.value,)
        assert all(map(math.isfinite, figures))
        assert isinstance(change, Alarm | Return)
