"""The base of every configuration section, and the units they are written in."""

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
"""Seconds of each unit."""
_DURATION = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)\s*$")


def _seconds(value: object) -> object:
    if not isinstance(value, str):
        return value
    match = _DURATION.match(value)
    if match is None:
        raise ValueError("a duration is a number of seconds or a number with a unit, for example 90s, 30m, 12h, 7d")
    return float(match[1]) * UNITS[match[2]]


Seconds = Annotated[float, BeforeValidator(_seconds), Field(ge=0)]
"""A duration: a number of seconds, or text such as ``500ms``, ``90s``, ``30m``, ``12h``, ``7d``."""

Share = Annotated[float, Field(ge=0, le=1)]
"""A number in 0..1."""


class Section(BaseModel):
    """A section of the configuration: frozen, unknown keys refused, every field with a docstring.

    Who shows the docstrings reads them (``orchestration/cli/tree.py``): pydantic would parse the source of every
    section in every process that has settings, which is a tenth of a second for each actor that starts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
