"""Making the keyspace that minds live in."""

import random
from typing import Any

from environment.errors import StoreBroken
from environment.stores.cassandra.driver.address import CassandraAddress
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.settings import CassandraSettings

_NODES = "SELECT data_center FROM system.{}"
_THERE = "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?"


async def create_keyspace(
    address: CassandraAddress,
    replication: int,
    settings: CassandraSettings | None = None,
    *,
    rng: random.Random,
) -> bool:
    """Make the keyspace with ``replication`` copies in the address's data centre; whether it was not there before.

    One that is there is left as it is. Raises ``StoreBroken`` where the data centre has fewer nodes than copies:
    no request would ever be served.
    """
    session = await open_session(address, settings, rng=rng, keyspace=False)
    try:
        there: list[Any] = await session.execute(await session.prepare(_THERE), (address.keyspace,), idempotent=True)
        if there:
            return False
        rows = [row for table in ("local", "peers_v2") for row in await session.run(_NODES.format(table))]
        nodes = sum(row.data_center == address.dc for row in rows)
        if nodes < replication:
            raise StoreBroken(
                str(address),
                f"{replication} copies need as many nodes, data centre {address.dc!r} has {nodes}: "
                f"give --replication {nodes} or fewer",
            )
        await session.run(
            f"CREATE KEYSPACE IF NOT EXISTS {address.keyspace} WITH replication = "
            f"{{'class': 'NetworkTopologyStrategy', '{address.dc}': {replication}}}"
        )
        return True
    finally:
        await session.close()
