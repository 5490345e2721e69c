"""Certificates: who is let in, what is shown, and how new ones take their place."""

import asyncio
import socket
import ssl
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from cryptography import x509

from orchestration.access.certificates import Certificates
from orchestration.access.errors import BadCredentials
from orchestration.access.settings import TlsSettings
from orchestration.client import ClientSettings, Credentials, MindClient, Unavailable
from orchestration.loading import SettingsError, load_settings
from tests.orchestration.access.conftest import Authority, header
from tests.orchestration.until import until


def client_of(served, authority, token, **more):
    settings = ClientSettings(ca_file=authority.file, **more)
    return MindClient(served.target, credentials=Credentials(settings, token=token), retry_for=0.5, timeout=5)


def serial(port):
    """The number of the certificate that is shown to somebody who connects."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), 60) as plain, context.wrap_socket(plain) as secured:
        return x509.load_der_x509_certificate(secured.getpeercert(binary_form=True)).serial_number


def number(chain):
    return x509.load_pem_x509_certificates(chain.read_bytes())[0].serial_number


async def test_both_speak_tls_and_the_client_checks_it(serve, keys, authority, tmp_path):
    token = keys.make("all")
    trusting = ssl.create_default_context(cafile=authority.file)
    async with serve(tls=authority.tls(), verify=trusting) as served:
        assert served.feed.url.startswith("https://")
        assert (await served.http.get("/v1/status", headers=header(token))).status_code == 200
        async with client_of(served, authority, token) as mind:
            assert (await mind.status()).mind == "alpha"
        stranger = Authority(tmp_path / "elsewhere")
        async with client_of(served, stranger, token) as mind:
            with pytest.raises(Unavailable, match=r"(?i)ssl|tls|handshake|certificate"):
                await mind.status()


async def test_without_the_right_certificate_nobody_gets_as_far_as_a_token(serve, keys, authority, tmp_path):
    token = keys.make("all")
    chain, key = authority.issue("client", "client@submind.test")
    stranger = Authority(tmp_path / "elsewhere")
    foreign = stranger.issue("client", "client@submind.test")
    right = ssl.create_default_context(cafile=authority.file)
    right.load_cert_chain(chain, key)
    async with serve(tls=authority.tls(mutual=True), verify=right) as served:
        assert (await served.http.get("/v1/status", headers=header(token))).status_code == 200
        assert (await served.http.get("/v1/status")).status_code == 401  # the certificate alone is not enough
        async with client_of(served, authority, token, cert_file=chain, key_file=key) as mind:
            assert (await mind.status()).mind == "alpha"
        for shown in ({}, {"cert_file": foreign[0], "key_file": foreign[1]}):
            async with client_of(served, authority, token, **shown) as mind:
                with pytest.raises(Unavailable):
                    await mind.status()
            wrong = ssl.create_default_context(cafile=authority.file)
            if shown:
                wrong.load_cert_chain(*foreign)
            async with httpx.AsyncClient(base_url=served.feed.url, verify=wrong, trust_env=False) as http:
                with pytest.raises(httpx.TransportError):
                    await http.get("/healthz")


async def test_a_new_certificate_is_shown_to_who_connects_next(serve, keys, authority):
    token = keys.make("all")
    tls = authority.tls()
    async with serve(tls=tls, verify=ssl.create_default_context(cafile=authority.file)) as served:
        first = number(tls.certificate)
        async with client_of(served, authority, token) as standing:
            assert (await standing.status()).mind == "alpha"
            for port in (served.port, served.feed.port):
                assert await asyncio.to_thread(serial, port) == first
            authority.issue()
            second = number(tls.certificate)
            assert second != first
            await until(lambda: served.access.certificates._pair.chain == tls.certificate.read_bytes())
            for port in (served.port, served.feed.port):
                assert await asyncio.to_thread(serial, port) == second
            assert (await standing.status()).mind == "alpha"
        async with client_of(served, authority, token) as mind:
            assert (await mind.status()).mind == "alpha"


async def test_a_broken_certificate_is_said_and_the_old_one_kept(serve, keys, authority, tmp_path):
    tls = authority.tls()
    first = number(tls.certificate)
    other_chain, other_key = Authority(tmp_path / "elsewhere").issue()
    key = tls.key.read_bytes()
    async with serve(tls=tls, verify=False) as served:
        for times, broken in enumerate(("tls.crt: none", other_chain.read_text(), ""), 1):
            tls.certificate.write_text(broken)
            await until(lambda: served.access.figures()["access_files_refused_total"] == times)  # noqa: B023
            for port in (served.port, served.feed.port):
                assert await asyncio.to_thread(serial, port) == first
        tls.certificate.write_bytes(other_chain.read_bytes())
        tls.key.write_bytes(other_key.read_bytes())
        await until(lambda: served.access.certificates._pair.chain == other_chain.read_bytes())
        for port in (served.port, served.feed.port):
            assert await asyncio.to_thread(serial, port) == number(other_chain)
    assert key != other_key.read_bytes()


def test_files_that_cannot_be_used_are_refused_in_a_sentence(authority, tmp_path):
    chain, key = authority.issue()
    _, other = authority.issue("other")
    text = tmp_path / "text.pem"
    text.write_text("hello")
    for given, said in (
        ({"certificate": tmp_path / "absent", "key": key}, "absent cannot be read"),
        ({"certificate": text, "key": key}, "text.pem holds no certificate"),
        ({"certificate": chain, "key": other}, "its own key"),
        ({"certificate": chain, "key": text}, "its own key"),
        ({"certificate": chain, "key": key, "client_ca": text}, "text.pem holds no certificate"),
        ({"certificate": chain, "key": key, "client_ca": tmp_path / "absent"}, "absent cannot be read"),
    ):
        with pytest.raises(BadCredentials, match=said) as refusal:
            Certificates(TlsSettings(**given))
        assert "\n" not in str(refusal.value)


def test_settings_that_go_together():
    for environ, said in (
        ({"SUBMIND__ACCESS__TLS__CERTIFICATE": "a.pem"}, "go together"),
        ({"SUBMIND__ACCESS__TLS__CLIENT_CA": "a.pem"}, "takes TLS"),
        ({"SUBMIND__CLIENT__CERT_FILE": "a.pem"}, "go together"),
        ({"SUBMIND__ACCESS__JWT__JWKS": "keys.json"}, "issuer"),
        ({"SUBMIND__ACCESS__JWT__JWKS": "http://idp.example/keys"}, "https"),
    ):
        with pytest.raises(SettingsError, match=said):
            load_settings(None, environ)


def test_when_a_certificate_expires_is_a_figure(authority):
    until_then = datetime.now(UTC) + timedelta(days=3)
    chain, key = authority.issue("short", not_after=until_then)
    found = Certificates(TlsSettings(certificate=chain, key=key)).expires
    assert abs(found - until_then.timestamp()) < 2


def test_a_client_names_the_file_that_it_cannot_use(tmp_path, authority):
    text = tmp_path / "text.pem"
    text.write_text("hello")
    chain, _ = authority.issue("client")
    for given, said in (
        ({"ca_file": tmp_path / "absent"}, "absent cannot be read"),
        ({"ca_file": text}, "text.pem holds no certificate"),
        ({"cert_file": chain, "key_file": text}, "its own key"),
        ({"token_file": text}, "16"),
    ):
        with pytest.raises(BadCredentials, match=said):
            Credentials(ClientSettings(**given))


async def test_a_client_whose_authority_is_gone_resumes_nothing(serve, keys, authority, tmp_path):
    successor = Authority(tmp_path / "successor")
    tls = authority.tls(mutual=True).model_copy(update={"client_ca": tmp_path / "clients.pem"})
    tls.client_ca.write_bytes(authority.file.read_bytes())
    context = ssl.create_default_context(cafile=authority.file)
    context.load_cert_chain(*authority.issue("client", "client@submind.test"))

    def session(of=None):
        plain = socket.create_connection(("127.0.0.1", port), 5)
        with plain, context.wrap_socket(plain, server_hostname="127.0.0.1", session=of) as secured:
            secured.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return b"".join(iter(lambda: secured.recv(4096), b"")), secured.session

    async with serve(tls=tls, verify=False) as served:
        port = served.feed.port
        answer, first = await asyncio.to_thread(session)
        assert b"200 OK" in answer
        tls.client_ca.write_bytes(successor.file.read_bytes())
        await until(lambda: served.access.certificates._pair.authorities == successor.file.read_bytes())
        try:
            answer, _ = await asyncio.to_thread(session, first)
        except OSError:
            answer = b""
        assert b"200 OK" not in answer
