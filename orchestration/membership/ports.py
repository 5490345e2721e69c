"""What a mind needs of its coordination, as Protocols: etcd serves them, and so does being alone.

A coordination object serves one mind: no method takes a mind, so nothing can cross between two of them. All
coroutines may raise ``CoordinationUnavailable`` unless they say otherwise.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from environment.messages import Instant


@dataclass(frozen=True, slots=True)
class Leader:
    """Who leads, as others see it. For people: only the fencing token, at the store, decides who may write."""

    candidate: str
    """The name it stood under, where its callers reach it: ``HOST:PORT``."""
    token: int
    """Its fencing token: larger than that of any leader before."""
    since: Instant
    """When it won, by its own wall clock."""


class LeaderTerm(Protocol):
    """One term of leading, from being elected until ``lost``.

    Guarantees: no two terms have the same token, a later term has a larger one. ``lost`` is set, by this process's own
    clock, before anybody else can have been elected; a process that was stopped meanwhile finds out late, which is
    what the token is for: the stores refuse whoever holds an older one.
    """

    @property
    def candidate(self) -> str: ...

    @property
    def token(self) -> int | None:
        """The fencing token to lead the stores with; None where nobody coordinates and the store counts by itself."""

    @property
    def lost(self) -> asyncio.Event:
        """Set when the term is over; never cleared."""

    @property
    def reason(self) -> str:
        """Why the term is over; empty while it is not."""

    def leads(self) -> bool:
        """Whether the term still runs, by the clock and not by what has been heard.

        False from the moment on that the lease may be over, even before ``lost`` is set.
        """

    async def advance(self, above: int) -> int:
        """A new, larger token for this same term, above ``above``: for a store that has seen larger ones.

        Raises ``NotLeading`` when the term is over.
        """


@dataclass(frozen=True, slots=True)
class ConfigurationVersion:
    """A version of what has been changed while the mind runs: these values lie over those of file and environment."""

    version: int = 0
    """0 while nothing was ever changed; each change adds one."""
    at: Instant = 0.0
    """When it was made: seconds since 1970, by the wall clock of who made it."""
    by: str = ""
    """Who made it, for people: by default ``USER@HOST``."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """By dotted path, for example ``attention.per_hour``."""
    changed: tuple[str, ...] = ()
    """Paths that this version changed or took back."""


class LiveConfiguration(Protocol):
    """Settings that change without a restart: validated before they are accepted, versioned, with who and when."""

    async def current(self) -> ConfigurationVersion:
        """The newest version; version 0 where nothing was ever changed."""

    async def change(
        self,
        values: Mapping[str, Any],
        *,
        by: str,
        at: Instant,
        reset: Collection[str] = (),
        base: int | None = None,
    ) -> ConfigurationVersion:
        """Lay ``values`` over what is there and take ``reset`` back to file and environment; the new version.

        All of it or nothing. ``base``: only if the newest version is this one. Raises ``ConfigurationRefused`` naming
        everything that is wrong, ``ConfigurationMoved``, and ``BadCoordination`` where nobody coordinates.
        """

    async def history(self, limit: int = 50) -> list[ConfigurationVersion]:
        """Versions, the newest first."""

    def watch(self) -> AsyncIterator[ConfigurationVersion]:
        """The newest version now, and again after each change; versions never go back. Without end.

        Goes on over losses of connection by itself; cancel it before the coordination is closed.
        """


class Coordination(Protocol):
    """All that the processes of one mind agree on."""

    @property
    def address(self) -> str:
        """Where agreement is found, for people: without secrets. ``alone`` where nobody coordinates."""

    @property
    def configuration(self) -> LiveConfiguration: ...

    def leadership(self, candidate: str) -> AbstractAsyncContextManager[LeaderTerm]:
        """Stand for leadership of the mind. Leaving the block resigns.

        Entered once elected, however long that takes, also while nobody can be asked. ``candidate`` tells people who
        it is; it need not be unique.
        """

    async def leader(self) -> Leader | None:
        """Who leads; None when nobody does."""

    def leaders(self) -> AsyncIterator[Leader | None]:
        """Who leads now, and again after each change. A slow reader misses leaders in between, never the last one.

        Says nothing while nobody can be asked, and goes on over losses of connection by itself.
        """

    async def figures(self) -> Mapping[str, float]:
        """For people and metrics: members that answer, quorum, whether this process leads."""

    async def close(self) -> None:
        """Resign and let go; may be called twice. Never raises for want of an answer."""
