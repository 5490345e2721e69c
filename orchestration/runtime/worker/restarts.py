"""When an actor that died gets another life, and when it has had its last."""

import asyncio
import random
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from environment.errors import FencedOut
from orchestration.backoff import backoff
from orchestration.runtime.settings import SupervisionSettings

_SAYING = 1.0
"""Longest that a life waits for the word that there is none now."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do about a death."""

    again: bool
    """False: quarantine."""
    after: float = 0.0
    """Seconds to wait before the next life."""
    reason: str = ""
    """Why there is none."""


class RestartPolicy:
    """Counts the deaths of one actor. ``now`` is any clock that does not go back."""

    def __init__(self, settings: SupervisionSettings, chance: random.Random, *, essential: bool = False) -> None:
        """``essential``: without this one nothing comes to mind, so it is given more chances."""
        self._settings = settings
        self._allowed = settings.singleton_deaths if essential else settings.deaths
        self._chance = chance
        self._deaths: deque[float] = deque()
        self.restarts = 0

    def lost(self) -> None:
        """Count a life that ended with its node: nothing that is held against the actor."""
        self.restarts += 1

    def died(self, now: float, cause: str) -> Verdict:
        """What to do about a death of this ``cause``."""
        while self._deaths and self._deaths[0] <= now - self._settings.window:
            self._deaths.popleft()
        self._deaths.append(now)
        recent = len(self._deaths)
        if recent > self._allowed:
            window = self._settings.window
            return Verdict(again=False, reason=f"died {recent} times within {window:.0f} s, the last time of: {cause}")
        self.restarts += 1
        settings = self._settings
        return Verdict(again=True, after=backoff(recent - 1, settings.backoff, settings.backoff_most, self._chance))


async def rest(after: float, stopping: asyncio.Event, said: Coroutine[Any, Any, None]) -> None:
    """Pause before another life, until ``stopping``; that there is none now is ``said`` before the next speaks."""
    saying = asyncio.create_task(said)
    with suppress(TimeoutError):
        async with asyncio.timeout(after):
            await stopping.wait()
    with suppress(TimeoutError, FencedOut):  # the next life speaks for itself, and must have the last word
        async with asyncio.timeout(_SAYING):
            await saying
