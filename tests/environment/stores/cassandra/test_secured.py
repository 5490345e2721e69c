"""TLS, passwords and permissions, against a real server that asks for them; no secret is ever told."""

import asyncio
import logging
import random
import secrets
import traceback

import pytest
import trustme

from environment.errors import StoreBroken, StoreUnavailable
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.schema.keyspaces import create_keyspace
from environment.stores.cassandra.schema.migrations import migrate
from environment.stores.opening import open_stores
from tests.environment.stores.making import perception
from tests.servers.secured import SUPERUSER, SecuredCassandra

PASSWORD = "correct-horse-battery-staple"  # noqa: S105 - of a role that lives as long as these tests
SETTINGS = CassandraSettings(connect_timeout=60)


@pytest.fixture(scope="module")
def server(servers, tmp_path_factory):
    server = SecuredCassandra(tmp_path_factory.mktemp("secured"))
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def files(server, tmp_path_factory):
    """Files of secrets by what they are."""
    folder = tmp_path_factory.mktemp("secrets")
    certificate, key = server.client_certificate(folder)
    made = {"certificate": certificate, "key": key, "ca": server.ca_file}
    for name, text in (("superuser", SUPERUSER), ("password", PASSWORD), ("wrong", "hunter2-hunter2")):
        made[name] = folder / name
        made[name].write_text(f"{text}\n")
    return made


@pytest.fixture(scope="module")
def options(files):
    """The parts of an address that the server wants, which a test may replace or leave out (None)."""

    def options(**changes):
        right = {
            "username": "thinker",
            "password_file": files["password"],
            "ca_file": files["ca"],
            "cert_file": files["certificate"],
            "key_file": files["key"],
        }
        return [f"{name}={value}" for name, value in (right | changes).items() if value is not None]

    return options


@pytest.fixture(scope="module")
def roles(server, files, options):
    """A migrated keyspace; ``thinker`` may do what a mind does, ``stranger`` nothing."""

    async def make():
        chance = random.Random(1)
        root = server.address("minds", *options(username=SUPERUSER, password_file=files["superuser"]))
        for _ in range(240):  # the first role is made shortly after the server answers
            try:
                await create_keyspace(root, 1, rng=chance)
                break
            except StoreBroken:
                await asyncio.sleep(0.5)
        session = await open_session(root, rng=chance)
        for role in ("thinker", "stranger"):
            await session.run(f"CREATE ROLE IF NOT EXISTS {role} WITH PASSWORD = '{PASSWORD}' AND LOGIN = true")
        for permission in ("SELECT", "MODIFY"):
            await session.run(f"GRANT {permission} ON KEYSPACE minds TO thinker")
        await migrate(session, runner="a", rng=chance)
        await session.close()

    asyncio.run(make())


def url(address, options):
    return f"{address}?{'&'.join(('dc=datacenter1', *options))}"


async def refused(server, options, *, kind=(StoreBroken, StoreUnavailable)):
    """What opening says, within its time and on one line."""
    address = server.address("minds", *options)
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(kind) as error:
        await (await open_session(address, SETTINGS, rng=random.Random(1))).close()
    assert loop.time() - began < SETTINGS.connect_timeout
    said = str(error.value)
    assert "\n" not in said
    told = "".join(traceback.format_exception(error.value))
    assert PASSWORD not in told
    assert "hunter2" not in told
    return said


async def test_a_mind_lives_behind_tls_and_a_password(server, roles, options, caplog):
    caplog.set_level(logging.DEBUG, logger="cassandra")
    address = server.address("minds", *options())
    stores = await open_stores(url(address, options()), secrets.token_hex(6))
    try:
        (receipt,) = await stores.perceptions.append([perception()])
        assert receipt.new
        assert len(await stores.perceptions.read(0, 10)) == 1
    finally:
        await stores.close()
    assert "cassandra" in caplog.text
    assert PASSWORD not in caplog.text
    assert PASSWORD not in repr(address) + repr(stores)


async def test_a_wrong_password_names_the_user_and_the_file(server, roles, options, files, caplog):
    caplog.set_level(logging.DEBUG, logger="cassandra")
    said = await refused(server, options(password_file=files["wrong"]), kind=StoreBroken)
    assert "refused user 'thinker' or the password in" in said
    assert str(files["wrong"]) in said
    assert "hunter2" not in caplog.text


async def test_nobody_is_asked_for_a_name(server, options):
    said = await refused(server, options(username=None, password_file=None), kind=StoreBroken)
    assert "give username=NAME&password_file=PATH" in said


async def test_a_role_without_permission_is_told_which_is_missing(server, roles, options):
    address = server.address("minds", *options(username="stranger"))
    with pytest.raises(
        StoreBroken, match=r"the role has no permission: User stranger has no SELECT permission"
    ) as told:
        await open_stores(url(address, options(username="stranger")), "secured")
    assert "\n" not in str(told.value)


async def test_a_role_that_may_not_create_is_told_so_when_it_migrates(server, roles, options):
    address = server.address("others", *options())
    with pytest.raises(StoreBroken, match="no permission: User thinker has no CREATE permission on <all keyspaces>"):
        await create_keyspace(address, 1, SETTINGS, rng=random.Random(1))


async def test_a_server_that_wants_a_certificate_says_so_to_a_client_without(server, options):
    said = await refused(server, options(cert_file=None, key_file=None))
    assert "give cert_file=PATH&key_file=PATH" in said


async def test_a_client_whose_certificate_another_authority_gave_is_refused(server, options, tmp_path):
    certificate, key = server.client_certificate(tmp_path, trustme.CA())
    said = await refused(server, options(cert_file=certificate, key_file=key))
    assert f"it does not trust the client's certificate {certificate}" in said


async def test_a_server_whose_certificate_another_authority_gave_is_not_believed(server, options, tmp_path):
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.pem")
    said = await refused(server, options(ca_file=tmp_path / "ca.pem"), kind=StoreBroken)
    assert "the server's certificate is not to be trusted" in said


async def test_plain_speech_to_a_server_with_tls_is_told_to_use_it(server, options):
    said = await refused(server, options(ca_file=None, cert_file=None, key_file=None), kind=StoreUnavailable)
    assert "give ca_file=PATH" in said


@pytest.mark.parametrize(
    ("part", "text", "what"),
    [
        ("ca_file", None, "ca_file cannot be read: No such file"),
        ("ca_file", "not PEM", "ca_file holds no certificate in PEM form"),
        ("cert_file", "not PEM", "are not a certificate and its own key"),
        ("password_file", None, "password_file cannot be read: No such file"),
        ("password_file", "\n", "password_file is empty"),
    ],
)
async def test_files_that_are_not_what_they_should_be_are_named(server, options, tmp_path, part, text, what):
    file = tmp_path / "file"
    if text is not None:
        file.write_text(text)
    said = await refused(server, options(**{part: file}), kind=StoreBroken)
    assert what in said
    assert str(file) in said
