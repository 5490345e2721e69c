import math
import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.perception.settings import PerceptionSettings
from actors.perception.telemetry import TelemetryInterpreter
from actors.snapshots import pack
from tests.actors.perception.perceiving import DIM, EMBEDDER, START, perceive, read_off, restored, told


def reading(**given):
    return TelemetryInterpreter(DIM, PerceptionSettings(**given))


def steady(n, first=1, value=6.2, metric="compressor_current_a", seed=1, **given):
    chance = random.Random(seed)
    return [read_off(first + i, {metric: value + chance.gauss(0, 0.05)}, **given) for i in range(n)]


def test_an_alarm_and_its_end_read_well():
    interpreter = reading()
    perceive(interpreter, steady(60))
    alarm, back = perceive(interpreter, [*steady(20, 61, 9.4), *steady(20, 81)])
    figures = re.fullmatch(r"coldstore: compressor current rose to (.+) A \(usually (.+) A\)", alarm.text)
    assert [float(f) for f in figures.groups()] == pytest.approx([9.4, 6.2], abs=0.1)
    assert alarm.insights == ("jump", "×1.5")
    assert set(alarm.terms) >= {"coldstore", "compressor current", "compressor", "current"}
    assert 0.7 < alarm.salience <= 0.95
    assert re.fullmatch(r"coldstore: compressor current is back at 6\..+ A after 20 min", back.text)
    assert [p.id for p in back.perceptions] == [f"p-{81:020x}", alarm.perceptions[0].id]
    assert back.salience < alarm.salience


def test_what_several_series_do_together_is_told_as_one():
    interpreter, chance = reading(), random.Random(1)
    usual = {"flow_pct": 40.0, "pressure_bar": 3.2, "motor_a": 11.5}

    def readings(first, n, **given):
        return [
            read_off(i, {name: value + chance.gauss(0, 0.01) for name, value in {**usual, **given}.items()})
            for i in range(first, first + n)
        ]

    perceive(interpreter, readings(1, 60))
    (alarm, later) = perceive(
        interpreter, [*readings(61, 2, flow_pct=90.0, pressure_bar=1.0), *readings(63, 5, motor_a=20.0)]
    )[:2]
    assert alarm.count == 2
    assert "flow" in alarm.text
    assert "pressure" in alarm.text
    assert "motor" in later.text or "back" in later.text


@pytest.mark.parametrize(("step", "worth"), [(300, 0.35), (1800, 0.7)])
def test_a_drift_is_worth_less_before_a_day_of_its_series_is_known(step, worth):
    interpreter, chance = reading(), random.Random(1)
    level = [6.3 + 0.02 * max(0, n - 72) + chance.gauss(0, 0.04) for n in range(200)]
    drift, *_ = perceive(interpreter, [read_off(n, {"air_c": v}, START + step * n) for n, v in enumerate(level, 1)])
    assert drift.insights[0] == "drift"
    assert drift.salience == pytest.approx(worth)


def test_what_other_sources_measure_too_ties_only_what_alarms_together():
    interpreter = reading()
    for source in ("freezer", "hall"):
        perceive(interpreter, steady(60, metric="air_c", source=source))
    hall, freezer, later = (
        perceive(interpreter, steady(20, first, 9.4, "air_c", source=source))[0]
        for first, source in ((61, "hall"), (81, "freezer"), (400, "hall"))
    )
    assert [each.terms for each in (hall, freezer, later)] == [("hall",), ("freezer", "air"), ("hall",)]


def test_vectors_say_what_it_is_about_and_what_happened():
    up, down = reading(), reading()
    perceive(up, steady(60))
    perceive(down, steady(60))
    (up,) = perceive(up, steady(60, 61, 9.4))
    (down,) = perceive(down, steady(60, 61, 3.0))
    about, other, rising, falling = EMBEDDER.embed_now(
        ["coldstore compressor current", "bank payment letter", "rising higher", "falling lower"]
    )
    assert np.linalg.norm(up.vector) == pytest.approx(1, abs=1e-5)
    assert up.vector @ about > 0.7
    assert up.vector @ other < 0.4
    assert up.vector @ rising > down.vector @ rising
    assert down.vector @ falling > up.vector @ falling


def test_texts_are_asked_for_once_for_each_series():
    interpreter = reading()
    batch = steady(20)
    assert "coldstore compressor current" in interpreter.texts(batch)
    assert len(interpreter.texts(batch)) < 10
    perceive(interpreter, batch)
    assert interpreter.texts(steady(20, 21)) == []
    assert interpreter.texts([read_off(50, {"compressor_current_a": 6.0, "door": 1.0})]) == ["coldstore door"]


def test_the_silence_of_a_source_is_one_percept_and_so_is_its_return():
    interpreter = reading()
    perceive(interpreter, [read_off(i, {"air_c": 3.0, "door": 0.0, "fan_rpm": 900.0}) for i in range(1, 30)])
    last = START + 60 * 29
    assert interpreter.quiet(last + 200) == []
    (silence,) = interpreter.quiet(last + 300)
    assert silence.text == (
        "coldstore went silent: no more readings of air (last 3 °C), door (last 0) and fan (last 900 rpm), "
        "which came every 60 s"
    )
    assert silence.count == 3
    assert silence.time == last + 60
    assert interpreter.quiet(last + 9000) == []
    (back,) = perceive(interpreter, [read_off(200, {"air_c": 3.0, "door": 0.0, "fan_rpm": 900.0})])
    assert "are back after 3 h of silence" in back.text


def test_trust_is_that_of_the_least_trusted_reading():
    interpreter = reading()
    perceive(interpreter, steady(60, trust=0.9))
    shift = [*steady(1, 61, 9.4, trust=0.4), *steady(9, 62, 9.4, trust=0.9)]
    (event,) = perceive(interpreter, shift)
    assert event.trust == 0.4
    back = perceive(interpreter, steady(9, 71, trust=0.9))
    assert [each.trust for each in back] == [0.4]


def test_noise_and_rhythm_of_many_series_do_not_chatter():
    chance = random.Random(2)
    interpreter = reading()
    total = 0
    for i in range(1, 4001):
        telemetry = {f"air{k}_c": 4 + math.sin(2 * math.pi * i / 1440 + k) + chance.gauss(0, 0.2) for k in range(5)}
        total += len(perceive(interpreter, [read_off(i, telemetry)]))
    assert total <= 12
    assert interpreter.figures()["telemetry_readings_total"] == 20_000


def test_memory_is_bounded_and_the_limit_is_told():
    interpreter = reading(series=50, readings=16)
    for i in range(1, 400):
        perceive(interpreter, [read_off(i, {f"metric{i}": 1.0}, source=f"host{i}")])
    figures = interpreter.figures()
    assert figures["telemetry_series"] == 50
    assert figures["limit_hits:series"] == 349
    assert len(pack(interpreter.dump())) < 100_000


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 1e308, -1e200])
def test_numbers_beyond_all_measure_are_left_out(value):
    interpreter = reading()
    perceive(interpreter, steady(30))
    assert perceive(interpreter, [read_off(31, {"compressor_current_a": value})]) == []
    assert interpreter.figures()["limit_hits:telemetry_value"] == 1
    assert perceive(interpreter, steady(30, 32)) == []


readings = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.dictionaries(st.sampled_from(["x", "y_c"]), st.sampled_from([1.0, 1.1, 5.0, 40.0, -3.0]), max_size=2),
        st.sampled_from([1.0, 60.0, 60.0, 60.0, 5000.0]),
    ),
    max_size=150,
)


@settings(max_examples=40, deadline=None)
@given(readings, st.integers(0, 150))
def test_a_snapshot_continues_the_same(log, cut):
    now, perceptions = START, []
    for i, (source, telemetry, gap) in enumerate(log, 1):
        now += gap
        perceptions.append(read_off(i, telemetry, now, source))
    whole = perceive(reading(), perceptions, batch=1)
    interpreter = reading()
    first = perceive(interpreter, perceptions[:cut], batch=1)
    again = restored(interpreter, reading())
    assert again.figures() == interpreter.figures()
    assert told(first + perceive(again, perceptions[cut:], batch=1)) == told(whole)
    keys = [(tuple(p.id for p in e.perceptions), e.part) for e in whole]
    assert len(set(keys)) == len(keys)
    assert all(0 <= e.salience <= 1 for e in whole)
