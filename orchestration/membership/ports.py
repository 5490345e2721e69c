"""What a mind needs of its coordination, as Protocols: etcd serves them, and so does being alone.

A coordination object serves one mind: no method takes a mind, so nothing can cross between two of them. All
coroutines may raise ``CoordinationUnavailable`` unless they say otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from environment.messages import Instant

NO_VALUES: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Leader:
    """Who leads, as others see it. For people: only the fencing token, at the store, decides who may write."""

    candidate: str
    """Its name, as it stood."""
    token: int
    """Its fencing token."""
    since: Instant
    """When it won, by its own wall clock."""


class Leadership(Protocol):
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
        ...

    @property
    def lost(self) -> asyncio.Event:
        """Set when the term is over; never cleared."""
        ...

    @property
    def reason(self) -> str:
        """Why the term is over; empty while it is not."""
        ...

    def leads(self) -> bool:
        """Whether the term still runs, by the clock and not by what has been heard.

        False from the moment on that the lease may be over, even before ``lost`` is set.
        """
        ...

    async def advance(self, above: int) -> int:
        """A new, larger token for this same term, above ``above``: for a store that has seen larger ones.

        Raises ``NotLeading`` when the term is over.
        """
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    """A submind in the directory."""

    name: str
    topics: tuple[str, ...] = ()
    """What it is good for, as its topics are labelled."""
    address: str = ""
    """Where it is reached: ``HOST:PORT``, or a name that its runtime resolves."""
    node: str = ""
    """The machine it lives on."""


class Directory(Protocol):
    """Who lives where. A listing stays as long as the process that gave it lives, and its lease after that."""

    async def announce(self, listing: Listing) -> None:
        """List a submind, or list it anew. Comes back by itself when the lease was lost meanwhile."""
        ...

    async def withdraw(self, name: str) -> None:
        """Take it off; nothing happens when this process did not list it."""
        ...

    async def listings(self) -> Mapping[str, Listing]:
        """Everybody, by name."""
        ...

    def watch(self) -> AsyncIterator[Mapping[str, Listing]]:
        """Everybody now, and again after each change. A slow reader misses states in between, never the last one.

        Goes on over losses of connection by itself; ends when the coordination is closed.
        """
        ...


@dataclass(frozen=True, slots=True)
class ShardOwner:
    """Where a shard lives."""

    node: str
    token: int
    """Fencing token of this ownership: larger than that of any owner before."""


class ShardHold(Protocol):
    """The shards that one node holds. They change as nodes come and go."""

    def mine(self) -> Mapping[int, int]:
        """Shards held now, by this process's own clock, with their fencing tokens."""
        ...

    def changes(self) -> AsyncIterator[Mapping[int, int]]:
        """What ``mine`` says now, and again after each change; ends when the hold is over."""
        ...


class Shards(Protocol):
    """Which shard lives where. Each has at most one owner at a time; nearly equal numbers fall to each node."""

    def hold(self, node: str, count: int) -> AbstractAsyncContextManager[ShardHold]:
        """Take part: hold a fair part of the shards 0..``count`` - 1 until the block ends.

        All nodes must say the same ``count``. When a node comes, shards move to it, no more than needed; when one goes,
        its shards are taken over once its lease is over.
        """
        ...

    async def owners(self) -> Mapping[int, ShardOwner]:
        """Every shard that has an owner."""
        ...


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """A version of what has been changed while the mind runs: these values lie over those of file and environment."""

    version: int = 0
    """0 while nothing was ever changed; each change adds one."""
    at: Instant = 0.0
    """When it was made."""
    by: str = ""
    """Who made it."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """By dotted path, for example ``attention.per_hour``."""
    changed: tuple[str, ...] = ()
    """Paths that this version changed or took back."""


class LiveConfiguration(Protocol):
    """Settings that change without a restart: validated before they are accepted, versioned, with who and when."""

    async def current(self) -> LiveSettings:
        """The newest version."""
        ...

    async def change(
        self,
        values: Mapping[str, Any],
        *,
        by: str,
        at: Instant,
        reset: Collection[str] = (),
        base: int | None = None,
    ) -> LiveSettings:
        """Lay ``values`` over what is there and take ``reset`` back to file and environment; the new version.

        All of it or nothing. ``base``: only if the newest version is this one. Raises ``ConfigurationRefused`` naming
        everything that is wrong, ``ConfigurationMoved``, and ``BadCoordination`` where nobody coordinates.
        """
        ...

    async def history(self, limit: int = 50) -> list[LiveSettings]:
        """Versions, the newest first."""
        ...

    def watch(self) -> AsyncIterator[LiveSettings]:
        """The newest version now, and again after each change; versions never go back.

        Goes on over losses of connection by itself; ends when the coordination is closed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Allowance:
    """A quota: a bucket that holds ``capacity`` and refills at ``per_second``."""

    capacity: float
    per_second: float


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of taking from a quota."""

    granted: bool
    left: float
    """What is left for now."""
    retry_after: float = 0.0
    """When not granted: seconds until so much will be there if nobody else takes any; infinite when it never fits."""


class Quotas(Protocol):
    """What all processes of a mind together may use of something."""

    async def take(self, name: str, amount: float, allowance: Allowance, now: Instant) -> Taken:
        """Take ``amount`` if it is there, or nothing.

        Guarantees: however many take at once, between any two instants at most ``capacity + per_second * (later -
        earlier)`` is granted, instants being those of the clock that is ahead most. When no answer comes, the amount
        may have been taken but is not granted: it errs towards less.
        """
        ...

    async def left(self, name: str, allowance: Allowance, now: Instant) -> float:
        """What could be taken."""
        ...


class Coordination(Protocol):
    """All that the processes of one mind agree on."""

    @property
    def mind(self) -> str: ...

    @property
    def address(self) -> str:
        """Where agreement is found, for people: without secrets. ``alone`` where nobody coordinates."""
        ...

    @property
    def directory(self) -> Directory: ...

    @property
    def shards(self) -> Shards: ...

    @property
    def configuration(self) -> LiveConfiguration: ...

    @property
    def quotas(self) -> Quotas: ...

    def leadership(self, candidate: str) -> AbstractAsyncContextManager[Leadership]:
        """Stand for leadership of the mind. Leaving the block resigns.

        Entered once elected, however long that takes, also while nobody can be asked. ``candidate`` tells people who
        it is; it need not be unique.
        """
        ...

    async def leader(self) -> Leader | None:
        """Who leads; None when nobody does."""
        ...

    def leaders(self) -> AsyncIterator[Leader | None]:
        """Who leads now, and again after each change. A slow reader misses leaders in between, never the last one.

        Says nothing while nobody can be asked, and goes on over losses of connection by itself.
        """
        ...

    async def figures(self) -> Mapping[str, float]:
        """For people and metrics: members that answer, quorum, leases held, reconnections."""
        ...

    async def close(self) -> None:
        """Resign, withdraw, let go; may be called twice. Never raises for want of an answer."""
        ...
