"""Long lists page by page, as AIP-158 has it: a size, a token for where the next page begins, none after the last."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
_BEGINNING = "s1:"


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list, in its order."""

    items: Sequence[T]
    next: str
    """What to ask for next, as ``page_token``; empty when this is the last page."""


def size_of(asked: int, most: int) -> int:
    """How many a page is to hold: what was asked for, ``most`` where nothing was or more."""
    return min(asked, most) if asked > 0 else most


def token_of(*place: str) -> str:
    """What a page begins behind, as an opaque token."""
    return base64.urlsafe_b64encode((_BEGINNING + json.dumps(place)).encode()).decode().rstrip("=")


def place_of(token: str, parts: int) -> tuple[str, ...]:
    """The place that a token stands for: so many texts, all empty where there is no token.

    Raises ``ValueError`` for what is none of this list.
    """
    if not token:
        return ("",) * parts
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
        place = json.loads(text.removeprefix(_BEGINNING)) if text.startswith(_BEGINNING) else None
    except (binascii.Error, ValueError):
        place = None
    if not (isinstance(place, list) and len(place) == parts and all(isinstance(part, str) for part in place)):
        raise ValueError(f"{token[:64]!r} is no token of this list: leave it out to begin anew")
    return tuple(place)
