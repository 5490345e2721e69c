"""What the host tells the mind process, and the mind process its actors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path

from orchestration.clock import Clock
from orchestration.links.addresses import Endpoint
from orchestration.links.control import BudgetTransfer
from orchestration.settings import Settings
from orchestration.wiring import ActorPlan


def _restore(orders: RunOrders | ActorOrders, values: Sequence[object]) -> None:
    """Unpickle. Fields are only ever added at the end: those that an older version did not send have their defaults."""
    for at, field_ in enumerate(fields(orders)):
        if at < len(values):
            value = values[at]
        else:
            value = field_.default if field_.default_factory is MISSING else field_.default_factory()
        object.__setattr__(orders, field_.name, value)


@dataclass(frozen=True, slots=True)
class RunOrders:
    """One run of a mind. Pickled from the host to its own child, on a pipe."""

    __setstate__ = _restore

    settings: Settings
    data_dir: Path
    run_dir: Path
    """Sockets and Ray's files; a short path that only this user may enter."""
    clock: Clock
    seed: int
    """Of what the cores leave to chance."""
    wiring: str = "orchestration.wiring"
    """Module that offers ``plan`` and ``build_shell``."""
    version: int = 0
    """Of the live configuration that is in ``settings`` already."""
    token: int | None = None
    """Epoch to lead the stores under, where the host agreed on it with others; else the stores count by themselves."""
    credentials: bytes = field(default=b"", repr=False)
    """What processes of this run on different machines know each other by, empty where all are on one machine."""


@dataclass(frozen=True, slots=True)
class ActorOrders:
    """One process of a run, and the actors in it. While nodes are renewed its image may be newer, or older."""

    __setstate__ = _restore

    run: RunOrders
    name: str
    """The process's, by which it is asked how it is."""
    plans: tuple[ActorPlan, ...]
    """Who lives in it: one, or a pack. With each that comes to live there or leaves it is another version."""
    fence: int
    """Epoch this run leads under: once another run leads, its writes are refused."""
    mind_pid: int
    """The process it must not outlive."""
    machine: str
    """Where that process runs."""
    shares: int
    """Actors of the mind, all of which share the substrate's budget."""
    directory: Endpoint
    """Where the mind process takes in who is where (``orchestration/links/directory.py``)."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """What those who live in it have of a configured submind's part of the budgets, where that is not all of it."""
    predecessors: tuple[str, ...] = ()
    """Processes that ended whose part those who live here have since: what they had spent, it has spent as well."""
    parent: str = ""
    """The process of who divided, for a submind that was born: what that had spent, it has spent as well."""
    moved: tuple[BudgetTransfer, ...] = ()
    """Parts of the budgets that came to those who live in it from processes that live on."""
    roster: int = 0
    """The version of ``plans``."""
    life: int = 0
    """Which of the run's lives of processes this is, from 1: of one process, who has a later number writes."""
