"""Every error there is reaches another process as it was: whatever it is made of."""

import importlib
import inspect
import pickle
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_type_hints

import pytest

from environment.population import GrowthEvent
from orchestration.schema.errors import FieldViolation

ROOT = Path(__file__).parents[1]
ELSEWHERE = (
    "environment.lineage",
    "environment.stores.cassandra.driver.address",
    "environment.stores.cassandra.driver.session",
)
"""Modules that have errors of their own and are not called ``errors``."""
MADE_OF = {
    str: "what is wrong",
    int: 3,
    float: 1.5,
    bool: True,
    int | None: 3,
    float | None: 1.5,
    tuple[str, ...]: ("one", "two"),
    Iterable[FieldViolation]: (FieldViolation("text", "wrong"),),
    Sequence[FieldViolation]: (FieldViolation("text", "wrong"),),
    tuple[FieldViolation, ...]: (FieldViolation("text", "wrong"),),
    GrowthEvent | None: None,
}


def modules():
    for room in ("environment", "actors", "orchestration"):
        for file in sorted((ROOT / room).rglob("errors.py")):
            yield ".".join(file.relative_to(ROOT).with_suffix("").parts)
    yield from ELSEWHERE


def errors():
    for module in map(importlib.import_module, modules()):
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ == module.__name__:
                yield kind


def made(kind):
    """One of these, with a value for whatever it takes."""
    taken = inspect.signature(kind.__init__).parameters.values()
    names = [one.name for one in taken if one.kind is one.POSITIONAL_OR_KEYWORD and one.name != "self"]
    if not names:
        return kind("what is wrong")
    hints = get_type_hints(kind.__init__)
    return kind(*(MADE_OF[hints[name]] for name in names))


@pytest.mark.parametrize("kind", errors(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_errors_survive_pickling(kind):
    error = made(kind)
    twin = pickle.loads(pickle.dumps(error))  # noqa: S301 - what was just made
    assert type(twin) is kind
    assert (str(twin), vars(twin), twin.args) == (str(error), vars(error), error.args)
    assert str(error)
