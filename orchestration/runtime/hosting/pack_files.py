"""The packs that a mind is configured with, read when it starts and again whenever a file changes."""

import asyncio

import structlog

from actors.knowledge.pack_files import read_packs
from actors.knowledge.settings import KnowledgeSettings
from environment.errors import BadPack
from environment.packs import PackChange, keep_packs
from environment.ports import Stores

_log = structlog.get_logger(__name__)


class PackFiles:
    """Keeps the packs of a mind as its files are; of files that cannot be read what they were."""

    def __init__(self, settings: KnowledgeSettings, stores: Stores, fence: int) -> None:
        self._settings, self._stores, self._fence = settings, stores, fence
        self._seen: list[tuple[int, int]] | None = None
        self.taught = PackChange()
        """What came of the last change, and went."""

    async def look(self) -> None:
        """Take over what changed. Raises ``StoreUnavailable``; nothing is lost then."""
        settings = self._settings
        try:
            stats = [file.stat() for file in settings.packs if file.exists()]
            seen = [(one.st_mtime_ns, one.st_size) for one in stats]
            if seen == self._seen:
                return
            wanted = await asyncio.to_thread(read_packs, settings.packs, settings.pack_trust, settings.pack_sections)
            change = await keep_packs(self._stores, wanted, self._fence)
        except (BadPack, OSError) as error:
            _log.warning("pack_not_read", reason=str(error))
            return
        self._seen = seen
        if change != PackChange():
            self.taught = change
            _log.info("packs_changed", came=len(change.came), gone=len(change.gone))
