"""The loop of everything that is forgotten or removed once it is old."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from environment.errors import FencedOut, SubliminalError

_log = structlog.get_logger(__name__)


async def forget_every(every: float, forget: Callable[[], Awaitable[int | list[str]]], what: str) -> None:
    """Call ``forget`` every so many seconds until another leads, and log what went of ``what``: a count, or names.

    What the store refuses is logged and tried again the next time.
    """
    while True:
        await asyncio.sleep(every)
        try:
            gone = await forget()
        except FencedOut as error:
            _log.warning("fenced_out", reason=str(error))
            return
        except SubliminalError as error:
            _log.warning("not_forgotten", what=what, reason=str(error))
            continue
        if gone:
            _log.info("forgotten", what=what, gone=gone)
