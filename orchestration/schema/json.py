"""Messages as JSON and back: over HTTP, in ``--json`` output, in a replay. One mapping for all of them.

As ``google.protobuf.json_format`` has it, but: a field goes by its own name (or its ``json_name``), whole numbers are
numbers, durations numbers of seconds, enumerations words (``thought``); what is not set is ``null``, and so is a number
that JSON cannot write (infinite, not a number). Times are RFC 3339 in UTC with ``Z``, and read as seconds since 1970
as well. A message that holds nothing but a map is that map.
"""

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from orchestration.schema import fields
from orchestration.schema.errors import FieldViolation, InvalidRequest
from orchestration.schema.times import duration, instant, rfc3339, seconds_of, timestamp
from orchestration.telemetry.escape import escape_json

JsonObject: TypeAlias = dict[str, Any]
_Write: TypeAlias = Callable[[Any], Any]
_SHOWN = 64
_VIOLATIONS = 16
"""That are looked for in one request; then looking stops."""
_ITEMS = 8192
"""In one list: as many as the schema allows of anything."""
_MEDIA_TYPE = "application/json"
_HALF = "this is not Unicode text: it holds half of a surrogate pair"
_TRUE, _FALSE = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off"})


def dumps(value: object) -> str:
    """One line of JSON that is safe to print: no control, direction or invisible character stands in it unescaped."""
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def to_json(message: Message) -> JsonObject:
    """A message as a JSON object, every field of it in the order of their numbers, maps in that of their keys."""
    return {name: write(message) for name, write in _writers(message.DESCRIPTOR)}


@cache
def _writers(message: Descriptor) -> list[tuple[str, _Write]]:
    return [(name, _writer(field)) for name, field in fields.named(message).items()]


def _writer(field: FieldDescriptor) -> _Write:
    name = field.name
    if fields.is_map(field):
        value = _item(fields.held(field).fields_by_name["value"])
        return lambda message: {str(key): value(each) for key, each in sorted(getattr(message, name).items())}
    one = _item(field)
    if field.is_repeated:
        return lambda message: [one(each) for each in getattr(message, name)]
    if field.has_presence:
        return lambda message: one(getattr(message, name)) if message.HasField(name) else None
    return lambda message: one(getattr(message, name))


def _item(field: FieldDescriptor) -> _Write:
    name = fields.full_name(field)
    if name == fields.TIMESTAMP:
        return lambda sent: rfc3339(seconds_of(sent))
    if name == fields.DURATION:
        return seconds_of
    if name == fields.STRUCT:
        return lambda sent: {key: _finite(value) for key, value in sorted(sent.items())}
    if name and (only := fields.map_alone(fields.held(field))) is not None:
        return _writer(only)
    if name:
        return to_json
    if field.enum_type is not None:
        known = fields.words(field.enum_type)
        return lambda number: known.get(number, str(number))
    if field.cpp_type in fields.FLOATS:
        return _finite
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda raw: b64encode(raw).decode()
    return lambda value: value


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_json(message: Message, text: bytes, body: str = "", lines: str = "") -> None:
    """Take in the JSON object of a request, into ``message`` or its field ``body``.

    With ``lines`` each line is one of this repeated field; empty ones are skipped. Raises ``InvalidRequest`` naming
    every field that is wrong, up to a bound.
    """
    into: Message = message
    if body:
        into = getattr(message, body)
        into.SetInParent()
    told: Any
    if lines:
        told = {lines: []}
        for line in islice(filter(bytes.strip, text.split(b"\n")), _ITEMS + 1):
            told[lines].append(_parsed(line, f"{lines}[{len(told[lines])}]"))
    else:
        told = _parsed(text or b"{}", "body")
    found: list[FieldViolation] = []
    _fill(into, told, "", found)
    if found:
        raise InvalidRequest.of(found)


def _parsed(text: bytes, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(place, f"this is not JSON: {error}") from None


def _fill(message: Message, told: Any, path: str, found: list[FieldViolation]) -> None:
    """Take in an object; what is wrong with it goes to ``found``."""
    described: Any = message.DESCRIPTOR
    if (only := fields.map_alone(described)) is not None:
        _put(message, only, told, path, found)
        return
    if not isinstance(told, dict):
        needed = "a JSON object is needed"
        found.append(FieldViolation(path, needed) if path else FieldViolation("body", f"{needed}, as {_MEDIA_TYPE}"))
        return
    known = fields.named(described)
    for name, value in told.items():
        if len(found) >= _VIOLATIONS:
            return
        at = f"{path}.{name}" if path else name
        field = known.get(name)
        if field is None:
            found.append(FieldViolation(at[: len(path) + _SHOWN], _unknown("field", name, "there are", known)))
        elif value is None:
            continue
        elif field.containing_oneof is not None and message.WhichOneof(field.containing_oneof.name):
            others = ", ".join(fields.json_name(other) for other in field.containing_oneof.fields)
            found.append(FieldViolation(at, f"exactly one is needed of {others}"))
        else:
            _put(message, field, value, at, found)


def _put(message: Message, field: FieldDescriptor, value: Any, at: str, found: list[FieldViolation]) -> None:
    """Take in what a field is told, at the path ``at``."""
    into, item, place = getattr(message, field.name), field, at
    try:
        if fields.is_map(field):
            item = fields.held(field).fields_by_name["value"]
            for name, each in _such(value, dict, "a JSON object").items():
                place = f"{at}.{name[:_SHOWN]}"
                into[name] = _plain(item, each)
        elif field.is_repeated:
            for number, each in enumerate(_listed(value)):
                if len(found) >= _VIOLATIONS:
                    return
                place = f"{at}[{number}]"
                if fields.full_name(field):
                    _fill(into.add(), each, place, found)
                else:
                    into.append(_plain(field, each))
        elif fields.full_name(field) in {fields.TIMESTAMP, fields.DURATION}:
            into.CopyFrom(_plain(field, value))
        elif fields.full_name(field):
            into.SetInParent()
            _fill(into, value, at, found)
        else:
            setattr(message, field.name, _plain(field, value))
    except (ValueError, OverflowError) as error:
        found.append(FieldViolation(place, _HALF if isinstance(error, UnicodeError) else str(error)))


def _listed(value: Any) -> list[Any]:
    listed: list[Any] = _such(value, list, "an array")
    if len(listed) > _ITEMS:
        raise ValueError(f"more than {_ITEMS} are never taken at once")
    return listed


def _such(value: Any, kind: Any, needed: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{needed} is needed here")
    return value


def _plain(field: FieldDescriptor, value: Any) -> Any:
    """A value that JSON tells, as the field takes it. Raises ``ValueError`` or ``OverflowError``."""
    name = fields.full_name(field)
    if name == fields.TIMESTAMP:
        return timestamp(instant(str(value)))
    if name == fields.DURATION:
        return duration(_such(value, int | float, "a number of seconds"))
    if field.enum_type is not None:
        return _value(field, _such(value, str, "a word"))
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return _such(value, bool, "true or false")
    if field.cpp_type in fields.INTEGERS:
        return _such(value, int, "a whole number")
    if field.cpp_type in fields.FLOATS:
        return float(_such(value, int | float, "a number"))
    text = _such(value, str, "text")
    if field.type == FieldDescriptor.TYPE_BYTES:
        try:
            return b64decode(text, validate=True)
        except ValueError:
            raise ValueError("bytes are told in base64, without line breaks") from None
    return text


def read_query(message: Message, asked: Iterable[tuple[str, str]], given: Iterable[str] = ()) -> None:
    """Take in what stands behind the question mark of a path. Raises ``InvalidRequest``.

    ``given``: fields that the path says already. A name that is not known is refused, not left out.
    """
    known = {name: field for name, field in fields.named(message.DESCRIPTOR).items() if name not in set(given)}
    for name, text in asked:
        field = known.get(name)
        if field is None:
            raise unknown_parameter(name, known)
        read_text(message, field, name, text)


def unknown_parameter(name: str, known: Iterable[str]) -> InvalidRequest:
    """The refusal of a parameter that is none of those ``known``."""
    return InvalidRequest(name[:_SHOWN], _unknown("parameter", name, "this path takes", known))


def _unknown(what: str, name: str, there_are: str, known: Iterable[str]) -> str:
    takes = sorted(known)
    near = get_close_matches(name[:_SHOWN], takes, 1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f"there is no such {what}: {meant}{there_are} {', '.join(takes) or 'none'}"


def read_text(message: Message, field: FieldDescriptor, name: str, text: str) -> None:
    """Take in one field of a query or a path. Raises ``InvalidRequest``, under ``name``."""
    try:
        value = _value(field, text)
        if fields.full_name(field) == fields.TIMESTAMP:
            getattr(message, field.name).CopyFrom(value)
        elif field.is_repeated:
            getattr(message, field.name).append(value)
        else:
            setattr(message, field.name, value)
    except (ValueError, TypeError) as error:
        raise InvalidRequest(name, str(error)) from None


def _value(field: FieldDescriptor, text: str) -> Any:
    if fields.full_name(field) == fields.TIMESTAMP:
        return timestamp(instant(text))
    if field.enum_type is not None:
        known = fields.numbers(field.enum_type)
        if text not in known:
            raise ValueError(f"this is none of {', '.join(known)}")
        return known[text]
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        if text.lower() not in _TRUE | _FALSE:
            raise ValueError("this is neither true nor false")
        return text.lower() in _TRUE
    if field.cpp_type in fields.INTEGERS:
        if not text.removeprefix("-").isdecimal() or not text.isascii():
            raise ValueError("this is not a whole number")
        return int(text)
    if field.cpp_type in fields.FLOATS:
        return float(text)
    return text
