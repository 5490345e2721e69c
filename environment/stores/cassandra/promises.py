"""What a cluster's own settings make of an acknowledgement."""

from __future__ import annotations

import random
from dataclasses import dataclass

from environment.stores.cassandra.driver.address import parse_address
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.settings import CassandraSettings

_COPIES = "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?"
_SYNC = "SELECT value FROM system_views.settings WHERE name = 'commitlog_sync'"


@dataclass(frozen=True, slots=True)
class Promises:
    """How many copies there are of a row, and whether a server has written one when it answers."""

    copies: int
    """In the data centre of the address."""
    sync: str
    """``commitlog_sync`` of the server that was asked: ``periodic`` answers before it writes, others after."""

    @property
    def outlives_a_kill(self) -> bool:
        """Whether what was acknowledged is still there after any one server was killed."""
        return self.copies > 1 or self.sync != "periodic"


async def promises(place: str, settings: CassandraSettings, *, rng: random.Random) -> Promises:
    """Ask a cluster. Raises ``StoreBroken`` where the role may not read settings, and as ``open_session``."""
    address = parse_address(place)
    session = await open_session(address, settings, rng=rng)
    try:
        rows = await session.execute(await session.prepare(_COPIES), (address.keyspace,), idempotent=True)
        sync = await session.run(_SYNC)
        return Promises(int(rows[0].replication.get(address.dc, 0)), sync[0].value if sync else "periodic")
    finally:
        await session.close()
