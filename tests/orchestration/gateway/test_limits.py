"""The quick look at plain batches, held against the schema's rules and the slow look."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environment.messages import Image, NewPerception, PerceptionBatch, Receipts
from orchestration.gateway import decode
from orchestration.gateway.acknowledging import acknowledgement
from orchestration.gateway.errors import IntakeRejected
from orchestration.gateway.limits import IntakeLimits
from orchestration.gateway.settings import IntakeSettings
from orchestration.pb.submind.v1 import perception_pb2
from orchestration.schema.errors import InvalidRequest
from orchestration.schema.rules import check
from orchestration.schema.times import timestamp
from tests.environment.stores.making import NOON

TIGHT = IntakeSettings(batch=3, text_bytes=12, labels=2, label_bytes=5, trust={"feed/*": 0.5})

texts = st.one_of(st.text(max_size=14), st.sampled_from(["a b", " ", "x" * 13, "\u96ea" * 5]))
sources = st.sampled_from(["ops", "feed/a", "", "a\nb", "s" * 257, "\u96ea"])
sent = st.builds(
    perception_pb2.Perception,
    source=sources,
    text=texts,
    key=st.sampled_from(["", "k", "k" * 256, "k" * 257, "\u96ea" * 100]),
    labels=st.dictionaries(st.sampled_from(["", "a", "b", "c", "n" * 129]), st.text(max_size=7), max_size=3),
)


def wrong(look):
    try:
        look()
    except InvalidRequest as error:
        return {violation.field for violation in error.violations}
    return None


@given(st.lists(sent, max_size=4), st.lists(st.floats(NOON - 1e12, NOON + 1000), min_size=4, max_size=4))
def test_what_is_let_through_keeps_every_rule_of_the_schema_and_the_plain_look_sees_no_less(perceptions, times):
    for one, time in zip(perceptions, times, strict=False):
        one.time.CopyFrom(timestamp(time))
    limits = IntakeLimits(TIGHT)
    for name in ("ops", "feed/a"):
        limits.check([NewPerception(name, NOON, NOON, "x")], NOON)
    made = decode.perceptions(perceptions, NOON, limits.trust_of)
    batch = decode.texts(perceptions, NOON, limits.known_trust)
    sent = perception_pb2.PerceiveRequest(perceptions=perceptions).ByteSize()
    size = batch and limits.size_of_plain(batch, sent, NOON)
    if wrong(lambda: limits.check(made, NOON)) is None:
        assert wrong(lambda: check(perception_pb2.PerceiveRequest(perceptions=perceptions))) is None
    if size is not None and len(made):
        assert batch == PerceptionBatch.of(made) or batch == replace(PerceptionBatch.of(made), labels=())
        assert wrong(lambda: limits.check(made, NOON)) is None
        assert size == sum(len(one.text.encode()) for one in made)


NUMBERS = st.integers(1, 1 << 40) | st.builds(
    lambda bit, off: max(1, (1 << bit) + off), st.integers(7, 40), st.integers(-3, 3)
)


@given(st.integers(0, 1 << 63), NUMBERS, st.integers(0, 300), st.sets(st.integers(0, 299), max_size=3))
def test_an_acknowledgement_is_the_message_it_stands_for(number, first, count, old):
    receipts = Receipts(first, count, {place: place + 1 for place in old if place < count})
    answer = acknowledgement(number, receipts)
    read = perception_pb2.PerceiveStreamResponse.FromString(answer)
    assert read.SerializeToString() == answer
    assert read.batch == number
    assert decode.receipts(read.receipts) == list(receipts)
    assert len(read.receipts) == count


def test_remembered_sources_are_bounded():
    limits = IntakeLimits(IntakeSettings())
    for number in range(10_000):
        limits.check([NewPerception(f"s{number}", NOON, NOON, "x")], NOON)
    assert len(limits._known) <= 4096


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "\ud800"},
        {"text": "x", "source": "\udfff"},
        {"text": "x", "key": "\ud800"},
        {"text": "x", "labels": {"a": "\ud800"}},
        {"text": "x", "labels": {"\ud800": "a"}},
        {"telemetry": {"\ud800": 1.0}},
        {"text": "x", "time": float("nan")},
        {"text": "x", "time": float("inf")},
        {"text": "x", "telemetry": {"a": 1.0}},
        {"text": "x", "image": Image(b"x", "image/png")},
        {},
    ],
)
def test_what_the_wire_could_not_carry_is_refused_from_elsewhere(fields):
    given_fields = {"source": "ops", "time": NOON, "received": NOON} | fields
    with pytest.raises(IntakeRejected) as refused:
        IntakeLimits(IntakeSettings()).check([NewPerception(**given_fields)], NOON)
    assert refused.value.field.startswith("perceptions[0].")
