"""A Cassandra whose disks have no room left: writers are told, readers are served."""

import asyncio
import random

import pytest

from environment.errors import StoreBroken, StoreFull
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.schema.keyspaces import create_keyspace
from tests.servers.secured import SUPERUSER, SecuredCassandra


@pytest.fixture
def server(servers, tmp_path):
    """A server that calls itself full soon. It has users because guardrails do not hold a superuser, or nobody."""
    server = SecuredCassandra(
        tmp_path / "cassandra",
        configuration={"data_disk_usage_percentage_fail_threshold": 1, "data_disk_usage_max_disk_size": "1MiB"},
        properties={"cassandra.disk_usage.monitor_interval_ms": "500"},
    )
    server.start()
    try:
        yield server
    finally:
        server.kill()


async def test_no_room_is_told_apart_from_no_answer(server, tmp_path):
    certificate, key = server.client_certificate(tmp_path)
    (tmp_path / "password").write_text(SUPERUSER)

    def address(user):
        files = (f"password_file={tmp_path / 'password'}", f"ca_file={server.ca_file}", f"cert_file={certificate}")
        return server.address("minds", f"username={user}", *files, f"key_file={key}")

    for _ in range(240):  # the first role is made shortly after the server answers
        try:
            await create_keyspace(address(SUPERUSER), 1, rng=random.Random(1))
            break
        except StoreBroken:
            await asyncio.sleep(0.5)
    root = await open_session(address(SUPERUSER), rng=random.Random(1))
    await root.run("CREATE TABLE numbers (a int PRIMARY KEY, b blob)")
    await root.run(f"CREATE ROLE thinker WITH PASSWORD = '{SUPERUSER}' AND LOGIN = true")
    for permission in ("SELECT", "MODIFY"):
        await root.run(f"GRANT {permission} ON KEYSPACE minds TO thinker")
    await root.close()
    session = await open_session(address("thinker"), rng=random.Random(1))
    try:
        insert = await session.prepare("INSERT INTO numbers (a, b) VALUES (?, ?)")

        async def fill():
            for at in range(10_000):
                await session.execute(insert, (at, bytes(100_000)), idempotent=True)
                await asyncio.sleep(0.05)

        with pytest.raises(StoreFull, match="no room left"):
            await asyncio.wait_for(fill(), 60)
        assert session.circuit == "closed"
        select = await session.prepare("SELECT a FROM numbers")
        assert isinstance(await session.execute(select, idempotent=True), list)
    finally:
        await session.close()
