"""What salience means to people: the chance that somebody would want it, and the one scale of severity.

A trace has a *level*, which evaporates and is reinforced (``environment.salience``); wherever salience is told, kept
in the stream or compared with a setting, it is the chance that stands for that level. The order is the same.
"""

import math
from collections.abc import Mapping
from enum import StrEnum

_NONE = 1e-6
_SLOPE, _EVEN = 2.0, 0.42
"""Platt's calibration (1999), rounded, over streams of eight kinds with each left out in turn: how much steeper the
chance is than the level, in log odds, and the level at which it is one half. ``benchmarks/calibration.py``."""
_LIKELY, _SURE, _SURER, _TOLD = 0.5, 0.8, 0.9, 0.998
_AROUSED, _DANGER = 0.75, 1.5
"""Log odds of what is alarming."""


class Severity(StrEnum):
    """How much something matters; of two the later one matters more."""

    INFO = "info"
    """More likely than not nobody wants it."""
    NOTABLE = "notable"
    WARNING = "warning"
    CRITICAL = "critical"
    """Somebody should look now: nothing that is muted keeps it back."""

    @property
    def rank(self) -> int:
        """0 to 3."""
        return _SCALE.index(self)


_SCALE = tuple(Severity)


def log_odds(level: float) -> float:
    """Of a level; at most about 14 either way."""
    bounded = max(_NONE, min(1 - _NONE, level))
    return math.log(bounded / (1 - bounded))


def salience_of(level: float) -> float:
    """The chance, 0..1, that a person would want what stands at this level; higher for every higher level."""
    if not 0 < level < 1:
        return float(level >= 1)
    odds = float((level / (1 - level) * (1 - _EVEN) / _EVEN) ** _SLOPE)
    return odds / (1 + odds)


def level_of(salience: float) -> float:
    """The level that stands for a salience: the inverse of ``salience_of``."""
    if not 0 < salience < 1:
        return float(salience >= 1)
    odds = float((salience / (1 - salience)) ** (1 / _SLOPE) * _EVEN / (1 - _EVEN))
    return odds / (1 + odds)


def severity(salience: float, evidence: Mapping[str, float]) -> Severity:
    """Where something stands by its salience (a chance) and its evidence (log odds) of threat, alarm and tempo.

    What somebody tells the mind is as salient as can be, which says nothing of how bad it is.
    """
    if evidence and salience >= _TOLD:
        salience = _LIKELY
    danger = evidence.get("threat", 0.0) + evidence.get("alarm", 0.0)
    aroused = danger + max(0.0, evidence.get("tempo", 0.0)) >= _AROUSED
    if danger >= _DANGER or (aroused and salience >= _SURER):
        return Severity.CRITICAL
    if salience >= _SURE or (aroused and salience >= _LIKELY):
        return Severity.WARNING
    return Severity.NOTABLE if salience >= _LIKELY else Severity.INFO
