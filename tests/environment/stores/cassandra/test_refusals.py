"""Addresses that lead nowhere: one sentence each, within the connect timeout, from real servers and real ports."""

import asyncio
import random
from dataclasses import replace

import pytest
import trustme

from environment.errors import StoreBroken, StoreUnavailable
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.opening import open_stores
from tests.servers.process import free_ports

SETTINGS = CassandraSettings(connect_timeout=20)


async def refused(address, kind):
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(kind) as error:
        await (await open_session(address, SETTINGS, rng=random.Random(1))).close()
    assert loop.time() - began < SETTINGS.connect_timeout + 0.5
    assert "\n" not in str(error.value)
    return str(error.value)


async def test_a_port_where_nobody_listens(cassandra):
    (port,) = free_ports(1)
    said = await refused(replace(cassandra("minds"), hosts=(("127.0.0.1", port),)), StoreUnavailable)
    assert f"127.0.0.1:{port} refused the connection (is the port right, is it running?)" in said


async def test_a_port_where_somebody_else_listens(cassandra, etcd):
    host, _, port = etcd.rpartition(":")
    said = await refused(replace(cassandra("minds"), hosts=((host, int(port)),)), StoreUnavailable)
    assert "did not answer (is it a Cassandra server?)" in said or "closed the connection" in said


async def test_a_data_centre_that_is_not_there(keyspace):
    said = await refused(replace(keyspace, dc="elsewhere"), StoreBroken)
    assert f"the cluster has no data centre 'elsewhere': it has {keyspace.dc}" in said


async def test_a_keyspace_that_is_not_there(cassandra):
    said = await refused(cassandra("never_made"), StoreBroken)
    assert "there is no keyspace 'never_made': `submind migrate --create` makes it" in said


async def test_names_that_nobody_has(cassandra):
    address = replace(cassandra("minds"), hosts=(("one.invalid", 9042), ("two.invalid", 9042)))
    assert "none of its host names can be resolved" in await refused(address, StoreUnavailable)


async def test_one_good_host_among_bad_ones_is_enough(keyspace):
    (port,) = free_ports(1)
    address = replace(keyspace, hosts=(("127.0.0.1", port), *keyspace.hosts))
    session = await open_session(address, SETTINGS, rng=random.Random(1))
    await session.close()


async def test_tls_to_a_server_without(keyspace, tmp_path):
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.pem")
    said = await refused(replace(keyspace, ca_file=tmp_path / "ca.pem"), StoreBroken)
    assert "the servers do not speak TLS on this port: leave ca_file, cert_file and key_file out" in said


async def test_an_address_that_cannot_be_read_is_told_by_opening_as_well():
    with pytest.raises(StoreBroken, match="names no data centre"):
        await open_stores("cassandra://somewhere/minds", "mind")
