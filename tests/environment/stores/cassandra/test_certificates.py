"""Whose certificate is believed: real handshakes, before a real server."""

import asyncio
import random
from datetime import UTC, datetime, timedelta

import pytest
import trustme

from environment.errors import StoreBroken
from environment.stores.cassandra.driver.address import parse_address
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.settings import CassandraSettings
from tests.servers.front import front

SETTINGS = CassandraSettings(connect_timeout=60)
PAST = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def authority():
    return trustme.CA(organization_name="submind tests")


@pytest.fixture
def opening(keyspace, authority, tmp_path):
    """Opens a session through a front that shows a certificate."""
    ca = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(ca)

    async def opening(certificate):
        async with front(certificate, keyspace.hosts[0][1]) as port:
            place = f"cassandra://127.0.0.1:{port}/{keyspace.keyspace}?dc={keyspace.dc}&ca_file={ca}"
            began = asyncio.get_running_loop().time()
            try:
                session = await open_session(parse_address(place), SETTINGS, rng=random.Random(1))
                await session.close()
            finally:
                assert asyncio.get_running_loop().time() - began < SETTINGS.connect_timeout

    return opening


async def test_a_right_one_is_believed(opening, authority):
    await opening(authority.issue_cert("127.0.0.1"))


async def test_one_that_has_expired_is_not(opening, authority):
    expired = authority.issue_cert("127.0.0.1", not_before=PAST, not_after=PAST + timedelta(days=90))
    with pytest.raises(StoreBroken, match=r"the server's certificate is not to be trusted: certificate has expired$"):
        await opening(expired)


async def test_one_of_another_host_is_not(opening, authority):
    with pytest.raises(
        StoreBroken, match=r"the server's certificate is not to be trusted: IP address mismatch, .* '127.0.0.1'$"
    ):
        await opening(authority.issue_cert("cassandra-1.example", "10.0.0.1"))


async def test_one_that_another_authority_gave_is_not(opening):
    with pytest.raises(
        StoreBroken, match=r"the server's certificate is not to be trusted: unable to get local issuer certificate$"
    ):
        await opening(trustme.CA(organization_name="somebody else").issue_cert("127.0.0.1"))
