"""How much of several events a person would want to be told: what a model is asked, and what of its answer counts."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from actors.substrate.grounding import ungrounded
from actors.substrate.plain import clip, plain
from actors.substrate.ports import Request, Role

MOST = 3
"""The highest rating; the lowest is 0."""
_CHARS = 80
_RATED = re.compile(
    r'(?<!\d)(\d{1,2})"?\s*[:.)]\s*\{?\s*(?:"?want"?\s*[:=]\s*)?"?([0-3])(?!\d)"?'
    r'(?:\s*,\s*"why"\s*:\s*"((?:[^"\\]|\\.)*))?'
)


class Judgement(NamedTuple):
    """Of one event."""

    want: int
    """How much somebody would want to be told now, 0..``MOST``."""
    why: str
    """In the model's words; empty where it gave none, or told a number or name that the event has not."""


def form(count: int) -> dict[str, object]:
    """The fields of an answer, by name: one for each of so many events."""
    rated = {"want": {"type": "integer", "enum": [*range(MOST + 1)]}, "why": {"type": "string"}}
    one = {"type": "object", "properties": rated, "required": list(rated), "additionalProperties": False}
    return {str(number): one for number in range(1, count + 1)}


def judgements(said: str, request: Request) -> dict[int, Judgement]:
    """What an answer says of the events of ``request``, by their place; those that it leaves out are left out.

    Read whether it is whole, cut, fenced or no JSON at all.
    """
    events = [m for m in request.materials if m.role is Role.EVENT]
    found: dict[int, Judgement] = {}
    for number, want, why in _RATED.findall(said):
        if 0 <= (place := int(number) - 1) < len(events) and place not in found:
            told = _told(why)
            made_up = ungrounded(told, Request(request.act, request.author, (events[place],))) if told else None
            unsaid = made_up is not None and made_up.cause != "words"
            found[place] = Judgement(int(want), "" if unsaid else told)
    return found


def _told(why: str) -> str:
    try:
        return clip(plain(str(json.loads(f'"{why}"', strict=False))), _CHARS)
    except ValueError:
        return clip(plain(why), _CHARS)
