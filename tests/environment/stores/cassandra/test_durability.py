"""What the settings of a server of ours make of an acknowledgement."""

import random
import time

import pytest

from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.survey import ClusterSurvey, survey
from tests.servers.fixtures import make_keyspace


@pytest.mark.parametrize(
    ("copies", "sync", "outlives"),
    [(1, "periodic", False), (1, "batch", True), (1, "group", True), (3, "periodic", True)],
)
def test_one_copy_that_is_written_later_does_not_outlive_a_kill(copies, sync, outlives):
    assert ClusterSurvey("minds", "dc1", "", copies, (), (), {}, sync).outlives_a_kill is outlives


async def test_a_server_that_writes_first_says_so(cassandra_of_its_own):
    address = cassandra_of_its_own.address("minds")
    await make_keyspace(address)
    clocks = {"wall": time.time, "ticking": time.monotonic}
    found = await survey(f"{address}?dc={address.dc}", CassandraSettings(), rng=random.Random(1), **clocks)
    assert (found.copies, found.sync) == (1, "batch")
