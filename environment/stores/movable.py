"""What a store offers beside its ports so that a mind can be copied to another: everything there is, page by page.

Small on purpose: what is read by the ports and written by ``Stores.commit`` and ``PerceptionLog.append`` has no second
way in here.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from environment.messages import Trace
from environment.ports import Stores


@dataclass(frozen=True, slots=True)
class MovedTrace:
    """A trace with all it ever was."""

    revisions: tuple[Trace, ...]
    """Every version with the level it was written with, oldest first; alive and conscious as the trace is now."""
    standing: Trace
    """The newest version as it stands now."""


class SavedState(msgspec.Struct, frozen=True, array_like=True):
    """A state that an actor saved."""

    name: str
    state: bytes


class Leaving(Protocol):
    """A mind that can be read whole: a store, or a backup. Every method may raise ``StoreUnavailable``."""

    def pages(self, kind: str, after: str = "") -> AsyncGenerator[tuple[str, list[Any]], None]:
        """All there is of one of ``copying.KINDS``, in pages, each with its mark: behind ``after``, empty at first.

        Perceptions and entries stand in the order of their numbers, which are their marks as well; marks of other
        kinds are of one backend, and mean nothing to another. What nobody writes to is given exactly once.
        """

    async def epoch(self) -> int:
        """The largest epoch that anybody began, of the stores or of the perception log; 0 before the first."""

    async def head(self) -> int:
        """The highest number ever given to a perception."""


async def each_of(mind: Leaving, kind: str) -> AsyncGenerator[Any, None]:
    """All there is of a kind, one by one. Raises ``StoreUnavailable``."""
    async with aclosing(mind.pages(kind)) as pages:
        async for _, page in pages:
            for each in page:
                yield each


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

    async def scrub(self) -> None:
        """Wipe what was deleted, as far as the store can: SQLite writes its files anew, and keeps writers waiting.

        Cassandra drops what its commit logs still say of it; rows go when tables are compacted. Raises
        ``StoreUnavailable``; call it again.
        """
