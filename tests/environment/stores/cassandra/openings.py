"""Openings of one mind, and writers that die: for what only a cluster can break."""

import random
import secrets

import pytest

from environment.errors import StoreUnavailable
from environment.messages import Level
from environment.ports import WriteConnections, WriteEntries, WriteLevel, WriteState, WriteTrace
from environment.stores.cassandra.commits.commit_logs import CommitLogs
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.stores import open_stores
from tests.environment.stores.making import NOON, change, connection, entry, live_ids, revision, trace

SMALL = CassandraSettings(record_bytes=1024, generation=16)


def opening(always=None):
    """A fixture that opens the test's mind once more, with these settings or others; all are closed at the end."""

    @pytest.fixture
    async def opened(shared_keyspace):
        openings = []
        mind = secrets.token_hex(6)

        async def another(settings=always, **options):
            options = {"rng": random.Random(len(openings)), "settings": settings, **options}
            openings.append(await open_stores(f"{shared_keyspace}?dc={shared_keyspace.dc}", mind, **options))
            return openings[-1]

        another.mind = mind
        yield another
        for each in openings:
            await each.close()

    return opened


opened = opening()


def dies_before_its_rows(stores):
    """From now on this opening decides on commits and never writes their rows."""

    async def dead(self, rows):
        raise StoreUnavailable("this process has died")

    stores._writer.logs.__class__ = type("Dying", (CommitLogs,), {"__slots__": (), "_write": dead})


async def everything(stores):
    """All that the tests of this file write."""
    return (
        await stores.traces.head(),
        sorted(await live_ids(stores, 100)),
        (await stores.traces.changes(0, 1000))[1],
        await stores.stream.read(1, 1000),
        await stores.registry.connections(),
        await stores.registry.history(),
        await stores.registry.state("x"),
        dict(await stores.statistics()),
    )


A_BIT_OF_ALL = [
    WriteTrace(trace(1)),
    WriteTrace(trace(2)),
    WriteTrace(revision(trace(1), "causes", "because")),
    WriteLevel(trace(2).id, Level(0.01, NOON, 60.0), live=False, conscious=None),
    WriteEntries((entry(1), entry(2))),
    WriteConnections("causes", (connection(),), (("k1", "nobody"),), (change(1), change(2))),
    WriteState("x", b"one"),
]
