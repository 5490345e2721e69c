"""What readers are told, for the mind to learn from."""

import asyncio
import secrets
from collections.abc import Iterable

import structlog

from environment.errors import SubliminalError
from environment.latest import Latest
from environment.messages import Instant
from environment.recalls import RECALLS, Recalls
from orchestration.view.mind import MindView

_log = structlog.get_logger(__name__)
_MOST = 256
"""Perceptions, the latest, that a process tells of."""
_KEPT = 86_400.0


class RecallDesk:
    """Writes what was told to readers: one document, once in ``view.recalls_every`` at most, whoever asks how often.

    What was told since the last time is lost where the process ends.
    """

    def __init__(self, view: MindView) -> None:
        self._view, self._key = view, f"w-{secrets.token_hex(8)}"
        self._latest: Latest[str, Instant] = Latest(_MOST)
        self._writing: asyncio.Task[None] | None = None

    def note(self, perceptions: Iterable[str]) -> None:
        """These were told by now."""
        every, now = self._view.settings.recalls_every, self._view.now()
        for one in perceptions if every else ():
            self._latest[one] = now
            if self._writing is None:
                self._writing = asyncio.create_task(self._write(every), name="recalls")

    async def _write(self, every: float) -> None:
        await asyncio.sleep(every)
        self._writing = None
        told = Recalls(tuple(self._latest.items()))
        try:
            await self._view.stores.commit([RECALLS.write(self._key, told, expires=self._view.now() + _KEPT)])
        except SubliminalError as error:
            _log.warning("recalls_not_written", reason=str(error))
