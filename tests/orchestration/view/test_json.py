"""JSON has the promised keys, holds hostile text safely, and times survive."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.view.json import (
    change_json,
    connection_json,
    dumps,
    entry_json,
    instant,
    report_json,
    rfc3339,
    trace_json,
)
from tests.environment.stores.contract import NOON, change, connection, entry, report, trace


def test_keys_are_those_promised():
    assert list(entry_json(entry(1))) == (
        "seq time kind text salience confidence trust perceptions lineage id focus author at".split()
    )
    assert list(trace_json(trace(1), NOON)) == (
        "id version author authors kind text time at salience level live confidence trust topic parents perceptions "
        "associations emotions insights count conscious".split()
    )
    assert list(report_json(report())) == "name role goal state at topics mailbox metrics reason".split()
    assert list(connection_json(connection())) == (
        "owner topic label peer weight ltp uses credited last_use history".split()
    )
    assert list(change_json(change())) == "mark owner topic label peer at kind weight reason".split()


@given(st.text(), st.text())
def test_any_text_round_trips_on_one_printable_line(text, name):
    line = dumps({name: [text]})
    assert json.loads(line) == {name: [text]}
    assert all(
        char.isprintable() for char in line if char not in "\u3000\xa0" and not char.isspace() and ord(char) < 0x250
    )
    assert "\n" not in line
    assert not set(line) & set("\x00\x1b\x7f\x9b\u202e\u2066\u2028\ufeff")
    line.encode("utf-8")


def test_numbers_that_json_cannot_write_become_null():
    made = entry(1)
    object.__setattr__(made, "salience", math.nan)
    object.__setattr__(made, "trust", math.inf)
    told = json.loads(dumps(entry_json(made)))
    assert (told["salience"], told["trust"]) == (None, None)


@given(st.floats(-6.2e10, 2.5e11))
def test_times_survive(time):
    assert instant(rfc3339(time)) == pytest.approx(time, abs=1e-4 if abs(time) > 1e10 else 2e-6)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01t00:00:10.5z", 10.5),
        ("1970-01-01 01:00:00+01:00", 0.0),
        ("12.5", 12.5),
    ],
)
def test_times_are_read(text, time):
    assert instant(text) == time


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-01-02", "2026-01-02T03:04:05", "nan", "inf", "1e30", "2026-13-01T00:00:00Z"]
)
def test_what_is_no_time_is_refused_with_the_form(text):
    with pytest.raises(ValueError, match="RFC 3339"):
        instant(text)


def test_times_beyond_the_calendar_are_kept_within_it():
    assert rfc3339(1e300).startswith("9999-")
    assert rfc3339(-1e300).startswith("0001-")
