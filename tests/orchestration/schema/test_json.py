"""JSON has the promised keys, holds hostile text safely, and times survive."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.pb.submind.v1 import consciousness_pb2, environment_pb2, mind_pb2, perception_pb2
from orchestration.schema.convert import decode, encode
from orchestration.schema.errors import InvalidRequest
from orchestration.schema.json import dumps, read_json, read_query, to_json
from orchestration.schema.times import instant, rfc3339, timestamp
from orchestration.schema.trace_messages import encode_trace
from orchestration.view.changes import ChangeFilter
from tests.environment.stores.making import change, connection, entry, report, trace


def entry_json(made):
    return to_json(encode(consciousness_pb2.StreamEntry, made))


def test_keys_are_those_promised():
    assert list(entry_json(entry(1))) == (
        "seq id kind text time at salience confidence trust perceptions lineage focus author worded_by "
        "severity why".split()
    )
    assert list(to_json(encode_trace(trace(1), 0.5))) == (
        "id version author authors kind text time at salience level live confidence trust topic parents perceptions "
        "associations emotions evidence insights count conscious depth via first_salience worded_by".split()
    )
    assert list(to_json(encode(mind_pb2.SubmindReport, report()))) == (
        "name role goal state at topics mailbox metrics reason".split()
    )
    assert list(to_json(encode(mind_pb2.Connection, connection()))) == (
        "owner topic label peer weight ltp uses credited last_use history".split()
    )
    assert list(to_json(encode(mind_pb2.ConnectionChange, change()))) == (
        "mark owner topic label peer at kind weight reason".split()
    )


def test_values_are_numbers_words_and_times_and_null_where_there_is_none():
    told = to_json(encode_trace(trace(1), 0.5))
    assert (told["kind"], told["conscious"], told["salience"]) == ("percept", None, 0.5)
    assert told["level"] == {"value": told["level"]["value"], "at": rfc3339(trace(1).level.at), "half_life": 3600.0}
    assert isinstance(entry_json(entry(7))["seq"], int)
    assert entry_json(entry(7))["time"] == rfc3339(entry(7).time)
    used = to_json(encode(mind_pb2.Connection, connection()))["history"][0]
    assert list(used) == ["time", "outcome"]


def test_a_word_of_a_later_version_reads_as_the_first_and_an_unset_condition_as_none():
    sent = consciousness_pb2.StreamEntry(seq=1, kind=99)
    assert to_json(sent)["kind"] == "99"
    assert decode(type(entry(1)), sent).kind.value == "thought"
    assert decode(ChangeFilter, mind_pb2.ListConnectionChangesRequest()) == ChangeFilter()


def test_a_query_is_read_by_the_names_of_json_and_what_it_cannot_say_is_named():
    asked = environment_pb2.SearchRequest()
    read_query(asked, [("q", "pump"), ("k", "3"), ("kind", "insight"), ("since", "12.5"), ("min_salience", "0.5")])
    assert (asked.text, asked.k, asked.kind, asked.since.nanos) == ("pump", 3, 2, 500_000_000)
    for name, text in (("k", "many"), ("k", "\u0663"), ("kind", "dream"), ("since", "noon"), ("k", "-1")):
        with pytest.raises(InvalidRequest) as wrong:
            read_query(asked, [(name, text)])
        assert wrong.value.field == name
    with pytest.raises(InvalidRequest, match="did you mean 'source'"):
        read_query(asked, [("sourc", "ops")])


def test_what_json_tells_is_read_as_the_schema_has_it_and_every_wrong_field_is_named():
    told = [
        {"source": "ops", "time": 12.5, "text": "a", "key": "k", "labels": {"hall": "two"}},
        {"source": "host", "time": "1970-01-01T00:00:10Z", "telemetry": {"load": 1}, "text": None},
        {"source": "cam", "image": {"data": "AAE=", "media_type": "image/png"}},
    ]
    sent = [
        perception_pb2.Perception(source="ops", time=timestamp(12.5), text="a", key="k", labels={"hall": "two"}),
        perception_pb2.Perception(source="host", time=timestamp(10.0), telemetry={"values": {"load": 1.0}}),
        perception_pb2.Perception(source="cam", image={"data": b"\0\1", "media_type": "image/png"}),
    ]
    whole, by_line = perception_pb2.PerceiveRequest(), perception_pb2.PerceiveRequest()
    read_json(whole, json.dumps({"perceptions": told}).encode())
    read_json(by_line, b"\n\n".join(json.dumps(each).encode() for each in told), lines="perceptions")
    assert list(whole.perceptions) == list(by_line.perceptions) == sent
    assert to_json(sent[1])["telemetry"] == {"load": 1.0}
    wrong = [
        {"text": True, "labels": [], "sourse": "x"},
        7,
        {"telemetry": {"a": "1", "b": 2}, "text": "x"},
        {"key": "\ud800"},
    ]
    with pytest.raises(InvalidRequest) as refused:
        read_json(perception_pb2.PerceiveRequest(), json.dumps({"perceptions": wrong}).encode())
    found = {one.field: one.why for one in refused.value.violations}
    places = "[0].text [0].labels [0].sourse [1] [2].telemetry.a [2].text [3].key".split()
    assert list(found) == [f"perceptions{place}" for place in places]
    assert "did you mean 'source'?" in found["perceptions[0].sourse"]
    assert "text, telemetry, image" in found["perceptions[2].text"]


def violations(body, **how):
    request = perception_pb2.PerceiveRequest()
    try:
        read_json(request, body.encode(), **how)
    except InvalidRequest as refused:
        return refused.violations
    finally:
        assert len(request.perceptions) <= 8192
    return ()


@pytest.mark.parametrize(("one", "most"), [("{}", 0), ("7", 16), (f'{{"labels": {{"{"n" * 10_000}": 1}}}}', 16)])
def test_what_is_taken_in_and_told_of_a_body_is_bounded(one, most):
    for count, wrong in ((8192, most), (8193, 1)):
        for found in (
            violations(f'{{"perceptions": [{",".join([one] * count)}]}}'),
            violations("\n".join([one] * count), lines="perceptions"),
        ):
            assert len(found) == wrong
            assert all(len(each.field) < 128 for each in found)


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


def test_maps_are_told_in_the_order_of_their_keys():
    parts = dict.fromkeys("tempo feeling goal alarm information threat talk surprise".split(), 1.0)
    told = to_json(consciousness_pb2.Decision(parts=parts))
    assert list(told["parts"]) == sorted(parts)
