"""A wall clock that was wrong: how far back it may be set, and what it dated, once somebody has set it right.

A machine that took local time for UTC when it started is hours ahead until somebody tells it. Whatever was dated then
lies in a future that may be years away. So an actor's life ends when its clock is set back, and what the next one reads
is dated anew.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec
from msgspec import inspect

from environment.messages import Instant, Perception

SET_BACK = 600.0
"""Seconds by which a clock is set back from which it was wrong before. Less than that is what clocks of several
machines differ by."""

_Visit: TypeAlias = Callable[[float, bool], float]
"""Given an instant and whether it is a deadline: the instant instead."""
_Walker: TypeAlias = Callable[[Any, _Visit], Any]


class ClockSetBack(Exception):
    """The clock was set back by so much that it was wrong: this life ends, the next one dates anew what it reads."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)

    def __str__(self) -> str:
        return f"the clock was set back by {self.args[0]:.0f} s: what it dated counts from now"


def was_wrong(at: Instant, now: Instant) -> bool:
    """Whether the clock that showed ``at`` must have been set back since."""
    return at - now > SET_BACK


def believed(perception: Perception, now: Instant) -> Perception:
    """A perception at a time at which it can have been: not long after it was received, nor that long ahead of now."""
    if was_wrong(perception.received, now):
        perception = replace(perception, time=perception.time - (perception.received - now), received=now)
    late = was_wrong(perception.time, perception.received)
    return replace(perception, time=perception.received) if late else perception


def redated(data: bytes, kind: Any, now: Instant) -> bytes:
    """Msgpack of a ``kind``, as it would be if the clock had been right.

    Where its latest instant lies so far ahead that the clock was wrong, that was now, and all else that lies ahead was
    as long before or, a deadline, is due as long after. Raises ``ValueError`` for what is no msgpack.
    """
    walk = _walk_of(kind)
    if walk is None:
        return data
    value, seen = msgspec.msgpack.decode(data), [now]

    def see(at: float, due: bool) -> float:
        if not due:
            seen.append(at)
        return at

    walk(value, see)
    ahead = max(seen) - now
    if not was_wrong(max(seen), now):
        return data
    return msgspec.msgpack.encode(walk(value, lambda at, _: at - ahead if at > now else at))


@lru_cache(maxsize=64)
def _walk_of(kind: Any) -> _Walker | None:
    return _walk(inspect.type_info(kind))


def _walk(kind: inspect.Type) -> _Walker | None:
    """How to visit every instant of a value, decoded without its type; None where there can be none."""
    match kind:
        case inspect.Metadata(extra={"dated": due}):
            return lambda value, visit: visit(value, due) if isinstance(value, float) else value
        case inspect.Metadata(type=inner):
            return _walk(inner)
        case inspect.UnionType(types=types):
            return next((walk for each in types if (walk := _walk(each))), None)
        case inspect.CollectionType(item_type=item) | inspect.DictType(value_type=item):
            return _every(_walk(item))
        case inspect.TupleType(item_types=items):
            return _parts(dict(enumerate(map(_walk, items))))
        case inspect.StructType(fields=fields, array_like=True):
            return _parts({place: _walk(each.type) for place, each in enumerate(fields)})
        case inspect.StructType(fields=fields) | inspect.DataclassType(fields=fields):
            return _parts({each.encode_name: _walk(each.type) for each in fields})
    return None


def _every(item: _Walker | None) -> _Walker | None:
    """Of a list or dict whose parts are all of one type."""
    if item is None:
        return None

    def walk(value: Any, visit: _Visit) -> Any:
        if isinstance(value, dict):
            return {key: item(each, visit) for key, each in value.items()}
        return [item(each, visit) for each in value] if isinstance(value, list) else value

    return walk


def _parts(walks: dict[Any, _Walker | None]) -> _Walker | None:
    """Of a list or dict whose parts, by place or name, are of types of their own."""
    dated = {key: walk for key, walk in walks.items() if walk is not None}

    def walk(value: Any, visit: _Visit) -> Any:
        changed = value.copy() if isinstance(value, list | dict) else value
        for key, part in dated.items():
            if key in value if isinstance(value, dict) else isinstance(value, list) and key < len(value):
                changed[key] = part(value[key], visit)
        return changed

    return walk if dated else None
