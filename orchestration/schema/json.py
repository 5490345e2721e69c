"""Messages as JSON and back: over HTTP, in ``--json`` output, in a replay. One mapping for all of them.

As ``google.protobuf.json_format`` has it, but: a field goes by its own name (or its ``json_name``), whole numbers are
numbers, durations numbers of seconds, enumerations words (``thought``); what is not set is ``null``, and so is a number
that JSON cannot write (infinite, not a number). Times are RFC 3339 in UTC with ``Z``.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message

from orchestration.schema.errors import InvalidRequest
from orchestration.schema.fields import (
    DURATION,
    FLOATS,
    INTEGERS,
    STRUCT,
    TIMESTAMP,
    full_name,
    held,
    is_map,
    named,
    numbers,
    words,
)
from orchestration.schema.times import instant, rfc3339, seconds_of, timestamp
from orchestration.telemetry.escape import escape_json

JsonObject: TypeAlias = dict[str, Any]
_Write: TypeAlias = Callable[[Any], Any]
_SHOWN = 64
_TRUE, _FALSE = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off"})


def dumps(value: object) -> str:
    """One line of JSON that is safe to print: no control, direction or invisible character stands in it unescaped."""
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def to_json(message: Message) -> JsonObject:
    """A message as a JSON object, every field of it in the order of their numbers, maps in that of their keys."""
    return {name: write(message) for name, write in _writers(message.DESCRIPTOR)}


@cache
def _writers(message: Descriptor) -> list[tuple[str, _Write]]:
    return [(name, _writer(field)) for name, field in named(message).items()]


def _writer(field: FieldDescriptor) -> _Write:
    name = field.name
    if is_map(field):
        value = _item(held(field).fields_by_name["value"])
        return lambda message: {str(key): value(each) for key, each in sorted(getattr(message, name).items())}
    one = _item(field)
    if field.is_repeated:
        return lambda message: [one(each) for each in getattr(message, name)]
    if field.has_presence:
        return lambda message: one(getattr(message, name)) if message.HasField(name) else None
    return lambda message: one(getattr(message, name))


def _item(field: FieldDescriptor) -> _Write:
    name = full_name(field)
    if name == TIMESTAMP:
        return lambda sent: rfc3339(seconds_of(sent))
    if name == DURATION:
        return seconds_of
    if name == STRUCT:
        return lambda sent: {key: _finite(value) for key, value in sorted(sent.items())}
    if name:
        return to_json
    if field.enum_type is not None:
        known = words(field.enum_type)
        return lambda number: known.get(number, str(number))
    if field.cpp_type in FLOATS:
        return _finite
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda raw: b64encode(raw).decode()
    return lambda value: value


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_json(message: Message, text: bytes, body: str) -> None:
    """Take in the JSON object of a request, into ``message`` or its field ``body``. Raises ``InvalidRequest``."""
    into: Message = message
    if body:
        into = getattr(message, body)
        into.SetInParent()
    try:
        told = json.loads(text or b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("body", f"this is not JSON: {error}") from None
    if not isinstance(told, dict):
        raise InvalidRequest("body", "a JSON object is needed, as application/json")
    enums = {name: field for name, field in named(into.DESCRIPTOR).items() if field.enum_type is not None}
    for name in enums.keys() & told.keys():
        if isinstance(told[name], str):
            read_text(into, enums[name], name, told.pop(name))
    try:
        ParseDict(told, into)
    except ParseError as error:
        raise InvalidRequest("body", f"this is not the JSON that is taken here: {error}") from None


def read_query(message: Message, asked: Iterable[tuple[str, str]], given: Iterable[str] = ()) -> None:
    """Take in what stands behind the question mark of a path. Raises ``InvalidRequest``.

    ``given``: fields that the path says already. A name that is not known is refused, not left out.
    """
    known = {name: field for name, field in named(message.DESCRIPTOR).items() if name not in set(given)}
    for name, text in asked:
        field = known.get(name)
        if field is None:
            raise unknown_parameter(name, known)
        read_text(message, field, name, text)


def unknown_parameter(name: str, known: Iterable[str]) -> InvalidRequest:
    """The refusal of a parameter that is none of those ``known``."""
    takes = sorted(known)
    near = get_close_matches(name, takes, 1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    why = f"there is no such parameter: {meant}this path takes {', '.join(takes) or 'none'}"
    return InvalidRequest(name[:_SHOWN], why)


def read_text(message: Message, field: FieldDescriptor, name: str, text: str) -> None:
    """Take in one field of a query or a path. Raises ``InvalidRequest``, under ``name``."""
    try:
        value = _value(field, text)
        if full_name(field) == TIMESTAMP:
            getattr(message, field.name).CopyFrom(value)
        elif field.is_repeated:
            getattr(message, field.name).append(value)
        else:
            setattr(message, field.name, value)
    except (ValueError, TypeError) as error:
        raise InvalidRequest(name, str(error)) from None


def _value(field: FieldDescriptor, text: str) -> Any:
    if full_name(field) == TIMESTAMP:
        return timestamp(instant(text))
    if field.enum_type is not None:
        known = numbers(field.enum_type)
        if text not in known:
            raise ValueError(f"this is none of {', '.join(known)}")
        return known[text]
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        if text.lower() not in _TRUE | _FALSE:
            raise ValueError("this is neither true nor false")
        return text.lower() in _TRUE
    if field.cpp_type in INTEGERS:
        if not text.removeprefix("-").isdecimal() or not text.isascii():
            raise ValueError("this is not a whole number")
        return int(text)
    if field.cpp_type in FLOATS:
        return float(text)
    return text
