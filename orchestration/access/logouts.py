"""Log-ins that are over before their cookie expires, known to every process that serves the mind."""

import asyncio
from collections.abc import Callable, Mapping
from contextvars import Context
from math import isfinite

import msgspec
import structlog

from environment.collections import LOCAL, Collection
from environment.errors import SubliminalError
from environment.ports import Stores

_log = structlog.get_logger(__name__)

LOG_OUTS = Collection(f"{LOCAL}log-outs", dict[str, float])
"""One document, ``all``: who is logged out of this place is no part of the mind."""
_ALL = "all"
_KEPT = 4096
"""Log-outs that are remembered; of more, who has most loses the one that would have held the shortest."""
OF = "."
"""Stands in a log-in behind whose it is."""
_SKEW = 60.0
"""Seconds that one is remembered beyond its cookie's end: clocks differ."""
_PATIENCE = 1.0
"""Seconds that a request waits for a store that does not answer; then what is known holds."""


class LogOuts:
    """Which log-ins are over, until their cookies would have expired.

    Where it is ``shared``, processes that read the same store hear of each other's, also those that start later. Each
    adds what the store lacks, so that of two that write at once neither is lost for longer than until the next look.
    While the store is away, what is known holds.
    """

    def __init__(self, wall: Callable[[], float], clock: Callable[[], float], every: float) -> None:
        """``every``: seconds between two looks. ``clock``: seconds that never go back."""
        self._wall, self._clock, self._every = wall, clock, every
        self._until: dict[str, float] = {}
        self._written: frozenset[str] = frozenset()
        self._stores: Stores | None = None
        self._looking: asyncio.Task[None] | None = None
        self._looked = -float("inf")
        self._away = False

    def share(self, stores: Stores) -> None:
        """Leave them in ``stores``, and hear there of those of others. The stores are used, not closed."""
        self._stores = stores

    def __contains__(self, login: str) -> bool:
        return login in self._until

    def add(self, login: str, until: float) -> None:
        """Somebody logged out of it; its cookie would have held ``until``."""
        self._hear({login: until})

    @property
    def unwritten(self) -> bool:
        """Whether others cannot have heard of all of them yet."""
        return self._stores is not None and not self._until.keys() <= self._written

    async def tell(self) -> None:
        """Write down at once what was added; what cannot be now, a later look writes."""
        if self._looking is not None:
            await asyncio.wait({self._looking}, timeout=_PATIENCE)  # it may have begun before that was added
        await self._look()

    async def heard(self) -> None:
        """Hear what others ended, unless that was looked at just now."""
        if self._due:
            await self._look()

    def listen(self) -> None:
        """Begin to hear what others ended, without waiting for it."""
        if self._due:
            self._begin()

    @property
    def _due(self) -> bool:
        return self._stores is not None and self._clock() - self._looked >= self._every

    async def _look(self) -> None:
        looking = self._begin()
        if looking is not None:
            await asyncio.wait({looking}, timeout=_PATIENCE)

    def _begin(self) -> asyncio.Task[None] | None:
        if self._stores is not None and (self._looking is None or self._looking.done()):
            exchange = self._exchange(self._stores)  # in nobody's name: it is for all
            self._looking = asyncio.create_task(exchange, name="log-outs", context=Context())
        return self._looking

    async def _exchange(self, stores: Stores) -> None:
        self._looked = self._clock()
        try:
            there = await _told(stores)
            self._hear(there)
            known = dict(self._until)
            if not known.keys() <= there.keys():
                await stores.commit([LOG_OUTS.write(_ALL, known)])
        except SubliminalError as error:
            if not self._away:
                _log.warning("log_outs_not_shared", reason=str(error))
            self._away = True
        else:
            self._written, self._away = frozenset(known), False

    def _hear(self, told: Mapping[str, float]) -> None:
        oldest = self._wall() - _SKEW
        known = {login: until for login, until in (self._until | dict(told)).items() if until > oldest}
        if len(known) > _KEPT:
            known = _fewer(known)
        self._until = known


def _fewer(known: Mapping[str, float]) -> dict[str, float]:
    """As many as are kept. Nobody is let in again because somebody else logs out without end."""
    of: dict[str, list[str]] = {}
    for login in sorted(known, key=lambda login: (known[login], login), reverse=True):
        of.setdefault(login.partition(OF)[0] if OF in login else "", []).append(login)
    rounds = sorted((rank, login) for logins in of.values() for rank, login in enumerate(logins))
    return {login: known[login] for _, login in rounds[:_KEPT]}


async def _told(stores: Stores) -> dict[str, float]:
    """What stands there; what says nothing that is understood says nothing."""
    try:
        told = await LOG_OUTS.get(stores.collections, _ALL)
    except msgspec.DecodeError:
        return {}
    return {login: until for login, until in (told or {}).items() if isfinite(until)}
