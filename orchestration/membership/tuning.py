"""Which settings may change while a mind runs, and why those; and what the settings are once they have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel

from orchestration.loading import Layer, Place, SettingsError, overlaid
from orchestration.membership.errors import ConfigurationRefused
from orchestration.settings import Settings


@dataclass(frozen=True, slots=True)
class Tunable:
    """Settings of one kind."""

    paths: tuple[str, ...]
    """Dotted; ``section.*`` is everything in a section."""
    why: str
    """Why they may change: what holds the old value, and what becomes of that."""


TUNABLE = (
    Tunable(
        ("environment.half_life.*",),
        "a trace keeps the half-life it was left with; those left, raised or revised from now on have the new one",
    ),
    Tunable(
        ("thinking.half_life", "submind.connections.half_life"),
        "decay is computed when it is read, from the last use and the half-life as it is then",
    ),
    Tunable(
        ("environment.floor", "environment.announce", "environment.capacity"),
        "compared anew at each sweep, post and rise; a lower capacity retires the least salient at the next of them",
    ),
    Tunable(
        (
            "attention.break_in",
            "attention.goal_weight",
            "attention.inhibition",
            "attention.inhibited_above",
            "attention.bind_above",
            "attention.bind",
            "attention.concerned",
        ),
        "each candidate is judged by what holds at that moment; what was remembered of earlier ones stays true",
    ),
    Tunable(
        ("attention.hold", "attention.refractory"),
        "the wait is measured when it is looked at, so it also lengthens or shortens what is waiting",
    ),
    Tunable(
        ("thinking.act_above", "thinking.recall_above", "thinking.result_share"),
        "compared with one conscious thought or memory at a time; nothing is kept of the comparison",
    ),
    Tunable(
        ("submind.binding.interest", "submind.binding.kin", "submind.binding.same", "submind.binding.temperature"),
        "compared with one event or combination at a time; the running means beside them do not depend on them",
    ),
    Tunable(
        ("submind.topics.threshold", "submind.topics.crowded", "submind.topics.merge"),
        "decide where the next vector goes; topics that are there stay, and drift as before",
    ),
    Tunable(
        (
            "submind.connections.promote_at",
            "submind.connections.demote_at",
            "submind.connections.forget_at",
            "submind.connections.eta",
            "submind.connections.eta_minus",
        ),
        "a connection is promoted, demoted or forgotten at its next use or review, by its weight as it is then",
    ),
    Tunable(
        ("perception.speak_at", "perception.trust_weight"),
        "decide about the next percept; those already left as traces stay as they are",
    ),
    Tunable(
        ("stream.segue_below", "stream.segue_within"),
        "decide about the next pair of neighbours; the stream that is written is never rewritten",
    ),
    Tunable(
        (
            "metacognition.repetition",
            "metacognition.dominance",
            "metacognition.drops_per_hour",
            "metacognition.budget_low",
            "metacognition.say_every",
            "metacognition.act_every",
        ),
        "what is watched is judged anew each time",
    ),
    Tunable(
        ("attention.per_hour", "thinking.per_hour", "submind.binding.per_hour"),
        "a budget: what was spent stays spent, and from now on it refills at the new rate",
    ),
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
