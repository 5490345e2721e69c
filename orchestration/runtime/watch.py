"""Watching the perception log: often while something arrives, seldom and cheaply while nothing does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Hashable
from pathlib import Path

import structlog

from environment.errors import StoreUnavailable
from environment.messages import Modality, Perception
from environment.ports import PerceptionLog
from orchestration.runtime.settings import ReadSettings

_log = structlog.get_logger(__name__)


def touched(*files: Path) -> Callable[[], Hashable]:
    """A function whose answer changes when one of ``files`` was written to: a few microseconds instead of a query.

    File times are coarse on some systems, so the same answer is a strong hint, not a proof.
    """
    paths = [str(file) for file in files]

    def stamp() -> Hashable:
        stamps = []
        for path in paths:
            try:
                status = os.stat(path)  # noqa: PTH116 - called four times a second in every perceptual submind
            except FileNotFoundError:
                stamps.append((0, 0))
            else:
                stamps.append((status.st_mtime_ns, status.st_size))
        return tuple(stamps)

    return stamp


class LogWatch:
    """Waits for perceptions beyond a cursor, one waiter at a time.

    ``stamp`` tells cheaply whether the log may have changed; the log itself is asked when it says so, and at least
    every ``certain`` seconds.
    """

    def __init__(self, log: PerceptionLog, settings: ReadSettings, stamp: Callable[[], Hashable]) -> None:
        self._log = log
        self._settings = settings
        self._stamp = stamp
        self._pause = settings.fast
        self._empty_at: Hashable = None
        self._looked = -settings.certain

    async def next(self, after: int, limit: int, modality: Modality) -> list[Perception]:
        """The perceptions after ``after``, at least one; returns once there are any. Waits a failing store out."""
        loop = asyncio.get_running_loop()
        self._empty_at = None  # another cursor than before: what was empty then may not be now
        while True:
            stamp = self._stamp()
            if stamp != self._empty_at or loop.time() - self._looked >= self._settings.certain:
                self._looked = loop.time()
                try:
                    found = await self._log.read(after, limit, modality)
                except StoreUnavailable as error:
                    _log.warning("perceptions_unavailable", reason=str(error))
                    await asyncio.sleep(max(error.retry_after, self._settings.idle))
                    continue
                if found:
                    self._pause = self._settings.fast
                    return found
                self._empty_at = stamp
            await asyncio.sleep(self._pause)
            self._pause = min(self._pause * self._settings.backoff, self._settings.idle)
