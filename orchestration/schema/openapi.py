"""The calls of the schema as OpenAPI, with what the proto files say of them."""

from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from orchestration.pb.comments import COMMENTS
from orchestration.schema import fields
from orchestration.schema.methods import Method

LINES = ("application/x-ndjson", "application/jsonl")
"""What a body of JSON lines is called."""
_SCHEMAS = "#/components/schemas/"
_QUESTIONS, _ORDERS = (404, 422), (404, 408, 409, 413, 415, 422, 429)
"""How what is asked, and what is sent, may be refused."""


def describe(into: dict[str, Any], methods: Iterable[Method], refusals: Callable[..., dict[Any, Any]]) -> None:
    """Add calls to a description.

    ``refusals``: the responses of a call that is refused, by the statuses that it may have besides the usual.
    """
    parts: dict[str, Any] = into.setdefault("components", {}).setdefault("schemas", {})
    for method in methods:
        if not method.path:
            continue
        answer: Any = method.answer.DESCRIPTOR
        if method.answered:
            answer = fields.held(answer.fields_by_name[method.answered])
        form = {"schema": _message(answer, parts)}
        kinds = ["text/event-stream"] if method.gives_stream else []
        kinds += ["application/json"] if method.ends else []
        told = {"description": COMMENTS.get(answer.full_name, ""), "content": dict.fromkeys(kinds, form)}
        call = _call(method, parts, refusals)
        call["responses"]["200"] = told
        into["paths"].setdefault(method.path, {})[method.verb.lower()] = call


def _call(method: Method, parts: dict[str, Any], refusals: Callable[..., dict[Any, Any]]) -> dict[str, Any]:
    request: Any = method.request.DESCRIPTOR
    in_path = [name for name in fields.named(request) if f"{{{name}}}" in method.path]
    ordered = method.verb == "POST"
    call: dict[str, Any] = {
        "tags": [method.path.split("/")[2]],
        "summary": method.name,
        "description": COMMENTS.get(f"{method.service}.{method.name}", method.name),
        "operationId": f"{method.service.rpartition('.')[2]}_{method.name}",
        "parameters": [
            {"name": name, "in": "path" if name in in_path else "query", "required": name in in_path,
             "description": COMMENTS.get(field.full_name, ""), "schema": _field(field, parts)}
            for name, field in fields.named(request).items()
            if name in in_path or not ordered
        ],
        "responses": {str(status): told for status, told in refusals(*_ORDERS if ordered else _QUESTIONS).items()},
    }  # fmt: skip
    if ordered:
        body = fields.held(request.fields_by_name[method.body]) if method.body else request
        content = {"application/json": {"schema": _message(body, parts)}}
        if method.lines:
            content[LINES[0]] = {"schema": _message(fields.held(request.fields_by_name[method.lines]), parts)}
        call["requestBody"] = {"required": True, "content": content}
    return call


def _message(message: Descriptor, parts: dict[str, Any]) -> dict[str, Any]:
    """A reference to a message, which is described once."""
    if message.name not in parts:
        made: dict[str, Any] = {"type": "object", "description": COMMENTS.get(message.full_name, "")}
        parts[message.name] = made
        made["properties"] = {
            name: {**_field(field, parts), "description": COMMENTS.get(field.full_name, "")}
            for name, field in fields.named(message).items()
        }
    return {"$ref": f"{_SCHEMAS}{message.name}"}


def _field(field: FieldDescriptor, parts: dict[str, Any]) -> dict[str, Any]:
    if fields.is_map(field):
        return {"type": "object", "additionalProperties": _item(fields.held(field).fields_by_name["value"], parts)}
    one = _item(field, parts)
    if field.is_repeated:
        return {"type": "array", "items": one}
    return {"anyOf": [one, {"type": "null"}]} if field.has_presence else one


def _item(field: FieldDescriptor, parts: dict[str, Any]) -> dict[str, Any]:
    name = fields.full_name(field)
    if name == fields.TIMESTAMP:
        return {"type": "string", "format": "date-time"}
    if name == fields.STRUCT:
        return {"type": "object"}
    if name == fields.DURATION or field.cpp_type in fields.FLOATS:
        return {"type": "number"}
    if name and (only := fields.map_alone(fields.held(field))) is not None:
        return _field(only, parts)
    if name:
        return _message(fields.held(field), parts)
    if field.enum_type is not None:
        return {"type": "string", "enum": [word for number, word in fields.words(field.enum_type).items() if number]}
    if field.cpp_type in fields.INTEGERS:
        return {"type": "integer"}
    return {"type": "boolean" if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL else "string"}
