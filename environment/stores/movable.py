"""What a store offers beside its ports so that a mind can be copied to another: everything there is, page by page.

Small on purpose: what is read by the ports and written by ``Stores.commit`` and ``PerceptionLog.append`` has no second
way in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from environment.collections import Scanned
from environment.messages import (
    Connection,
    ConnectionChange,
    Modality,
    Perception,
    StreamEntry,
    SubmindReport,
    Trace,
)
from environment.ports import Stores


@dataclass(frozen=True, slots=True)
class MovedTrace:
    """A trace with all it ever was."""

    revisions: tuple[Trace, ...]
    """Every version with the level it was written with, oldest first; alive and conscious as the trace is now."""
    standing: Trace
    """The newest version as it stands now."""


class Leaving(Protocol):
    """Reads that no living mind makes. Every method may raise ``StoreUnavailable``.

    Pages: ``after`` is the mark that came with the page before, empty at first; the mark of a page is empty when
    nothing follows it. Marks are of one backend, and mean nothing to another. A store that nobody writes to gives
    everything exactly once.
    """

    async def traces(self, after: str, limit: int) -> tuple[str, list[MovedTrace]]:
        """Every trace, live or not, in an order of the backend's own."""

    async def changes(self, after: str, limit: int) -> tuple[str, list[ConnectionChange]]:
        """Every recorded change of connections, oldest first."""

    async def states(self) -> list[str]:
        """The names under which states are saved."""

    async def epoch(self) -> int:
        """The largest epoch that anybody began, of the stores or of the perception log; 0 before the first."""


class Moving(Leaving, Protocol):
    """What is read of a mind that may be running, and the one write."""

    async def skip(self, to: int) -> None:
        """The next perception is numbered above ``to``, whatever was there; a number already given stays given.

        Raises ``FencedOut`` as ``PerceptionLog.append`` does.
        """

    async def changed(self, after: int) -> tuple[int, list[str]]:
        """The latest change of a trace, and the ids of all that changed after ``after`` up to it.

        Raises ``ChangesGone`` where that is no longer known.
        """

    async def named(self, ids: Sequence[str]) -> list[tuple[MovedTrace, int]]:
        """Those of ``ids`` that are there, each with its last change."""


class LogRead(Protocol):
    """What is read of a perception log."""

    async def read(self, after: int, limit: int, modality: Modality | None = None) -> list[Perception]: ...
    async def head(self) -> int: ...


class StreamRead(Protocol):
    """What is read of a stream."""

    async def read(self, from_seq: int, limit: int) -> list[StreamEntry]: ...
    async def head(self) -> int: ...


class RegistryRead(Protocol):
    """What is read of a registry."""

    async def connections(self, owner: str | None = None) -> list[Connection]: ...
    async def reports(self) -> list[SubmindReport]: ...
    async def state(self, name: str) -> bytes | None: ...


class Source(Protocol):
    """Where a mind can be read whole: a store, or a backup."""

    @property
    def perceptions(self) -> LogRead: ...
    @property
    def stream(self) -> StreamRead: ...
    @property
    def registry(self) -> RegistryRead: ...
    @property
    def collections(self) -> Scanned: ...
    @property
    def moving(self) -> Leaving: ...


class Claimed(Stores, Protocol):
    """Stores that one writer claims for each of its lives: at most one of them writes, whichever wake up late."""

    async def claim(self, fence: int, life: int, *, numbers: bool = False) -> None:
        """Write under the epoch ``fence`` as the writer's life number ``life``, from 1; whose, the opening was told.

        Who starts lives gives their numbers, each larger than those before under that epoch; so it does not matter
        when a claim arrives. Once this has returned no commit of a smaller number is decided on any more: under that
        epoch it raises ``Outlived``. All that were decided on are there to be read. ``numbers``: this holds for traces
        and entries of the stream as well, which several writers write; without it, for what else a commit may hold.
        Openings that claim nothing are held to the epoch alone.

        Raises ``Outlived`` where a larger number has claimed, and ``FencedOut`` where a newer leader writes. May be
        repeated: after ``StoreUnavailable`` it may have happened.
        """


class Movable(Claimed, Protocol):
    """Stores of a mind that can be copied to another store."""

    @property
    def moving(self) -> Moving: ...
