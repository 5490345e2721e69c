"""Addresses that cannot be used: one clear sentence each, in time."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestration.membership.backends import open_coordination
from orchestration.membership.errors import BadCoordination, CoordinationError, CoordinationUnavailable
from orchestration.membership.etcd.address import EtcdAddress, parse_address, read_credentials
from orchestration.membership.settings import CoordinationSettings
from tests.servers.process import free_ports

WITHIN = CoordinationSettings(connect_timeout=60)
"""However long this machine takes to say so."""
SOON = CoordinationSettings(connect_timeout=3)
"""For silence, which is listened to until this is over."""


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("etcd://a", EtcdAddress((("a", 2379),))),
        ("etcd://a:1,b,[::1]:3", EtcdAddress((("a", 1), ("b", 2379), ("::1", 3)))),
        ("etcd://a:1,a:1/", EtcdAddress((("a", 1),))),
        (
            "etcd://a?username=u&password_file=/p&ca_file=/c&cert_file=/d&key_file=/e",
            EtcdAddress(
                (("a", 2379),),
                username="u",
                password_file=Path("/p"),
                ca_file=Path("/c"),
                cert_file=Path("/d"),
                key_file=Path("/e"),
            ),
        ),
    ],
)
def test_addresses(text: str, address: EtcdAddress) -> None:
    assert parse_address(text) == address


def test_an_address_is_told_without_its_options() -> None:
    address = parse_address("etcd://a:1,[::1]:3?username=u&password_file=/secret&ca_file=/c")
    assert address.label == "etcd://a:1,[::1]:3"
    assert address.tls
    assert not parse_address("etcd://a").tls


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("etcd://", "'' is not HOST:PORT"),
        ("etcd://a:x", "'a:x' is not HOST:PORT"),
        ("etcd://a:70000", "'a:70000' is not HOST:PORT"),
        ("etcd://a,,b", "'' is not HOST:PORT"),
        ("etcd://a/keys", "an etcd address has no path: leave '/keys' out"),
        ("etcd://ada:secret@a", "holds no password"),
        ("etcd://a?user=x", "no option 'user': it knows username"),
        ("etcd://a?username=x", "username and password_file come together"),
        ("etcd://a?cert_file=x", "cert_file and key_file come together"),
        ("etcd://a?ca_file=", "the option 'ca_file' of an address is given once, with a value"),
        ("etcd://a?ca_file=x&ca_file=y", "is given once"),
    ],
)
def test_what_is_no_address_is_told(text: str, sentence: str) -> None:
    with pytest.raises(BadCoordination) as caught:
        parse_address(text)
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    empty, text = tmp_path / "empty", tmp_path / "text"
    empty.write_text(" \n")
    text.write_text("no certificate")
    missing = tmp_path / "missing"
    for options, sentence in (
        (f"username=u&password_file={missing}", f"password_file {missing} cannot be read: No such file"),
        (f"username=u&password_file={empty}", f"password_file {empty} is empty"),
        (f"ca_file={missing}", f"ca_file {missing} cannot be read"),
        (f"ca_file={text}", f"ca_file {text} holds no certificate in PEM form"),
        (
            f"cert_file={text}&key_file={text}",
            f"cert_file {text} and key_file {text} are not a certificate and its own",
        ),
    ):
        with pytest.raises(BadCoordination, match=sentence):
            read_credentials(parse_address(f"etcd://a?{options}"))


async def refused(address: str, kind: type[CoordinationError], settings: CoordinationSettings = WITHIN) -> str:
    """What is said about an address, in one sentence and in time."""
    began = time.monotonic()
    with pytest.raises(kind) as caught:
        async with open_coordination(address, "mind", settings=settings):
            pass
    assert time.monotonic() - began <= settings.connect_timeout + 30
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250
    return str(caught.value)


@pytest.fixture
async def chatter() -> AsyncIterator[str]:
    """A server that speaks, but nothing that we understand."""

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.org at your service\r\n")

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()


@pytest.fixture
async def silence() -> AsyncIterator[str]:
    """A server that accepts and says nothing."""
    held: list[asyncio.StreamWriter] = []

    async def hold(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    for writer in held:
        writer.close()


async def test_nobody_there() -> None:
    (port,) = free_ports(1)
    said = await refused(f"etcd://127.0.0.1:{port}", CoordinationUnavailable)
    assert said == f"nothing listens at 127.0.0.1:{port}: check host and port, and whether etcd runs"


async def test_no_such_host() -> None:
    said = await refused("etcd://nowhere.invalid", CoordinationUnavailable)
    assert said.startswith("nowhere.invalid:2379 cannot be reached: ")


async def test_somebody_else_there(chatter: str) -> None:
    said = await refused(f"etcd://{chatter}", BadCoordination)
    assert said == f"what answers at {chatter} does not speak etcd's protocol: check the port"


async def test_somebody_silent_there(silence: str) -> None:
    said = await refused(f"etcd://{silence}", CoordinationUnavailable, SOON)
    assert said == f"nothing answers at {silence}: check host, port and firewall"


async def test_one_that_answers_is_enough(etcd: str) -> None:
    (port,) = free_ports(1)
    async with open_coordination(f"etcd://127.0.0.1:{port},{etcd}", "mind", settings=WITHIN) as coordination:
        assert await coordination.leader() is None
        assert coordination.address == f"etcd://127.0.0.1:{port},{etcd}"


async def test_a_password_nobody_asked_for(etcd: str, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret")
    said = await refused(f"etcd://{etcd}?username=u&password_file={tmp_path / 'password'}", BadCoordination)
    assert said == f"{etcd}: etcd does not ask for a password: leave username and password_file out"
