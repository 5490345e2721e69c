"""What a field of a message is: what JSON calls it, and the words of its enumeration."""

import re
from functools import cache

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

TIMESTAMP, DURATION, STRUCT = (f"google.protobuf.{name}" for name in ("Timestamp", "Duration", "Struct"))
INTEGERS = frozenset(
    {FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT32,
     FieldDescriptor.CPPTYPE_UINT64}
)  # fmt: skip
FLOATS = frozenset({FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT})


def json_name(field: FieldDescriptor) -> str:
    """What JSON and queries call it: as the proto file says with ``json_name``, else its own name."""
    usual = re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), field.name)
    return field.name if field.json_name == usual else field.json_name


@cache
def named(message: Descriptor) -> dict[str, FieldDescriptor]:
    """The fields of a message by what JSON calls them."""
    return {json_name(field): field for field in message.fields}


@cache
def words(enum: EnumDescriptor) -> dict[int, str]:
    """The numbers of an enumeration to their words: ``ENTRY_KIND_THOUGHT`` is ``thought``."""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return {value.number: value.name.removeprefix(prefix).lower() for value in enum.values}


@cache
def numbers(enum: EnumDescriptor) -> dict[str, int]:
    """The other way round, without what stands for nothing."""
    return {word: number for number, word in words(enum).items() if number}


def is_map(field: FieldDescriptor) -> bool:
    """Whether it maps keys to values."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


@cache
def map_alone(message: Descriptor) -> FieldDescriptor | None:
    """The one field of a message that holds nothing but a map."""
    return message.fields[0] if len(message.fields) == 1 and is_map(message.fields[0]) else None


def held(field: FieldDescriptor) -> Descriptor:
    """The message that it holds, or each of its values."""
    if field.message_type is None:
        raise TypeError(f"{field.full_name} holds no message")
    return field.message_type


def full_name(field: FieldDescriptor) -> str:
    """Of the message it holds; empty where it holds none."""
    return "" if field.message_type is None else field.message_type.full_name
