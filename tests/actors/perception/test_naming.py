import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.perception.naming import figure, listed, ratio, spoken


@pytest.mark.parametrize(
    ("metric", "words", "unit"),
    [
        ("room2_compressor_a", "room2 compressor", "A"),
        ("room1_air_c", "room1 air", "°C"),
        ("disk.used.percent", "disk used", "%"),
        ("compressorCurrent", "compressor Current", ""),
        ("queue-depth", "queue depth", ""),
        ("http/latency_ms", "http latency", "ms"),
        ("count_per_min", "count", "/min"),
        ("vibration_mm_s", "vibration", "mm/s"),
        ("flow_kg_per_hour", "flow", "kg/h"),
        ("per_min", "reading", "/min"),
        ("pump_a_s", "pump a", "s"),
        ("a", "a", ""),
        ("___", "reading", ""),
        ("", "reading", ""),
        ("temp\u202eerature\x00_c", "temperature", "°C"),
    ],
)
def test_names_are_said_in_words(metric, words, unit):
    assert spoken(metric) == (words, unit)


@given(st.text(max_size=300))
def test_any_name_is_printable_and_bounded(metric):
    words, _ = spoken(metric)
    assert words
    assert words.isprintable()
    assert len(words) <= 80


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (6.2, "6.2"), (9.437, "9.44"), (0, "0"), (-3, "-3"), (1013.25, "1013"), (0.05, "0.05"), (123456, "123456"),
        (1e13, "1.00e+13"), (2.5e-7, "2.50e-07"), (99.96, "100"), (10.0, "10"), (0.1, "0.1"),
    ],
)  # fmt: skip
def test_figures(value, text):
    assert figure(value) == text


def test_units_stand_beside_figures():
    assert figure(9.4, "A") == "9.4 A"
    assert figure(38.2, "%") == "38.2%"


@given(st.floats(-1e150, 1e150))
def test_a_figure_is_within_a_hundredth_of_its_value(value):
    text = figure(value)
    assert re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?", text)
    assert abs(float(text) - value) <= 0.0051 * abs(value) + 1e-300


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (6.2, 9.4, "×1.5"),
        (9.4, 6.2, "×0.66"),
        (0, 5, "+5"),
        (5, 0, "-5"),
        (-1, 1, "+2"),
        (1, 400, "×400"),
        (400, 1, "×0.0025"),
    ],
)
def test_ratios(before, after, text):
    assert ratio(before, after) == text


def test_lists():
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcd")) == "a, b, c and d"
    assert listed(list("abcdefg")) == "a, b, c and 4 more"
