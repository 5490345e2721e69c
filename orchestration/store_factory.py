"""Where a mind is kept: its stores opened by address, and the file that tells when perceptions came in."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import structlog

from environment.errors import StoreUnavailable
from environment.stores.movable import Movable
from environment.stores.opening import SQLITE, directory_of, open_stores
from orchestration.settings import Settings

_log = structlog.get_logger(__name__)
_TOLD = "perceived"
"""Written to when perceptions were appended to a log that is no file of this machine."""


def address_of(settings: Settings, data_dir: Path) -> str | Path:
    """Where the mind of these settings is kept."""
    return settings.store.address or data_dir


async def open_mind(settings: Settings, data_dir: Path, writer: str, *, apart: bool = False) -> Movable:
    """Open the stores of a mind for the writer called ``writer``. Raises as ``open_stores``."""
    return await open_stores(
        address_of(settings, data_dir),
        settings.mind.name,
        writer=writer,
        apart=apart,
        cassandra=settings.store.cassandra,
    )


async def open_patiently(
    settings: Settings, data_dir: Path, writer: str, pause: Callable[[int], float] = lambda _: 1.0
) -> Movable:
    """``open_mind``, for whoever is started while the store is away: not being able to open it yet is no failure.

    ``pause`` gives the seconds to wait after each attempt, the first being number 0.
    """
    attempt = 0
    while True:
        try:
            return await open_mind(settings, data_dir, writer)
        except StoreUnavailable as error:
            if attempt == 0:
                _log.warning("store_unavailable", reason=str(error))
            await asyncio.sleep(max(pause(attempt), min(error.retry_after, 1.0)))
            attempt += 1


def embedded_in(settings: Settings, data_dir: Path) -> Path | None:
    """The directory of a mind's SQLite files; None where it is kept on a cluster."""
    return directory_of(address_of(settings, data_dir))


def settled(settings: Settings) -> Settings:
    """The same settings, whose addresses mean the same in every process of the mind, wherever it was started."""
    address = settings.store.address
    directory = directory_of(address) if address else None
    if directory is None:
        return settings
    store = settings.store.model_copy(update={"address": f"{SQLITE}{directory.resolve()}"})
    return settings.model_copy(update={"store": store})


def index_file(settings: Settings, data_dir: Path) -> Path | None:
    """Where what is recalled from is kept; None for a mind on a cluster: nobody could forget it in all such places."""
    return None if embedded_in(settings, data_dir) is None else data_dir / "episodes.index"


def log_file(settings: Settings, data_dir: Path) -> Path:
    """The file that is written to whenever perceptions are appended: whoever waits for them watches it."""
    directory = embedded_in(settings, data_dir)
    # Every commit writes to the former, and it is there as long as the host holds the log open.
    return data_dir / _TOLD if directory is None else directory / "perceptions.db-wal"
