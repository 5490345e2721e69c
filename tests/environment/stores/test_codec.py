"""Rows outlive the version that wrote them."""

import msgspec
import numpy as np
import pytest

from environment.messages import NewPerception, PerceptionBatch, Thought
from environment.stores.codec import decode_entry, decode_perceptions, decode_thought, encode, encode_perceptions
from tests.environment.stores.making import entry, perception, trace


def test_a_field_added_later_has_its_default_in_older_rows():
    older = msgspec.msgpack.decode(encode(trace(1).thought))
    for added in ("insights", "count", "emotions"):
        del older[added]
    read = decode_thought(msgspec.msgpack.encode(older))
    assert (read.insights, read.count, dict(read.emotions)) == ((), 1, {})
    assert read.text == trace(1).thought.text


def test_a_field_dropped_later_is_passed_over():
    batch = PerceptionBatch.of([perception(1), perception(2)])
    newer = msgspec.msgpack.decode(encode_perceptions(batch)) | {"mood": ["grey"]}
    assert decode_perceptions(msgspec.msgpack.encode(newer)).text == batch.text


def test_perceptions_of_an_older_version_have_the_defaults_of_what_came_later():
    older = msgspec.msgpack.decode(encode_perceptions(PerceptionBatch.of([perception(1), perception(2)])))
    read = decode_perceptions(msgspec.msgpack.encode({n: older[n] for n in ("count", "source", "time", "received")}))
    assert (read.labels, read.trust, read.key, read.text) == ([{}, {}], [0.5, 0.5], [None, None], [None, None])
    assert perception(1).trust == 0.5


def test_a_column_that_lacks_a_value_is_refused():
    torn = msgspec.msgpack.decode(encode_perceptions(PerceptionBatch.of([perception(n) for n in range(3)])))
    torn["text"] = torn["text"][:2]
    with pytest.raises(msgspec.DecodeError, match="column"):
        decode_perceptions(msgspec.msgpack.encode(torn))


def test_equal_messages_give_equal_bytes():
    assert encode(entry(3)) == encode(decode_entry(encode(entry(3))))
    assert encode(trace(3).thought) == encode(decode_thought(encode(trace(3).thought)))


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x80", b'{"source": 3}', b"\x81\xa6source\x03", b"\x80\x04K\x01."])
def test_nonsense_is_refused(body):
    with pytest.raises(msgspec.DecodeError):
        decode_perceptions(body)
    with pytest.raises(msgspec.DecodeError):
        decode_thought(body)


def test_what_no_message_holds_is_refused():
    with pytest.raises(TypeError, match="object"):
        encode_perceptions(PerceptionBatch.of([NewPerception("ops", 0.0, 0.0, labels={"x": object()})]))


def test_a_zero_vector_stays_zero():
    nothing: Thought = decode_thought(encode(trace(1).thought.__class__(**_fields(np.zeros(4, np.float32)))))
    assert nothing.vector.tolist() == [0, 0, 0, 0]


def _fields(vector: np.ndarray) -> dict[str, object]:
    thought = trace(1).thought
    return {name: getattr(thought, name) for name in Thought.__dataclass_fields__} | {"vector": vector}
