"""How long to try again, and when."""

import asyncio
from random import Random

from orchestration.client.errors import Unavailable

FIRST, MOST, GROWTH = 0.1, 5.0, 2.0
"""Seconds before the first repetition where the mind names none, before any later one, and the factor between two."""


class RetryPolicy:
    """Decides for one undertaking whether to try again, and waits before it.

    Waits grow from what the mind asks for to ``MOST`` and are lengthened by up to a half, so that many clients of a
    mind that comes back do not all come at once. After ``limit`` seconds without success it gives up; None: never.
    """

    def __init__(self, chance: Random, limit: float | None) -> None:
        self._chance = chance
        self._limit = limit
        self._since: float | None = None
        self._tries = 0

    def succeeded(self, *, for_good: bool = False) -> None:
        """Start anew. ``for_good``: and never give up from now on."""
        self._since, self._tries = None, 0
        if for_good:
            self._limit = None

    async def after(self, error: Unavailable) -> None:
        """Wait before the next try; raises ``error`` when it has been tried for long enough."""
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        asked = FIRST if error.retry_after is None else error.retry_after
        pause = min(asked * GROWTH**self._tries, max(MOST, asked)) * self._chance.uniform(1.0, 1.5)
        if self._limit is not None and now + pause - self._since > self._limit:
            raise error
        self._tries += 1
        await asyncio.sleep(pause)
