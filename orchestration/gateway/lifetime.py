"""How long calls last that would not end by themselves: as the server, their caller's token, and an age allow."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random, SystemRandom
from typing import Any, TypeVar

from orchestration.access.caller import CALLER
from orchestration.access.gate import Access
from orchestration.gateway.errors import Aged, Stopping

T = TypeVar("T")


class Lifetime:
    """Of one call. What it does ``within`` it is cancelled when that ends, and raises why."""

    def __init__(self, lasts: float | None) -> None:
        """``lasts``: seconds from ``grow_old`` on; None: without end."""
        self.over: Exception | None = None
        """Why it ended; None while it lasts."""
        self._lasts = lasts
        self._task: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def grow_old(self) -> None:
        """Begin to count the seconds that it lasts; later calls change nothing."""
        if self._timer is None and self._lasts is not None:
            self._timer = asyncio.get_running_loop().call_later(self._lasts, self.end, Aged(self._lasts))

    def end(self, why: Exception) -> None:
        """End it; the first reason counts."""
        if self.over is None:
            self.over = why
            if self._task is not None and asyncio.current_task() is not self._task:
                self._task.cancel()

    @contextmanager
    def within(self) -> Iterator[None]:
        """Raises why it ended: ``Stopping``, ``Unauthenticated``, or ``Aged``."""
        if self.over is not None:
            raise self.over
        task = self._task = asyncio.current_task()
        try:
            yield
        except asyncio.CancelledError:
            if self.over is None or task is None:
                raise  # the caller went away
            task.uncancel()
            raise self.over from None
        finally:
            self._task = None

    def close(self) -> None:
        """Let go of the timer."""
        if self._timer is not None:
            self._timer.cancel()


@dataclass(slots=True)
class Lifetimes:
    """Of all calls of a server."""

    access: Access
    age: float = 0.0
    """Seconds after which calls without end are ended, so that their callers come to other servers; 0: never."""
    stopping: bool = False
    """Whether the server goes away: nothing begins any more."""
    _open: set[Lifetime] = field(default_factory=set)
    _chance: Random = field(default_factory=SystemRandom)

    def lasts(self) -> float | None:
        """Seconds that one lasts, give or take a tenth, so that not all go at once; None: without end."""
        return self.age * self._chance.uniform(0.9, 1.1) if self.age else None

    @contextmanager
    def begin(self) -> Iterator[Lifetime]:
        """One more. Raises ``Stopping``."""
        if self.stopping:
            raise Stopping
        one = Lifetime(self.lasts())
        self._open.add(one)
        try:
            with self.access.lease(CALLER.get(), one.end):
                yield one
        finally:
            self._open.discard(one)
            one.close()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do ``work``, for as long as it may last. Raises what ``Lifetime.within`` raises."""
        try:
            with self.begin() as one, one.within():
                one.grow_old()
                return await work
        finally:
            work.close()

    def stop(self) -> None:
        """End all, and begin none any more. May be called twice."""
        self.stopping = True
        for one in tuple(self._open):
            one.end(Stopping())
