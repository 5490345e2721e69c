"""The packs of a mind: those it is configured with, read when it starts and whenever a file changes, and added ones."""

import asyncio

import structlog

from actors.knowledge.pack_files import read_packs
from actors.knowledge.settings import KnowledgeSettings
from environment.errors import BadPack
from environment.following import CollectionFollower
from environment.packs import ALWAYS, PACKS, PackChange, PackSection, keep_packs
from environment.ports import Stores

_log = structlog.get_logger(__name__)
_BATCH = 1000


class PackFiles:
    """Keeps the packs of a mind as its files are; of files that cannot be read what they were."""

    def __init__(self, settings: KnowledgeSettings, stores: Stores, fence: int) -> None:
        self._settings, self._stores, self._fence = settings, stores, fence
        self._seen: list[tuple[int, int]] | None = None
        self._kept = CollectionFollower(PACKS, stores.collections, _BATCH)
        self._held: dict[str, PackSection] | None = None
        self.taught = PackChange()
        """What came of the last change, and went."""

    async def look(self) -> None:
        """Take over what changed. Raises ``StoreUnavailable``; nothing is lost then."""
        before = self._held = await self._kept.current(ALWAYS) if self._held is None else self._held
        await self._read()
        now = await self._kept.current(ALWAYS)
        came = tuple(one for key, one in now.items() if key not in before)
        self._held, gone = now, tuple(sorted(before.keys() - now.keys()))
        if came or gone:
            self.taught = PackChange(came, gone)
            _log.info("packs_changed", came=len(came), gone=len(gone))

    async def _read(self) -> None:
        """Keep what the files say, where they have changed."""
        settings = self._settings
        try:
            stats = [file.stat() for file in settings.packs if file.exists()]
            seen = [(one.st_mtime_ns, one.st_size) for one in stats]
            if seen != self._seen:
                wanted = await asyncio.to_thread(
                    read_packs, settings.packs, settings.pack_trust, settings.pack_sections
                )
                await keep_packs(self._stores, wanted, self._fence)
                self._seen = seen
        except (BadPack, OSError) as error:
            _log.warning("pack_not_read", reason=str(error))
