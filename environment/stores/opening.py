"""Opening the stores of a mind by their address: the one place that knows which backends there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from environment.addresses import InvalidAddress
from environment.errors import BadAddress

if TYPE_CHECKING:
    from environment.stores.cassandra.driver.settings import CassandraSettings
    from environment.stores.movable import Movable

SQLITE = "sqlite:"
CASSANDRA = "cassandra://"


def directory_of(place: str | Path) -> Path | None:
    """The directory of an embedded store; None for one on a cluster."""
    if isinstance(place, Path):
        return place
    if place.startswith(CASSANDRA):
        return None
    return Path(place.removeprefix(SQLITE))


async def open_stores(
    place: str | Path,
    mind: str,
    *,
    writer: str = "main",
    inline: bool = False,
    apart: bool = False,
    cassandra: CassandraSettings | None = None,
) -> Movable:
    """Open the stores of ``mind`` at ``place``: a directory, ``sqlite:DIR`` or ``cassandra://…``.

    ``writer`` names the writer; ``apart`` has an embedded perception log written by a process of its own;
    ``cassandra`` bounds and times the requests to a cluster. Raises ``BadAddress``, ``StoreBroken``,
    ``StoreUnavailable`` or ``WrongSchema``.
    """
    directory = directory_of(place)
    if directory is None:
        from environment.stores.cassandra.stores import open_stores as open_cassandra  # noqa: PLC0415 - as below

        try:
            return await open_cassandra(str(place), mind, writer=writer, settings=cassandra)
        except InvalidAddress as error:
            raise BadAddress(str(error)) from None
    from environment.stores.sqlite import open_stores as open_sqlite  # noqa: PLC0415 - each backend where it is used

    return await open_sqlite(directory, mind, writer=writer, inline=inline, apart=apart)
