"""How messages are written into a row: msgpack maps, so that a field added later has its default in older rows.

Nothing is ever unpickled; what cannot be decoded raises ``msgspec.DecodeError``.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.msgpack import Decoder, Encoder

from environment import messages
from environment.vectors import decode_vector, encode_vector

T = TypeVar("T")


class _Columns(msgspec.Struct, omit_defaults=True):
    """``PerceptionBatch`` as it is written. A column that says one thing of all perceptions holds it once."""

    count: int
    source: list[str]
    time: list[messages.Instant]
    received: list[messages.Instant]
    text: list[str | None] = []
    telemetry: list[dict[str, float] | None] = []
    image: list[messages.Image | None] = []
    key: list[str | None] = []
    labels: list[dict[str, str]] = []
    trust: list[float] = []


_TRUST = 0.5
"""Of ``NewPerception``."""
_encoder = Encoder(enc_hook=encode_vector)
_columns = Decoder(_Columns)
decode_thought = Decoder(messages.Thought, dec_hook=decode_vector).decode
"""A thought, its vector as float32."""
decode_entry = Decoder(messages.StreamEntry, dec_hook=decode_vector).decode
"""An entry of the stream."""
decode_report = Decoder(messages.SubmindReport).decode
"""An actor's report."""
decode_history = Decoder(tuple[tuple[float, str], ...]).decode
"""The history of a connection, oldest first."""
decode_names = Decoder(tuple[str, ...]).decode
"""A tuple of names."""


def encode(message: messages.Thought | messages.StreamEntry | messages.SubmindReport) -> bytes:
    """One message as msgpack; equal messages give equal bytes."""
    return _encoder.encode(message)


def encode_names(names: tuple[str, ...]) -> bytes:
    """A tuple of names."""
    return _encoder.encode(names)


def decode_connection(row: Sequence[Any]) -> messages.Connection:
    """A connection from its columns, in the order of its fields."""
    owner, topic, label, peer, weight, ltp, uses, credited, last, history = row
    told = owner, topic, label, peer, weight, bool(ltp), uses, credited, last
    return messages.Connection(*told, decode_history(history))


def encode_history(connection: messages.Connection) -> bytes:
    """The history of a connection."""
    return _encoder.encode(connection.history)


def encode_perceptions(batch: messages.PerceptionBatch) -> bytes:
    """Perceptions that are kept together; equal batches give equal bytes."""
    columns = _Columns(
        len(batch),
        _once(batch.source),
        _once(batch.time),
        _once(batch.received),
        _once(batch.text),
        [None if each is None else dict(each) for each in _once(batch.telemetry)],
        _once(batch.image),
        _once(batch.key),
        [dict(each) for each in _once(batch.labels)],
        _once(batch.trust),
    )
    return _encoder.encode(columns)


def _once(column: Sequence[T]) -> list[T]:
    """The column, or its first value alone where there is no other."""
    if len(column) > 1 and column.count(column[0]) == len(column):
        return [column[0]]
    return column if isinstance(column, list) else list(column)


def decode_perceptions(body: bytes) -> messages.PerceptionBatch:
    """What was encoded together, every column in full."""
    columns = _columns.decode(body)
    count = columns.count
    return messages.PerceptionBatch(
        _each(columns.source, count, ""),
        _each(columns.time, count, 0.0),
        _each(columns.received, count, 0.0),
        _each(columns.text, count, None),
        _each(columns.telemetry, count, None),
        _each(columns.image, count, None),
        _each(columns.key, count, None),
        _each(columns.labels, count, messages.NO_LABELS),
        _each(columns.trust, count, _TRUST),
    )


def _each(column: Sequence[T], count: int, default: T) -> Sequence[T]:
    """The column with a value for each of ``count``. Raises ``msgspec.DecodeError`` where it has too few or many."""
    if len(column) == count:
        return column
    if len(column) > 1:
        raise msgspec.DecodeError(f"a column of {len(column)} values among {count} perceptions")
    return [column[0] if column else default] * count
