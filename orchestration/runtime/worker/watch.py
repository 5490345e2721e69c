"""Watching the perception log: at once while something arrives, hardly at all while nothing does."""

import asyncio
from collections.abc import Mapping

import structlog

from actors.image_features import ImageFeatures
from environment.errors import StoreUnavailable
from environment.messages import Modality, Perception
from environment.ports import PerceptionLog
from orchestration.runtime.settings import ReadSettings
from orchestration.runtime.worker.file_watcher import FileWatcher
from orchestration.runtime.worker.image_decoder import ImageDecoder

_log = structlog.get_logger(__name__)
_AGAIN = (0.02, 0.06, 0.2, 0.6)
"""Seconds after which a log that was written to and had nothing is asked again: a commit is written before it holds."""


class LogWatch:
    """Waits for perceptions beyond a cursor, one waiter at a time.

    ``watcher`` tells when the log's files are written to; then, and every ``certain`` seconds in any case, the log is
    asked. Where files cannot be watched it is asked at growing pauses from ``fast`` to ``idle``.
    """

    def __init__(
        self, log: PerceptionLog, settings: ReadSettings, watcher: FileWatcher, decoder: ImageDecoder | None = None
    ) -> None:
        """``decoder`` looks at images before they are handed on."""
        self._log = log
        self._decoder = decoder
        self._settings = settings
        self._watcher = watcher

    async def next(self, after: int, limit: int, modality: Modality | None) -> list[Perception]:
        """The perceptions after ``after``, at least one; returns once there are any. Waits a failing store out."""
        settings, pause, told = self._settings, self._settings.fast, False
        again: list[float] = []
        while True:
            if self._watcher.forget():  # before the look: what is written during it is another reason to look
                again = [*reversed(_AGAIN)]
            try:
                found = await self._log.read(after, limit, modality)
            except StoreUnavailable as error:
                if not told:  # however long it lasts
                    _log.warning("perceptions_unavailable", reason=str(error))
                told = True
                await asyncio.sleep(max(error.retry_after, settings.idle))
                continue
            told = False
            if found and self._decoder is not None and modality is Modality.IMAGE:
                return await self._decoder.see(found)
            if found:
                return found
            if not self._watcher.sees:
                await asyncio.sleep(pause)
                pause = min(pause * settings.backoff, settings.idle)
                continue
            await self._watcher.wait(again.pop() if again else settings.certain)
            await asyncio.sleep(settings.gather)  # many small commits are one reason to look

    @property
    def looks(self) -> Mapping[bytes, ImageFeatures]:
        """What was seen of the images among those that ``next`` returned last, by digest of their bytes."""
        return self._decoder.looks if self._decoder is not None else {}

    def close(self) -> None:
        """Stop watching. May be called twice."""
        self._watcher.close()
        if self._decoder is not None:
            self._decoder.close()
