"""Reads a mind's settings from file, environment and flags, and says in a sentence what is wrong with them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from orchestration.settings import Settings

PREFIX = "SUBMIND__"
"""What the environment variables of settings begin with."""

Place: TypeAlias = tuple[str | int, ...]
"""A path in the tree: ``("mind", "subminds", 3, "name")``."""


class SettingsError(Exception):
    """The configuration cannot be used: each of ``problems`` is a sentence: where, what, what would be right."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place, and where each was written."""

    values: Mapping[str, Any]
    where: Mapping[Place, str] = field(default_factory=dict)
    """What to call the place of a setting: ``mind.yaml, line 7``, ``SUBMIND__MIND__NAME``, ``--grpc``."""

    def locate(self, place: Place) -> str | None:
        """Where this layer says something about ``place``, or about what holds it; None when it does not."""
        for length in range(len(place), 0, -1):
            if place[:length] in self.where:
                return self.where[place[:length]]
        return None

    def within(self, place: Place) -> str | None:
        """Where this layer says something about a part of ``place``; None when it does not."""
        return next((told for at, told in self.where.items() if at[: len(place)] == place), None)


def load_settings(
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, tuple[str, object]] | None = None,
) -> Settings:
    """Defaults, then ``file``, then ``environ`` (the process's when None), then ``flags``.

    ``flags`` maps the option to the setting's dotted path and value: ``{"--grpc": ("gateway.grpc", "[::1]:1")}``; a
    value of None was not given. Raises ``SettingsError`` naming everything that is wrong.
    """
    layers = [from_flags(flags or {}), from_environment(os.environ if environ is None else environ)]
    if file is not None:
        layers.append(from_file(file))
    merged: dict[str, Any] = {}
    for layer in reversed(layers):
        _merge(merged, layer.values)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise SettingsError(_problems(error, layers)) from None


def overlaid(base: Settings, layer: Layer) -> Settings:
    """``base`` with ``layer`` over it, checked as a whole. Raises ``SettingsError`` naming everything that is wrong."""
    merged: dict[str, Any] = base.model_dump()
    _merge(merged, layer.values)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise SettingsError(_problems(error, [layer])) from None


def parsed(raw: str, path: str) -> object:
    """What ``raw`` says for the setting at a dotted path: text as it is, the rest as YAML."""
    return _parse(raw, tuple(path.split(".")))


def from_file(path: Path) -> Layer:
    """The settings in a YAML file. Raises ``SettingsError`` when it cannot be read, or gives a setting twice."""
    node, values = _read_yaml(path)
    if values is None:
        return Layer({})
    if not isinstance(values, dict):
        raise SettingsError([f"{path}: holds {_brief(values)}, and must hold sections such as `mind:`"])
    where: dict[Place, str] = {}
    twice: list[str] = []
    for place, number in _lines(node, (), frozenset()):
        if place in where:
            twice.append(f"{path}, line {number}: `{dotted(place)}` is given a second time: keep one of the two")
        where[place] = f"{path}, line {number}"
    if twice:
        raise SettingsError(twice)
    return Layer(values, where)


def from_environment(environ: Mapping[str, str]) -> Layer:
    """The settings in variables ``SUBMIND__SECTION__FIELD``: text as it is, the rest as YAML. Empty: not set."""
    values: dict[str, Any] = {}
    where: dict[Place, str] = {}
    for name in sorted(environ):
        raw = environ[name]
        if not name.upper().startswith(PREFIX) or not raw:
            continue
        place = tuple(name[len(PREFIX) :].lower().split("__"))
        _put(values, place, _parse(raw, place))
        where[place] = name
    return Layer(values, where)


def from_flags(flags: Mapping[str, tuple[str, object]]) -> Layer:
    """The settings given on the command line."""
    values: dict[str, Any] = {}
    where: dict[Place, str] = {}
    for option, (path, value) in flags.items():
        if value is not None:
            place = tuple(path.split("."))
            _put(values, place, value)
            where[place] = option
    return Layer(values, where)


def dotted(place: Place) -> str:
    """``mind.subminds[3].name``."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _read_yaml(path: Path) -> tuple[yaml.Node | None, object]:
    try:
        text = path.read_text(encoding="utf-8")
        return yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except FileNotFoundError:
        raise SettingsError([f"{path}: there is no such file; `submind init DIR` writes one to begin with"]) from None
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError as error:
        raise SettingsError([f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8"]) from None
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise SettingsError([f"{path}{line}: not YAML: {error.problem or error.context}"]) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError([f"{path}: not YAML: {' '.join(str(error).split())}"]) from None


def _merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        held = into.get(key)
        if isinstance(held, dict) and isinstance(value, Mapping):
            into[key] = dict(held)
            _merge(into[key], value)
        else:
            into[key] = value


def _put(values: dict[str, Any], place: Sequence[str], value: object) -> None:
    for part in place[:-1]:
        held = values.get(part)
        values[part] = held if isinstance(held, dict) else {}
        values = values[part]
    values[place[-1]] = value


def _lines(node: yaml.Node | None, place: Place, above: frozenset[int]) -> Iterator[tuple[Place, int]]:
    if node is None or id(node) in above:
        return
    above |= {id(node)}
    children: list[tuple[str | int, yaml.Node, yaml.Node]] = []
    if isinstance(node, yaml.MappingNode):
        children = [(str(key.value), key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        children = [(index, value, value) for index, value in enumerate(node.value)]
    for part, told, value in children:
        yield (*place, part), told.start_mark.line + 1
        yield from _lines(value, (*place, part), above)


def _parse(raw: str, place: Place) -> object:
    """What an environment variable says: a setting that is text takes it as it is, any other reads it as YAML."""
    holder = _section(Settings, place[:-1])
    if (
        holder is not None
        and place[-1] in holder.model_fields
        and _is_text(holder.model_fields[str(place[-1])].annotation)
    ):
        return raw
    try:
        return yaml.safe_load(raw)
    except yaml.YAMLError:
        return raw


def _is_text(annotation: Any) -> bool:
    return annotation is str or (get_origin(annotation) in {Union, UnionType} and str in get_args(annotation))


def _section(section: type[BaseModel], place: Place) -> type[BaseModel] | None:
    """The section at ``place``; a number steps into a list's items."""
    found: type[BaseModel] | None = section
    for part in place:
        if isinstance(part, int):
            continue
        if found is None or part not in found.model_fields:
            return None
        found = _model_in(found.model_fields[part].annotation)
    return found


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for inner in get_args(annotation) if (model := _model_in(inner)) is not None), None)


def _problems(error: ValidationError, layers: Sequence[Layer]) -> list[str]:
    found = []
    for detail in error.errors(include_url=False):
        place: Place = detail["loc"]
        where = next((told for layer in layers if (told := layer.locate(place) or layer.within(place))), "the settings")
        value = _brief(detail["input"])
        if detail["type"] == "extra_forbidden":
            found.append(f"{where}: there is no setting `{dotted(place)}`{_nearest(place)}")
        elif detail["type"] == "missing":
            found.append(f"{where}: `{dotted(place)}` is missing")
        elif detail["type"] == "model_type":
            found.append(f"{where}: `{dotted(place)}` is {value}, but it is a section: its settings stand below it")
        elif isinstance(detail["input"], Mapping):  # its parts do not go together
            found.append(f"{where}: `{dotted(place)}`: {_right(detail['msg'])}")
        else:
            found.append(f"{where}: `{dotted(place)}` is {value}, but {_right(detail['msg'])}")
    return found


def _right(message: str) -> str:
    message = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    if message.startswith("Input should be"):
        return "it" + message.removeprefix("Input")
    return message[:1].lower() + message[1:] if message[:2].istitle() else message


def _nearest(place: Place) -> str:
    section = _section(Settings, place[:-1])
    known = () if section is None else tuple(section.model_fields)
    close = get_close_matches(str(place[-1]), known, n=1, cutoff=0.6)
    if close:
        return f"; did you mean `{dotted((*place[:-1], close[0]))}`?"
    if len(place) == 1:
        return f"; the sections are {', '.join(known)}"
    return f"; `{dotted(place[:-1])}` has {', '.join(known)}" if known else ""


def _brief(value: object, most: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
