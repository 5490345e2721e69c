"""Ids that every process finds by itself, the queue of spans, and a real receiver of them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace.sampling import Decision, TraceIdRatioBased
from pydantic import ValidationError

from environment.identity import perception_id
from environment.messages import Receipts
from orchestration.telemetry.settings import TracingSettings
from orchestration.telemetry.tracing.export import headers_in, otlp
from orchestration.telemetry.tracing.ids import TraceIds, caller_of, span_id
from orchestration.telemetry.tracing.intake_spans import IntakeSpans
from orchestration.telemetry.tracing.spans import Recorder, Span
from tests.servers.otlp import OtlpReceiver

CALLED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def receiver():
    with_it = OtlpReceiver()
    yield with_it
    with_it.stop()


def recorder_to(endpoint, **changes):
    settings = TracingSettings(**{"endpoint": endpoint, "sample": 1.0, "every": 0.05, "timeout": 1.0, **changes})
    return Recorder("alpha", settings, otlp(settings, "alpha", "host", "1"), time.time_ns)


def span(number, **changes):
    return Span(**{"name": "think", "trace": 7, "id": number, "parent": None, "start": 1, "end": 2, **changes})


def test_a_trace_id_follows_from_mind_and_perception_alone():
    ids, again = TraceIds("alpha", 1.0), TraceIds("alpha", 0.3)
    assert ids.of("p-1") == again.of("p-1")
    assert len({ids.of("p-1"), ids.of("p-2"), TraceIds("beta", 1.0).of("p-1")}) == 3
    assert span_id(1, "a", "bc") != span_id(1, "ab", "c")
    assert span_id(1, "a") != span_id(2, "a")


@given(st.integers(1, 2**60), st.floats(0, 1))
def test_sampling_is_opentelemetry_s_own_rule(seq, share):
    ids = TraceIds("alpha", share)
    trace = ids.of(perception_id(seq))
    theirs = TraceIdRatioBased(share).should_sample(None, trace, "accept").decision is Decision.RECORD_AND_SAMPLE
    assert (ids.traced(perception_id(seq)) == trace) is theirs


def test_a_traceparent_is_read_and_nonsense_is_ignored():
    caller = caller_of(CALLED)
    assert caller.sampled
    assert f"{caller.trace:032x}" in CALLED
    assert f"{caller.span:016x}" in CALLED
    assert not caller_of(CALLED[:-1] + "0").sampled
    assert caller_of("01" + CALLED[2:] + "-what-comes-later") is not None
    bad = [
        "",
        "x",
        CALLED + "-more",
        CALLED.upper(),
        "ff" + CALLED[2:],
        CALLED.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32),
    ]
    assert [caller_of(one) for one in bad] == [None] * len(bad)


def test_spans_arrive_as_they_were_recorded(receiver, tmp_path):
    headers = tmp_path / "headers"
    headers.write_text("X-Key: abc\n\n")
    recorder = recorder_to(receiver.endpoint, headers_file=headers)
    recorder.start()
    recorder.record(span(9, parent=8, attributes={"submind.actor": "text"}, links=((5, 6),)))
    receiver.until(lambda: receiver.spans)
    recorder.close()
    (arrived,) = receiver.spans.values()
    assert arrived["trace"] == f"{7:032x}"
    assert (arrived["parent"], arrived["actor"], arrived["mind"]) == (f"{8:016x}", "text", "alpha")
    assert arrived["links"] == [(f"{5:032x}", f"{6:016x}")]
    assert receiver.headers["x-key"] == "abc"
    assert recorder.figures()["spans_sent_total"] == 1


def test_the_queue_is_bounded_and_every_span_is_counted(receiver):
    recorder = recorder_to(receiver.endpoint, queue=10)
    for number in range(1, 31):
        recorder.record(span(number))
    recorder.record(span(30))  # the same again is no news
    assert recorder.figures() == {
        "spans_waiting": 10, "spans_sent_total": 0, "spans_dropped_total": 20, "spans_failed_total": 0
    }  # fmt: skip
    recorder.start()
    recorder.close()
    assert recorder.figures()["spans_sent_total"] == 10
    assert len(receiver.spans) == 10


def test_a_receiver_that_is_away_costs_spans_and_nothing_else():
    gone = OtlpReceiver()
    gone.stop()
    recorder = recorder_to(gone.endpoint, timeout=20)
    recorder.start()
    recorder.record(span(1))
    end = time.monotonic() + 60
    while recorder.figures()["spans_failed_total"] == 0 and time.monotonic() < end:
        time.sleep(0.05)
    back = OtlpReceiver(gone.port)
    recorder.record(span(2))
    back.until(lambda: back.spans)
    recorder.close()
    back.stop()
    figures = recorder.figures()
    assert figures["spans_failed_total"] == 1
    assert figures["spans_sent_total"] == 1


def test_an_exporter_that_cannot_be_made_stops_nobody(tmp_path):
    recorder = recorder_to("https://127.0.0.1:1", ca_file=tmp_path / "missing")
    recorder.start()
    recorder.close()
    recorder.record(span(1))
    assert recorder.figures()["spans_dropped_total"] == 1


def test_headers_are_lines(tmp_path):
    file = tmp_path / "headers"
    file.write_text("a: b\nnonsense\n")
    with pytest.raises(ValueError, match="line 2 of"):
        headers_in(file)


@pytest.mark.parametrize(
    "endpoint", ["otel:4317", "http://otel", "ftp://otel:4317", "http://otel:4317/v1", "http://o:x"]
)
def test_an_endpoint_that_is_none_is_refused_with_what_would_be_one(endpoint):
    with pytest.raises(ValidationError, match="write http://HOST:PORT"):
        TracingSettings(endpoint=endpoint)


def test_a_batch_begins_a_trace_for_each_new_perception_and_is_linked_with_its_caller(receiver):
    recorder = recorder_to(receiver.endpoint)
    IntakeSpans(recorder).accepted(Receipts(first=5, count=3, known={1: 2}), caller_of(CALLED), 0.25, 0.1)
    recorder.start()
    recorder.close()
    accepts, commits, (request,) = (receiver.named(name) for name in ("accept", "commit", "take in"))
    assert [one["perception"] for one in accepts] == [perception_id(5), perception_id(6)]
    assert all(one["parent"] == "" for one in accepts)
    assert [one["parent"] for one in commits] == [one["id"] for one in accepts]
    assert request["trace"] in CALLED
    assert request["parent"] in CALLED
    assert request["links"] == [(one["trace"], one["id"]) for one in accepts]
    assert all(one["links"] == [(request["trace"], request["id"])] for one in accepts)
    assert 0.2e9 < accepts[0]["end"] - accepts[0]["start"] < 0.3e9


def test_a_caller_that_does_not_record_is_linked_itself(receiver):
    recorder = recorder_to(receiver.endpoint)
    caller = caller_of(CALLED[:-1] + "0")
    IntakeSpans(recorder).accepted(Receipts(first=1, count=1), caller, 0.1, 0.1)
    recorder.start()
    recorder.close()
    (accept,) = receiver.named("accept")
    assert accept["links"] == [(f"{caller.trace:032x}", f"{caller.span:016x}")]
    assert not receiver.named("take in")
