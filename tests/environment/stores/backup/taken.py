"""Backups as tests take them."""

import itertools

from environment.stores.backup.archive import ArchiveWriter
from environment.stores.backup.restored import Archived
from environment.stores.backup.taking import Backup, nothing


async def take(source, path, *, beside=nothing, **options):
    """A backup of what ``source`` shows, opened."""
    ticks = itertools.count(1_000)
    with path.open("wb", buffering=0) as file:
        archive = ArchiveWriter(file)
        backup = Backup(source, archive, clock=lambda: float(next(ticks)), **options)
        archive.finish(await backup.run("1.2.3", "alpha", "here", beside))
    return Archived(path)
