"""The settings as people read them: every field with its docstring, form and default."""

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from environment.config import Seconds
from orchestration.settings import FacultySections, Moment, Settings

_UNITS = (("w", 604_800.0), ("d", 86_400.0), ("h", 3_600.0), ("m", 60.0), ("s", 1.0), ("ms", 0.001))
_SECONDS, _MOMENT = get_args(Seconds)[1], get_args(Moment)[1]
_BOUNDS = (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))
_WORDS = {int: "whole number", float: "number", bool: "true or false", str: "text", Path: "file"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A field of the tree: a section, or something that has a value."""

    path: tuple[str, ...]
    doc: str
    """Its docstring, on one line."""
    section: bool
    form: str = ""
    """What may stand there: ``duration, above 0``."""
    default: str = ""
    """As YAML on one line; empty where there is none or it is long."""

    @property
    def dotted(self) -> str:
        """``gateway.intake.trust``."""
        return ".".join(self.path)


def settings_tree(section: type[BaseModel] = Settings, above: tuple[str, ...] = ()) -> Iterator[Setting]:
    """Every field below ``section``: its values, then its sections, each before what it holds."""
    inner: list[tuple[Setting, type[BaseModel]]] = []
    docs = docstrings(section)
    for name, field in section.model_fields.items():
        path, doc, kind = (*above, name), plain(docs.get(name, "")), field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            inner.append((Setting(path, doc, section=True), kind))
        else:
            yield Setting(path, doc, section=False, form=form_of(field), default=default_of(field))
    for setting, kind in inner:
        if not kind.model_fields:  # nothing is to be set there
            continue
        yield setting
        yield from settings_tree(kind, setting.path)


def docstrings(section: type[BaseModel]) -> dict[str, str]:
    """The docstring below each field of a section, those of the sections it derives from included."""
    found: dict[str, str] = {}
    for kind in reversed(section.__mro__):
        if not issubclass(kind, BaseModel) or kind.__module__.startswith("pydantic"):
            continue
        if kind is FacultySections:  # made of what is installed: it has no text of its own
            found |= {name: field.description or "" for name, field in kind.model_fields.items()}
            continue
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        body = definition.body if isinstance(definition, ast.ClassDef) else []
        for field, below in itertools.pairwise(body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(value=str() as text)):
                    found[name] = inspect.cleandoc(text)
    return found


def plain(docstring: str) -> str:
    """A docstring on one line, its literals in single backticks."""
    return re.sub(r"``(.+?)``", r"`\1`", " ".join(docstring.split()))


def form_of(field: FieldInfo) -> str:
    """What may stand in a field, in words."""
    return _form(field.annotation, list(field.metadata))


def default_of(field: FieldInfo) -> str:
    """The default of a field as YAML on one line; empty where it has none, or holds sections."""
    if field.is_required():
        return ""
    value = field.get_default(call_default_factory=True)
    if isinstance(value, tuple | list) and any(isinstance(item, BaseModel) for item in value):
        return ""
    if isinstance(value, int | float) and _is(field, _SECONDS):
        return duration(value)
    return as_yaml(value)


def duration(seconds: float) -> str:
    """The shortest exact way to write a duration: ``90s``, ``12h``, ``30d``."""
    for unit, size in _UNITS:
        count = round(seconds / size, 9)
        if count >= 1 and count == int(count):
            return f"{int(count)}{unit}"
    digits = f"{seconds:.9f}".rstrip("0").rstrip(".")
    return f"{digits}s"


def as_yaml(value: object) -> str:
    """A value as YAML on one line."""
    text: str = yaml.safe_dump(
        _simple(value), default_flow_style=True, sort_keys=False, width=1_000_000, allow_unicode=True
    )
    return text.removesuffix("\n").removesuffix("\n...")


def _simple(value: object) -> object:
    match value:
        case Enum():
            return value.value
        case Path():
            return str(value)
        case Mapping():
            return {str(key): _simple(inner) for key, inner in value.items()}
        case AbstractSet():
            return sorted(str(inner) for inner in value)
        case list() | tuple():
            return [_simple(inner) for inner in value]
        case float() if value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - beyond, digits would be made up
            return int(value)
    return value


def _is(field: FieldInfo, validator: object) -> bool:
    return validator in field.metadata or validator in _metadata(field.annotation)


def _metadata(annotation: Any) -> list[Any]:
    """What is said about a type anywhere within it."""
    here = list(get_args(annotation)[1:]) if get_origin(annotation) is Annotated else []
    inner = [part for part in get_args(annotation) if get_origin(part) in {Annotated, Union, UnionType}]
    return here + [one for part in inner for one in _metadata(part)]


def _form(annotation: Any, metadata: list[Any]) -> str:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _form(parts[0], [*metadata, *parts[1:]])
    if origin in {Union, UnionType}:
        present = [_form(part, metadata) for part in parts if part is not NoneType]
        return " or ".join(present) + (", or null" if NoneType in parts else "")
    return f"{_kind(annotation, origin, parts, metadata)}{_bounds(metadata)}"


def _kind(annotation: Any, origin: Any, parts: tuple[Any, ...], metadata: list[Any]) -> str:
    if _SECONDS in metadata:
        return "duration"
    if _MOMENT in metadata:
        return "time"
    if origin is Literal:
        return " or ".join(f"`{choice}`" for choice in parts)
    if origin in {tuple, list, set, frozenset}:
        return f"list of {_plural(_form(parts[0], []))}"
    if origin is dict:
        return f"mapping of {_plural(_form(parts[0], []))} to {_plural(_form(parts[1], []))}"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " or ".join(f"`{choice.value}`" for choice in annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.__name__.removesuffix("Settings").lower()
    return _WORDS.get(annotation, str(annotation))


def _plural(form: str) -> str:
    outer, of, inner = form.partition(" of ")
    if of:
        return f"{outer}s of {inner}"
    word, comma, rest = form.partition(",")
    return form if word.endswith("`") else f"{word}s{comma}{rest}"  # choices are named as they are


def _bounds(metadata: list[Any]) -> str:
    told = {key: getattr(one, key) for one in metadata for key, _ in _BOUNDS if getattr(one, key, None) is not None}
    if told.get("ge") == 0 and told.get("le") == 1:
        return " in 0..1"
    if _SECONDS in metadata and told.get("ge") == 0:
        del told["ge"]
    return "".join(f", {word} {_number(told[key])}" for key, word in _BOUNDS if key in told)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"
