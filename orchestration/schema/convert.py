"""Between the mind's own messages (dataclasses) and those of the schema: what has one name is one thing."""

import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct

from orchestration.schema.fields import DURATION, STRUCT, TIMESTAMP, full_name, held, is_map, numbers, words
from orchestration.schema.times import duration, seconds_of, timestamp

M = TypeVar("M", bound=Message)
D = TypeVar("D")
_Convert = Callable[[Any], Any]


def encode(kind: type[M], /, *made: object, **own: Any) -> M:
    """A message of the schema: each field from ``own``, or from the first of ``made`` that has something of its name.

    None, and what nobody has, stays unset.
    """
    given: dict[str, Any] = {}
    for name, convert in _writers(kind.DESCRIPTOR):
        value = own[name] if name in own else next((getattr(one, name) for one in made if hasattr(one, name)), None)
        if value is not None:
            given[name] = convert(value)
    return kind(**given)


@cache
def _writers(message: Descriptor) -> list[tuple[str, _Convert]]:
    return [(field.name, _writer(field)) for field in message.fields]


def _writer(field: FieldDescriptor) -> _Convert:
    if is_map(field):
        return dict
    one = _item_writer(field)
    return (lambda values: [one(value) for value in values]) if field.is_repeated else one


def _item_writer(field: FieldDescriptor) -> _Convert:
    name = full_name(field)
    if name == TIMESTAMP:
        return timestamp
    if name == DURATION:
        return duration
    if name == STRUCT:
        return _struct
    if name:
        inner = GetMessageClass(held(field))
        names = [part.name for part in held(field).fields]

        def write(value: Any) -> Message:
            if isinstance(value, Message):
                return value
            if isinstance(value, tuple):
                return encode(inner, **dict(zip(names, value, strict=True)))
            return encode(inner, value)

        return write
    if field.enum_type is not None:
        return numbers(field.enum_type).__getitem__
    return lambda value: value


def _struct(value: Mapping[str, Any]) -> Struct:
    made = Struct()
    made.update(value)
    return made


def decode(kind: type[D], sent: Message, /, **own: Any) -> D:
    """One of the mind's own messages: each field from ``own``, or as it was ``sent``; others keep their default.

    A word that this version does not know reads as the first of its enumeration.
    """
    read = {name: reader(sent) for name, reader in _readers(cast("Hashable", kind), sent.DESCRIPTOR) if name not in own}
    return kind(**read, **own)


@cache
def _readers(kind: Any, message: Descriptor) -> list[tuple[str, _Convert]]:
    hints = get_type_hints(kind)
    known = [(field.name, message.fields_by_name.get(field.name)) for field in fields(kind) if field.init]
    return [(name, _reader(field, hints[name])) for name, field in known if field is not None]


def _reader(field: FieldDescriptor, hint: Any) -> _Convert:
    name, parts = field.name, get_args(hint)
    optional = get_origin(hint) in {Union, types.UnionType} and types.NoneType in parts
    if optional:
        hint = next(part for part in parts if part is not types.NoneType)
        parts = get_args(hint)
    if is_map(field):
        return lambda sent: dict(getattr(sent, name))
    if field.is_repeated:
        gather, one = get_origin(hint), _item_reader(field, parts[0])
        return lambda sent: gather(one(value) for value in getattr(sent, name))
    one = _item_reader(field, hint)
    if not optional:
        return lambda sent: one(getattr(sent, name))
    if field.has_presence:
        return lambda sent: one(getattr(sent, name)) if sent.HasField(name) else None
    return lambda sent: one(value) if (value := getattr(sent, name)) else None


def _item_reader(field: FieldDescriptor, hint: Any) -> _Convert:
    name = full_name(field)
    if name in {TIMESTAMP, DURATION}:
        return seconds_of
    if name == STRUCT:
        return dict
    if name and get_origin(hint) is tuple:
        inner = held(field).fields
        readers = [_reader(part, its) for part, its in zip(inner, get_args(hint), strict=True)]
        return lambda sent: tuple(reader(sent) for reader in readers)
    if name:
        return lambda sent: decode(hint, sent)
    if field.enum_type is not None:
        known = words(field.enum_type)
        first = next(iter(hint))
        return lambda number: hint(known[number]) if number and number in known else first
    return lambda value: value
