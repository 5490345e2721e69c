"""Whether the files of a mind belong together, before anything is taken in that nobody would ever read."""

from __future__ import annotations

from collections.abc import Collection

from environment.ports import Stores
from orchestration.host.errors import LogCutShort


async def check_log_reaches_cursors(stores: Stores, readers: Collection[str], place: str) -> None:
    """Raise ``LogCutShort`` where one of ``readers`` has read further than there are perceptions.

    Numbers would be given again: what came under them would be taken for read, and cited for what was there before.
    """
    head = await stores.perceptions.head()
    cursors = {report.name: report.metrics.get("cursor", 0.0) for report in await stores.registry.reports()}
    read = int(max((cursors.get(reader, 0.0) for reader in readers), default=0.0))
    if read > head:
        raise LogCutShort(place, read, head)
