"""An etcd that asks for TLS, a certificate and a password."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
import structlog
import trustme

from orchestration.membership.backends import open_coordination
from orchestration.membership.errors import BadCoordination
from orchestration.membership.etcd.address import parse_address
from orchestration.membership.etcd.diagnosis import _meet
from tests.orchestration.membership.joining import STEADY
from tests.servers.etcd import EtcdServer
from tests.servers.secured_etcd import PASSWORDS, SecuredEtcd


@dataclass
class Secured:
    server: SecuredEtcd
    directory: Path
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def address(self, user: str | None = "submind", password: str | None = None, **files: Path | None) -> str:
        """An address with all that is needed, but for what is given otherwise (None: left out)."""
        options = {"ca_file": self.server.ca_file, "cert_file": self.server.cert_file, "key_file": self.server.key_file}
        named: dict[str, Path | str | None] = {**options, **files}
        if user is not None:
            secret = PASSWORDS.get(user, "") if password is None else password
            file = self.directory / f"password-{next(self.numbers)}"
            file.write_text(f"{secret}\n")
            named |= {"username": user, "password_file": file}
        query = "&".join(f"{name}={value}" for name, value in named.items() if value is not None)
        return f"etcd://{self.server.endpoint}?{query}"


@pytest_asyncio.fixture
async def secured(servers: None, tmp_path: Path) -> AsyncIterator[Secured]:
    server = SecuredEtcd(tmp_path / "etcd")
    try:
        await asyncio.to_thread(server.start)
        await server.secure()
        yield Secured(server, tmp_path)
    finally:
        await asyncio.to_thread(server.stop)


async def test_everything_works_over_tls_with_a_password_also_after_the_proof_has_run_out(
    secured: Secured, capfd: pytest.CaptureFixture[str]
) -> None:
    with structlog.testing.capture_logs() as logs:
        async with open_coordination(secured.address(), "mind", settings=STEADY) as one:
            watching = one.configuration.watch()
            assert (await anext(watching)).version == 0
            async with one.leadership("host") as term:
                assert term.token == 1
                assert (await one.configuration.change({"attention.per_hour": 3}, by="ada", at=1.0)).version == 1
                assert (await asyncio.wait_for(anext(watching), 60)).version == 1
            await asyncio.to_thread(secured.server.stop)  # forgets who we are: proofs are kept in its memory
            await asyncio.to_thread(secured.server.start)
            async with asyncio.timeout(60), one.leadership("host") as again:
                assert again.token is not None
                assert again.token >= 2
            assert (await one.configuration.current()).version == 1
            assert (await one.configuration.change({"attention.per_hour": 4}, by="ada", at=2.0)).version == 2
            assert (await asyncio.wait_for(anext(watching), 60)).version == 2
    assert PASSWORDS["submind"] not in f"{logs}{capfd.readouterr()}{one.address}"


async def test_what_is_wrong_is_told_in_a_sentence(secured: Secured) -> None:
    where = secured.server.endpoint
    another = trustme.CA(organization_name="somebody else")
    other_ca = secured.directory / "other-ca.pem"
    another.cert_pem.write_to_path(other_ca)
    cert, key = secured.server.client_certificate("other", another)
    none: dict[str, Path | None] = {"ca_file": None, "cert_file": None, "key_file": None}
    for address, sentence in (
        (secured.address("submind", "not it: 7f3a"), "etcd knows no such username and password"),
        (secured.address("nobody", "x"), "etcd knows no such username and password"),
        (secured.address(user=None), "etcd asks who we are: name username and password_file"),
        (secured.address(user="stranger"), "etcd does not let this user read and write under /submind/mind/"),
        (secured.address(ca_file=other_ca), f"the certificate of {where} is not to be trusted by ca_file {other_ca}"),
        (secured.address(cert_file=cert, key_file=key), f"{where} does not accept cert_file {cert}"),
        (secured.address(cert_file=None, key_file=None), f"{where} asks for our certificate"),
        (secured.address(**none), f"{where} does not take plain connections"),
    ):
        began = time.monotonic()
        with pytest.raises(BadCoordination) as caught:
            async with open_coordination(address, "mind", settings=STEADY):
                pass
        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)
        assert time.monotonic() - began <= STEADY.connect_timeout
        for password in (*PASSWORDS.values(), "not it: 7f3a"):
            assert password not in str(caught.value)


async def test_a_slow_server_is_not_taken_for_something_else(secured: Secured) -> None:
    server = secured.server
    assert await _meet("127.0.0.1", server.port, parse_address(secured.address())) is None


async def test_tls_where_there_is_none(etcd_of_its_own: EtcdServer, tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(ca)
    with pytest.raises(BadCoordination, match="does not speak TLS: leave ca_file"):
        async with open_coordination(f"etcd://{etcd_of_its_own.endpoint}?ca_file={ca}", "mind", settings=STEADY):
            pass


async def test_a_server_that_asks_for_no_certificate_wants_a_password_all_the_same(
    servers: None, tmp_path: Path
) -> None:
    server = SecuredEtcd(tmp_path / "etcd", asks=False)
    await asyncio.to_thread(server.start)
    try:
        await server.secure()
        one_sided = Secured(server, tmp_path)
        nothing: dict[str, Path | None] = {"cert_file": None, "key_file": None}
        async with (
            open_coordination(one_sided.address(**nothing), "mind", settings=STEADY) as one,
            one.leadership("host") as term,
        ):
            assert term.token == 1
        with pytest.raises(BadCoordination, match="etcd knows no such username and password"):
            async with open_coordination(one_sided.address("submind", "7f3a", **nothing), "mind", settings=STEADY):
                pass
    finally:
        await asyncio.to_thread(server.stop)


def _expired(authority: trustme.CA) -> trustme.LeafCert:
    past = datetime(2020, 1, 1, tzinfo=UTC)
    return authority.issue_cert("127.0.0.1", not_before=past, not_after=past + timedelta(days=90))


def _elsewhere(authority: trustme.CA) -> trustme.LeafCert:
    return authority.issue_cert("etcd-1.example", "10.0.0.1")


@pytest.mark.parametrize(
    ("issue", "sentence"),
    [(_expired, "certificate has expired"), (_elsewhere, "IP address mismatch, certificate is not valid for")],
)
async def test_a_certificate_that_is_not_to_be_trusted_is_told_why(
    servers: None,
    tmp_path: Path,
    issue: Callable[[trustme.CA], trustme.LeafCert],
    sentence: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    server = SecuredEtcd(tmp_path / "etcd", issue=issue)
    await asyncio.to_thread(server.start)
    try:
        began = time.monotonic()
        with pytest.raises(BadCoordination) as caught:
            async with open_coordination(Secured(server, tmp_path).address(), "mind", settings=STEADY):
                pass
        assert time.monotonic() - began <= STEADY.connect_timeout
        where = f"the certificate of {server.endpoint} is not to be trusted by ca_file {server.ca_file}: "
        assert f"{where}{sentence}" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert PASSWORDS["submind"] not in f"{caught.value}{capfd.readouterr()}"
    finally:
        await asyncio.to_thread(server.stop)
