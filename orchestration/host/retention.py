"""Forgetting what is old and needed by nobody: raw input, retired traces, changes of connections, documents."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection
from functools import partial

import structlog

from environment.collections import LOCAL, RESERVED
from environment.erasure import HOLDS
from environment.messages import Instant, Modality
from environment.ports import Stores
from orchestration.host.settings import RetentionSettings

_log = structlog.get_logger(__name__)

_CLOCKS_DIFFER = 86_400.0
"""Seconds. Nothing was received later than so far ahead of now: a clock that was set forward said so."""


async def lowest_cursor(stores: Stores, readers: Collection[str]) -> int:
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


async def forget_once(
    stores: Stores, readers: Collection[str], settings: RetentionSettings, now: Instant, mind_now: Instant
) -> int:
    """Forget what may go at wall time ``now`` and that mind time; how many went. Raises ``StoreUnavailable``.

    What a legal hold means stays, and all that is younger.
    """
    gone, batch = 0, settings.batch
    holds = (await HOLDS.all_of(stores.collections)).values()
    held = min((hold.since for hold in holds), default=math.inf)
    if settings.traces is not None:
        retired_before = min(mind_now - settings.traces, held)
        gone += await _all(lambda: stores.traces.forget(retired_before, batch), batch)
    if settings.changes is not None:
        changed_before = mind_now - settings.changes
        gone += await _all(lambda: stores.registry.forget(changed_before, batch), batch)
    if settings.documents is not None:
        expired_before = min(mind_now - settings.documents, held)
        gone += await _all(lambda: stores.collections.forget(expired_before, batch), batch)
    if settings.documents_most is not None and not holds:
        gone += await _trim(stores, settings.documents_most, batch)
    up_to = await lowest_cursor(stores, readers) if settings.perceptions is not None else 0
    up_to = min((up_to, *(hold.first - 1 for hold in holds)))
    if up_to > 0 and settings.perceptions is not None:
        before, believed = now - settings.perceptions, now + _CLOCKS_DIFFER
        gone += await _all(lambda: stores.perceptions.forget(before, up_to, batch, believed), batch)
    return gone


async def _trim(stores: Stores, most: int, batch: int) -> int:
    """Hold every collection of a faculty to so many documents; how many went."""
    gone = 0
    for name in await stores.collections.names():
        if name.startswith((RESERVED, LOCAL)):
            continue
        went = await _all(partial(stores.collections.trim, name, most, batch), batch)
        if went:
            _log.warning("collection_trimmed", collection=name, documents=went, limit="host.retention.documents_most")
        gone += went
    return gone


async def _all(forget: Callable[[], Awaitable[int]], batch: int) -> int:
    """Forget batch after batch until less than a batch went."""
    gone = 0
    while True:
        went = await forget()
        gone += went
        if went < batch:
            return gone
        await asyncio.sleep(0)
