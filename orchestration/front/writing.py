"""Batches on their way to the leader, written straight to the wire: the message that a front sends most often."""

from functools import lru_cache

from environment.messages import Instant, PerceptionBatch
from orchestration.gateway.acknowledging import varint
from orchestration.pb.submind.v1 import forwarding_pb2
from orchestration.pb.submind.v1 import perception_pb2 as pb
from orchestration.schema.times import timestamp

_varint = lru_cache(maxsize=4096)(varint)


@lru_cache(maxsize=1024)
def _source(source: str) -> bytes:
    raw = source.encode()
    return b"\x0a" + _varint(len(raw)) + raw


@lru_cache(maxsize=1024)
def _time(time: Instant) -> bytes:
    raw = timestamp(time).SerializeToString()
    return b"\x12" + _varint(len(raw)) + raw


def _rest(batch: PerceptionBatch, place: int) -> bytes:
    """Labels and payload of a perception that is more than text."""
    row = pb.Perception()
    if batch.text and (text := batch.text[place]) is not None:
        row.text = text
    if batch.labels:
        row.labels.update(batch.labels[place])
    if batch.telemetry and (readings := batch.telemetry[place]) is not None:
        row.telemetry.values.update(readings)
    if batch.image and (image := batch.image[place]) is not None:
        row.image.data, row.image.media_type = image.data, image.media_type
    return row.SerializeToString()


def encoded(batch: PerceptionBatch, keys: list[str]) -> bytes:
    """``PerceiveStreamRequest`` without its number. Receiving time and trust do not travel: the leader gives them.

    Text alone, which most perceptions are, costs a third of what messages would.
    """
    plain = not (any(batch.labels) or any(batch.telemetry) or any(batch.image))
    texts = batch.text or [None] * len(batch)
    parts: list[bytes] = []
    for place, (source, time, key, text) in enumerate(zip(batch.source, batch.time, keys, texts, strict=True)):
        named = key.encode()
        if plain and text is not None:
            raw = text.encode()
            rest = b"\x2a" + _varint(len(raw)) + raw
        else:
            rest = _rest(batch, place)
        row = b"%b%b\x1a%b%b%b" % (_source(source), _time(time), _varint(len(named)), named, rest)
        parts += (b"\x12", _varint(len(row)), row)
    return b"".join(parts)


def said_of(caller: str, traceparent: str, *, recorded: bool = False) -> bytes:
    """The fields of ``ForwardedBatch`` beside the request."""
    said = forwarding_pb2.ForwardedBatch(caller=caller, traceparent=traceparent, recorded=recorded)
    return said.SerializeToString()


def forwarded(body: bytes, number: int, said: bytes) -> bytes:
    """A message of ``encoded`` as batch ``number``, which is not 0, in a ``ForwardRequest``.

    Messages that follow each other are one, with the batches of all.
    """
    number_field = b"\x08" + varint(number)
    length = varint(len(number_field) + len(body))
    inner = 1 + len(length) + len(number_field) + len(body) + len(said)
    return b"\x0a%b\x0a%b%b%b%b" % (varint(inner), length, number_field, body, said)
