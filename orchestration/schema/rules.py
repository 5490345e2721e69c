"""The rules that the schema itself says of its messages."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from orchestration.schema.errors import FieldViolation, InvalidRequest
from orchestration.schema.fields import json_name

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from protovalidate import Validator

_SHOWN = 16


def check(message: Message, *, as_json: bool = False) -> None:
    """Hold a message against the schema's rules. Raises ``InvalidRequest`` naming the fields.

    ``as_json``: by what JSON calls them.
    """
    violations = _validator().collect_violations(message)
    if violations:
        raise InvalidRequest.of([_violation(message, found.proto, as_json) for found in violations[:_SHOWN]])


@cache
def _validator() -> Validator:
    from protovalidate import Validator  # noqa: PLC0415 - who only sends waits for no rules

    return Validator()


def _violation(message: Message, violation: Any, as_json: bool) -> FieldViolation:
    """One violation as the validator tells it, with the path written as people write it."""
    path = ""
    described: Any = message.DESCRIPTOR
    for element in violation.field.elements if violation.field else ():
        field = described and described.fields_by_name.get(element.field_name)
        name = json_name(field) if as_json and field else element.field_name
        path += f".{name}" if path else name
        if element.subscript is not None:
            value = element.subscript.value
            path += f'["{value}"]' if isinstance(value, str) else f"[{value}]"
        described = field and field.message_type
    return FieldViolation(path, violation.message or violation.rule_id)
