"""Forgetting raw input that is old and that everybody has passed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

import structlog

from environment.errors import StoreUnavailable
from environment.messages import Instant, Modality
from environment.ports import Stores
from orchestration.host.settings import RetentionSettings

_log = structlog.get_logger(__name__)


async def passed(stores: Stores, readers: Collection[str]) -> int:
    """The highest number that every one of ``readers`` (perceptual subminds, named by modality) has dealt with.

    A reader's cursor stands at the last perception of its own modality, so it is taken as past everything up to the
    next one of that. Zero while a reader has not said where it is.
    """
    head = await stores.perceptions.head()
    cursors = {report.name: report.metrics.get("cursor") for report in await stores.registry.reports()}
    lowest = head
    for reader in readers:
        cursor = cursors.get(reader)
        if cursor is None:
            return 0
        following = await stores.perceptions.read(int(cursor), 1, Modality(reader))
        if following:
            lowest = min(lowest, following[0].seq - 1)
    return lowest


async def forget_once(stores: Stores, readers: Collection[str], settings: RetentionSettings, now: Instant) -> int:
    """Forget what may go at wall time ``now``; how many went. Raises ``StoreUnavailable``."""
    if settings.perceptions is None:
        return 0
    up_to = await passed(stores, readers)
    gone = 0
    while up_to > 0:
        went = await stores.perceptions.forget(now - settings.perceptions, up_to, settings.batch)
        gone += went
        if went < settings.batch:
            break
        await asyncio.sleep(0)
    return gone


async def keep_forgetting(
    stores: Stores, readers: Collection[str], settings: RetentionSettings, wall: Callable[[], Instant]
) -> None:
    """Look after it every so often, for ever."""
    while True:
        await asyncio.sleep(settings.every)
        try:
            gone = await forget_once(stores, readers, settings, wall())
        except StoreUnavailable as error:
            _log.warning("not_forgotten", reason=str(error))
            continue
        if gone:
            _log.info("perceptions_forgotten", count=gone)
