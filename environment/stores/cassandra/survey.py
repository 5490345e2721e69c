"""What a cluster looks like to somebody who would rely on it: copies, servers, clocks."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from environment.errors import SubliminalError
from environment.messages import Instant
from environment.stores.cassandra.driver.address import parse_address
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.settings import CassandraSettings

_COPIES = "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?"
_SYNC = "SELECT value FROM system_views.settings WHERE name = 'commitlog_sync'"
_NOW = "SELECT toUnixTimestamp(now()) AS at FROM system.local"


@dataclass(frozen=True, slots=True)
class ClusterSurvey:
    """A keyspace and the servers of its data centre."""

    keyspace: str
    dc: str
    strategy: str
    """Of replication, without its package: ``NetworkTopologyStrategy``."""
    copies: int
    """In the data centre of the address; where the strategy knows none, in all."""
    up: tuple[str, ...]
    """Servers of the data centre that answer, ..."""
    down: tuple[str, ...]
    """... and those that do not."""
    apart: dict[str, float]
    """By how many seconds the clock of each that answers is ahead of ours, half the way of the question allowed for."""
    sync: str
    """``commitlog_sync`` of the server that was asked: ``periodic`` answers before it writes, others after; empty where
    the role may not read it."""

    @property
    def quorum(self) -> int:
        """Copies that must answer for anything to be read or written."""
        return self.copies // 2 + 1

    @property
    def outlives_a_kill(self) -> bool:
        """Whether what was acknowledged is still there after any one server was killed."""
        return self.copies > 1 or self.sync not in {"", "periodic"}


async def survey(
    place: str,
    settings: CassandraSettings,
    *,
    rng: random.Random,
    wall: Callable[[], Instant],
    ticking: Callable[[], float],
) -> ClusterSurvey:
    """Ask a cluster. ``ticking``: seconds of a clock that only goes forward. Raises as ``open_session``."""
    address = parse_address(place)
    session = await open_session(address, settings, rng=rng)
    try:
        (row,) = await session.execute(await session.prepare(_COPIES), (address.keyspace,), idempotent=True)
        said = dict(row.replication)
        strategy = str(said.pop("class", "")).rpartition(".")[2]
        copies = int(str(said.get(address.dc, said.get("replication_factor", 0))).partition("/")[0])
        up, down, apart = list[str](), list[str](), dict[str, float]()
        for node in session.nodes():
            if node.datacenter != address.dc:
                continue
            name, began = str(node.address), ticking()
            try:
                (told,) = await session.ask_node(node, _NOW)
            except SubliminalError:
                down.append(name)
                continue
            up.append(name)
            apart[name] = told.at / 1000 - (wall() - (ticking() - began) / 2)
        sync = ""
        with suppress(SubliminalError):
            sync = (await session.run(_SYNC))[0].value
        return ClusterSurvey(address.keyspace, address.dc, strategy, copies, tuple(up), tuple(down), apart, sync)
    finally:
        await session.close()
