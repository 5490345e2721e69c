"""What tokens allow, and what takes none."""

from enum import StrEnum
from typing import TypeAlias


class Scope(StrEnum):
    """What a token allows. None includes another."""

    PERCEIVE = "perceive"
    """To tell the mind something."""
    WATCH = "watch"
    """To read it: stream, traces, state."""
    OPERATE = "operate"
    """To change what it is: growth, nodes; and to speak to it as an operator."""
    FORWARD = "forward"
    """To say in whose name one calls, for quotas and the audit log: for processes that stand before the mind."""
    METRICS = "metrics"
    """To read figures (`/metrics`), which `watch` may as well: for whoever gathers them, and needs nothing else."""


class Free(StrEnum):
    """What takes no scope."""

    OPEN = "open"
    """Anybody may: probes ask without a token, and a browser before it has one."""
    TOKEN = "token"  # noqa: S105 - not one
    """Any token will do."""
    PROBE = "probe"
    """Anybody may; who may `watch` is told more."""
    FIGURES = "figures"
    """The scope ``metrics`` or ``watch``, unless ``access.open_metrics``."""


Need: TypeAlias = Scope | Free
