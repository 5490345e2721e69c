"""Frames as bytes: everything that actors say survives, in any pieces; nothing else is believed."""

import dataclasses
import typing
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.events import Candidate, Configured, Conscious, Event, FacultyEvent, Message, Post, Reinforce, Tick, Vitals
from environment.messages import Level, Trace
from orchestration.links.addresses import Endpoint
from orchestration.links.codec import Decoder, decode, encode
from orchestration.links.frames import (
    Batch,
    Configure,
    Frame,
    Full,
    Hosting,
    Listing,
    Ping,
    Pong,
    Received,
    Roster,
    Stop,
)
from orchestration.membership.tunables import settings_update
from orchestration.settings import Settings
from tests.actors.making import thought

SAID = sorted(set(typing.get_args(Event)) - {FacultyEvent}, key=lambda kind: kind.__name__)


def passed(frame):
    (decoded,) = Decoder(1 << 20).feed(encode(frame))
    return decoded


def envelopes(batch):
    return [(to, *envelope) for to, envelopes in batch.deliveries for envelope in envelopes]


def sample(kind, depth=0):
    """Some value of a type that an event's field may have."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{field.name: sample(hints[field.name], depth + 1) for field in dataclasses.fields(kind)})
    if origin is np.ndarray:
        return np.arange(4, dtype=np.float32) / 8
    if origin is tuple:
        return tuple(sample(each, depth + 1) for each in inner if each is not ...)
    if origin is frozenset:
        return frozenset([sample(inner[0], depth + 1)])
    if origin is Mapping or origin is dict:
        return {sample(inner[0], depth + 1): sample(inner[1], depth + 1)}
    if inner:  # a union
        return sample(next(each for each in inner if each is not type(None)), depth + 1)
    if hasattr(kind, "__members__"):
        return next(iter(kind))
    return {str: "a", int: 3, float: 0.25, bool: True, bytes: b"b", object: "plain"}[kind]


@pytest.mark.parametrize("kind", [kind for kind in SAID if kind is not Configured], ids=lambda kind: kind.__name__)
def test_whatever_an_actor_says_arrives_as_it_was_said(kind):
    event = sample(kind)
    ((_, got, priority),) = envelopes(passed(Batch("p", "l", 1, [("peer", [(event, 0.5)])])))
    assert type(got) is kind
    assert priority == 0.5
    assert same(got, event)


def same(one, other):
    """Equality that looks into what events compare no vectors of."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype == np.float32 and np.array_equal(one, other)
    if dataclasses.is_dataclass(one):
        fields = [field.name for field in dataclasses.fields(one)]
        return type(one) is type(other) and all(same(getattr(one, name), getattr(other, name)) for name in fields)
    if isinstance(one, tuple):
        return type(one) is type(other) and all(map(same, one, other)) and len(one) == len(other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def test_settings_that_were_changed_arrive_whole():
    event = settings_update(Settings(), 3)
    assert passed(Configure("peer", event)) == Configure("peer", event)


FRAMES = [
    Received(4),
    Full(("a", "b"), ("c",), whole=True),
    Ping("peer"),
    Pong("peer", {"born": 1.0}),
    Stop("peer"),
    Hosting(Endpoint("m", "p", "h", 4), ("a",), ("b",), whole=True),
    Listing({"a": Endpoint("m", "p"), "b": None}, whole=True),
    Roster("pumps~1", 2, (("pumps-1", "cognitive", ("Find out why.", "Say so.")),), ("lamps-2",)),
]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__name__)
def test_every_frame_arrives_as_it_was(frame):
    assert passed(frame) == frame


def test_there_is_no_frame_but_these():
    assert {type(frame) for frame in FRAMES} | {Batch, Configure} == set(typing.get_args(Frame))


EVENTS = st.sampled_from(
    [
        Tick(),
        Reinforce("t", "me", 0.1, ("a",)),
        Vitals("me", {"x": 1.0}),
        Post("me", (thought(),), "token"),
        Message(thought(), "me", "topic", "label", 0.5),
        Conscious(
            Candidate("c", "thought", "x", 1.0, 0.5, 0.5, 0.5, Trace(thought(), 1, Level(0.5, 1.0, 60.0)), (), ("a",))
        ),
    ]
)
PARCELS = st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.tuples(EVENTS, st.floats(0, 1)), min_size=1)))


@settings(max_examples=60)
@given(st.lists(PARCELS, max_size=4), st.integers(1, 70))
def test_mixed_batches_survive_any_cut_of_the_stream_in_their_order(batches, cut):
    sent = [Batch("p", "l", number, deliveries) for number, deliveries in enumerate(batches)]
    data = b"".join(encode(frame) for frame in sent)
    decoder = Decoder(1 << 20)
    got = [frame for at in range(0, len(data), cut) for frame in decoder.feed(data[at : at + cut])]
    assert [frame.first for frame in got] == [frame.first for frame in sent]
    assert [envelopes(frame) for frame in got] == [envelopes(frame) for frame in sent]
    assert not decoder._bytes


def test_numbers_of_numpy_travel_as_plain_ones():
    event = Vitals("me", {"x": np.float32(0.5), "n": np.int64(3)})
    ((_, got, _),) = envelopes(passed(Batch("p", "l", 1, [("peer", [(event, np.float32(0.25))])])))
    assert got == Vitals("me", {"x": 0.5, "n": 3.0})


def test_what_is_no_event_is_not_written():
    with pytest.raises(TypeError, match="cannot hold a object"):
        encode(Batch("p", "l", 1, [("peer", [(Vitals("me", {"x": object()}), 0.5)])]))


def test_a_length_that_nobody_writes_is_refused():
    with pytest.raises(ValueError, match="at most 1000"):
        list(Decoder(1000).feed(b"\xff\xff\xff\xff"))


@given(st.binary(max_size=100))
def test_garbage_is_refused_with_one_kind_of_error(body):
    try:
        decode(body)
    except ValueError:
        return


def test_a_wrong_type_within_an_event_is_refused():
    wrong = encode(Batch("p", "l", 1, [("peer", [(Reinforce("t", "me", "much"), 0.5)])]))
    with pytest.raises(ValueError, match="not a frame"):
        list(Decoder(1000).feed(wrong))
