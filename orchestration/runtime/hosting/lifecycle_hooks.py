"""How what is granted to a population comes to pass, as the mind process sees to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from orchestration.links.control import Share
from orchestration.wiring import ActorPlan


@dataclass(frozen=True, slots=True)
class LifecycleHooks:
    """How what was granted comes to pass."""

    join: Callable[[ActorPlan, str], Awaitable[bool]]
    """Start a submind that was born of the one named; whether it has yet to be told what it has of the budgets."""
    leave: Callable[[str], Awaitable[None]]
    """End one."""
    share: Callable[[str, Share], None]
    """Say what the next lives of one have of the budgets."""
    crowds: Callable[[int], Mapping[str, int]]
    """How many of so many subminds live, or may come to, on each machine that has room for one more."""
    cramped: Callable[[], None]
    """Somebody could not be born for want of room."""
    fenced_out: Callable[[], None]
    """It turns out that another run leads."""
    counted: Callable[[Mapping[str, float]], None]
    """What the guard granted and refused so far, by metric name."""
