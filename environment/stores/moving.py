"""What a store offers beside its ports so that a mind can move house: everything there is, page by page.

Small on purpose: what is read by the ports and written by ``Stores.commit`` and ``PerceptionLog.append`` has no second
way in here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from environment.messages import ConnectionChange, Trace
from environment.ports import Stores


@dataclass(frozen=True, slots=True)
class MovedTrace:
    """A trace with all it ever was."""

    revisions: tuple[Trace, ...]
    """Every version with the level it was written with, oldest first; alive and conscious as the trace is now."""
    standing: Trace
    """The newest version as it stands now."""


class Moving(Protocol):
    """Reads that no living mind makes, and the one write. Every method may raise ``StoreUnavailable``.

    Pages: ``after`` is the mark that came with the page before, empty at first; the mark of a page is empty when
    nothing follows it. Marks are of one backend, and mean nothing to another. A store that nobody writes to gives
    everything exactly once.
    """

    async def skip(self, to: int) -> None:
        """The next perception is numbered above ``to``, whatever was there; a number already given stays given.

        Raises ``FencedOut`` as ``PerceptionLog.append`` does.
        """
        ...

    async def traces(self, after: str, limit: int) -> tuple[str, list[MovedTrace]]:
        """Every trace, live or not, in an order of the backend's own."""
        ...

    async def changes(self, after: str, limit: int) -> tuple[str, list[ConnectionChange]]:
        """Every recorded change of connections, oldest first."""
        ...

    async def states(self) -> list[str]:
        """The names under which states are saved."""
        ...


class Movable(Stores, Protocol):
    """Stores of a mind that can move house."""

    @property
    def moving(self) -> Moving: ...
