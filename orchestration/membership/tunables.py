"""Which settings may change while a mind runs, and why those; and what the settings are once they have."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel

from orchestration.faculties import faculties
from orchestration.loading import Layer, Place, SettingsError, overlaid
from orchestration.membership.errors import ConfigurationRefused
from orchestration.settings import Settings, SettingsUpdate


@dataclass(frozen=True, slots=True)
class Tunable:
    """Settings that may change live for one reason."""

    paths: tuple[str, ...]
    """Dotted; ``section.*`` is everything in a section."""
    why: str
    """Why they may change: what holds the old value, and what becomes of that."""


TUNABLE = (
    *(Tunable(paths, why) for faculty in faculties() for paths, why in faculty.tunable.items()),
    Tunable(
        ("substrate.budget.*",),
        "a budget: what was spent within the last hour and day still counts against the new limits",
    ),
)
"""All that may change live.

What may not, and why: who the mind is (name, goals, subminds, clock), because what it knows is bound up with it; what
it thinks with (server, models, embedder), because vectors of two embedders do not mix and a wrong server would be
found only by failing; sizes of memories and windows, because what is remembered has that shape; addresses, files and
processes, because they are taken at the start.
"""


def tunable_paths() -> dict[str, str]:
    """Every setting that may change live, by dotted path, and why."""
    return {path: kind.why for kind in TUNABLE for pattern in kind.paths for path in _expanded(pattern)}


def tuned(base: Settings, values: Mapping[str, Any]) -> Settings:
    """``base`` with live ``values`` over it. Raises ``ConfigurationRefused`` naming everything that is wrong."""
    known = tunable_paths()
    problems = [_unknown(path, known) for path in values if path not in known]
    if problems:
        raise ConfigurationRefused(tuple(problems))
    tree: dict[str, Any] = {}
    where: dict[Place, str] = {}
    for path, value in values.items():
        *above, name = path.split(".")
        held = tree
        for part in above:
            held = held.setdefault(part, {})
        held[name] = value
        where[tuple(path.split("."))] = "the live configuration"
    try:
        return overlaid(base, Layer(tree, where))
    except SettingsError as error:
        raise ConfigurationRefused(error.problems) from None


def settings_update(settings: Settings, version: int) -> SettingsUpdate:
    """What the processes of a mind are told of ``settings``."""
    return SettingsUpdate(version, {path: value_at(settings, path) for path in tunable_paths()})


def value_at(settings: Settings, path: str) -> Any:
    """What is set at a dotted path."""
    found: Any = settings
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _expanded(pattern: str) -> list[str]:
    section, star, _ = pattern.partition(".*")
    if not star:
        return [pattern]
    model: type[BaseModel] = type(value_at(Settings(), section))
    return [f"{section}.{name}" for name in model.model_fields]


def _unknown(path: str, known: Mapping[str, str]) -> str:
    try:
        value_at(Settings(), path)
    except AttributeError:
        close = get_close_matches(path, known, n=1, cutoff=0.6)
        return f"there is no setting `{path}`" + (f"; did you mean `{close[0]}`?" if close else "")
    return f"`{path}` does not change while a mind runs: change it in the mind's file, and start the mind again"
