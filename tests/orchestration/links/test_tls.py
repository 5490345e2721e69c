"""Links between machines in TLS: who is let in, what a third one sees, and how certificates are renewed."""

import asyncio
import random
import ssl
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from orchestration.access.errors import BadCredentials
from orchestration.host.host import Host
from orchestration.links.addresses import Endpoint
from orchestration.links.codec import encode
from orchestration.links.connection import call
from orchestration.links.directory import Directory
from orchestration.links.frames import Batch
from orchestration.links.handshake import MAGIC, NONCE, NotOfThisMind, new_secret
from orchestration.links.settings import LinkTlsSettings
from orchestration.links.tls import LinkCertificates
from orchestration.loading import SettingsError, load_settings
from tests.orchestration.access.conftest import Authority
from tests.orchestration.links.houses import SETTINGS, Town, event, mail
from tests.orchestration.links.test_handshake import visit
from tests.orchestration.until import until

WHISPER = "what nobody else is to read"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("pki"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("elsewhere"))


def tls(authority, name="node", *, mutual=False, trusted=None, server_name="", **issued):
    """Settings of links with a certificate of this authority, which trust it or another."""
    chain, key = authority.issue(name, "links.submind.test", **issued)
    trusted = (trusted or authority).file
    client_ca = trusted if mutual else None
    given = LinkTlsSettings(certificate=chain, key=key, ca=trusted, client_ca=client_ca, server_name=server_name)
    return SETTINGS.model_copy(update={"tls": given})


@asynccontextmanager
async def tapped(endpoint):
    """Another way to an endpoint, and all that passes on it."""
    tape = bytearray()

    async def pass_on(reader, writer):
        inward = await asyncio.open_connection(endpoint.host, endpoint.port)

        async def copy(source, sink):
            while data := await source.read(65536):
                tape.extend(data)
                sink.write(data)
            sink.close()

        await asyncio.gather(copy(reader, inward[1]), copy(inward[0], writer))

    tap = await asyncio.start_server(pass_on, "127.0.0.1", 0)
    try:
        yield Endpoint(endpoint.machine, endpoint.path, "127.0.0.1", tap.sockets[0].getsockname()[1]), tape
    finally:
        tap.close()


async def reaches(town, endpoint, peer, settings):
    """A connection from another machine, over which something was heard."""
    caller = town.links(f"c{random.randrange(1 << 32):x}", machine="caller", settings=settings)
    connection = await call(endpoint, caller._here, lambda *_: None)
    before = len(peer.heard)
    connection.write(encode(Batch(f"me-{random.random()}", "a", 1, [("peer", mail(WHISPER))])))
    await until(lambda: len(peer.heard) == before + 1)
    return connection


@pytest.mark.parametrize("mutual", [False, True])
async def test_mail_goes_both_ways(tmp_path, authority, mutual):
    async with Town(tmp_path, tls(authority, mutual=mutual)) as town:
        one, heard = await town.house("one", machine="here")
        other, echoed = await town.house("other", machine="there")
        for number in range(3000):
            one.outboxes.put("other", event(number), 0.5)
            other.outboxes.put("one", event(number), 0.5)
        await until(lambda: len(heard.heard) == len(echoed.heard) == 3000)
        assert heard.heard == echoed.heard == [str(number) for number in range(3000)]


async def test_who_listens_in_reads_nothing(tmp_path, authority):
    for settings, readable in ((SETTINGS, True), (tls(authority), False)):
        async with Town(tmp_path / str(readable), settings) as town:
            house, peer = await town.house("peer")
            async with tapped(house._endpoint) as (way, tape):
                connection = await reaches(town, way, peer, settings)
                assert (WHISPER.encode() in tape) is readable
                connection.close()


async def test_a_large_batch_passes_whole(tmp_path, authority):
    async with Town(tmp_path, tls(authority)) as town:
        _, peer = await town.house("peer")
        sender, _ = await town.house("me", machine="other")
        long = [f"{number} {'x' * 400_000}" for number in range(12)]
        for text in long:
            sender.outboxes.put("peer", event(text), 0.5)
        await until(lambda: len(peer.heard) == len(long))
        assert peer.heard == long


async def refused(town, settings, endpoint, match=None):
    caller = town.links("caller", machine="caller", settings=settings)
    with pytest.raises(OSError, match=match):
        await call(endpoint, caller._here, lambda *_: None)


async def test_a_certificate_that_is_not_to_be_trusted_opens_nothing(tmp_path, authority, stranger):
    past = datetime(2020, 1, 1, tzinfo=UTC)
    wrong = {
        "self-signed|unable to get": tls(stranger, "foreign", trusted=stranger),
        "expired": tls(authority, "late", not_before=past, not_after=past + timedelta(days=90)),
    }
    for match, settings in wrong.items():
        async with Town(tmp_path / match[:4], settings) as town:
            house, peer = await town.house("peer")
            await refused(town, tls(authority, "caller"), house._endpoint, match)
            assert not peer.heard
    named = tls(authority, "named", server_name="other.submind.test")
    async with Town(tmp_path / "name", tls(authority)) as town:
        house, peer = await town.house("peer")
        await refused(town, named, house._endpoint, "not valid for 'other.submind.test'")
        await reaches(town, house._endpoint, peer, tls(authority, "right", server_name="links.submind.test"))


async def test_where_callers_show_certificates_a_wrong_one_or_none_is_refused(tmp_path, authority, stranger):
    past = datetime(2020, 1, 1, tzinfo=UTC)
    late = tls(authority, "late", mutual=True, not_before=past, not_after=past + timedelta(days=90))
    foreign = tls(stranger, "foreign", mutual=True, trusted=authority)
    async with Town(tmp_path, tls(authority, mutual=True)) as town:
        house, peer = await town.house("peer")
        for settings in (late, foreign, tls(authority, "none")):
            await refused(town, settings, house._endpoint)
        assert not peer.heard
        await reaches(town, house._endpoint, peer, tls(authority, "caller", mutual=True))


async def test_plain_text_and_tls_do_not_meet(tmp_path, authority):
    async with Town(tmp_path / "tls", tls(authority)) as town:
        house, peer = await town.house("peer")
        with capture_logs() as said:
            await refused(town, SETTINGS, house._endpoint)
            await visit(house._endpoint, MAGIC + b"n" * NONCE)
            await visit(house._endpoint, b"\x16" + b"n" * 500)
        assert sum("plain text" in str(line.get("reason")) for line in said) == 2
        assert not peer.heard
        await reaches(town, house._endpoint, peer, tls(authority, "caller"))
    async with Town(tmp_path / "plain") as town:
        house, peer = await town.house("peer")
        await refused(town, tls(authority, "caller"), house._endpoint)
        assert not peer.heard


async def test_silence_in_the_midst_of_it_is_given_up(tmp_path, authority):
    settings = tls(authority).model_copy(update={"handshake": 0.3})
    async with Town(tmp_path, settings) as town:
        house, peer = await town.house("peer")
        hello, out = ssl.MemoryBIO(), ssl.MemoryBIO()
        with pytest.raises(ssl.SSLWantReadError):
            ssl.create_default_context().wrap_bio(hello, out, server_hostname="x").do_handshake()
        opening = out.read()
        for sent in ((opening[:20],), (opening,), ()):
            await visit(house._endpoint, *sent)  # shown out, or this does not return
        await reaches(town, house._endpoint, peer, tls(authority, "caller"))


async def test_a_certificate_of_the_same_authority_is_not_enough_to_sit_between(tmp_path, authority):
    async with Town(tmp_path, tls(authority)) as town:
        house, peer = await town.house("peer")
        between = LinkCertificates(tls(authority, "between").tls)

        async def sit(reader, writer):
            far_reader, far_writer = await asyncio.open_connection(house._endpoint.host, house._endpoint.port)
            near, far = between.tunnel(caller=False), between.tunnel(caller=True)
            far.begin()
            far_writer.write(far.outgoing())

            async def relay(source, own, other, back, onward):
                while data := await source.read(65536):
                    read = own.feed(data)
                    back.write(own.outgoing())
                    if read:
                        await until(lambda: other.up)
                        onward.write(other.seal(read))
                onward.close()

            await asyncio.gather(
                relay(reader, near, far, writer, far_writer), relay(far_reader, far, near, far_writer, writer)
            )

        server = await asyncio.start_server(sit, "127.0.0.1", 0)
        way = Endpoint("elsewhere", "", *server.sockets[0].getsockname())
        await refused(town, tls(authority, "caller"), way, "secret")
        assert not peer.heard
        server.close()


async def test_a_wrong_secret_opens_nothing_either(tmp_path, authority):
    async with Town(tmp_path, tls(authority)) as town:
        house, _ = await town.house("peer")
        liar = town.links("liar", machine="other", secret=new_secret())
        with pytest.raises(ConnectionRefusedError, match="secret"):
            await call(house._endpoint, liar._here, lambda *_: None)


def shown(connection):
    """The number of the certificate that the called end showed."""
    return x509.load_der_x509_certificate(connection._tunnel._object.getpeercert(binary_form=True)).serial_number


def number(settings):
    return x509.load_pem_x509_certificates(settings.tls.certificate.read_bytes())[0].serial_number


async def test_a_new_certificate_is_shown_to_who_calls_next_and_a_broken_one_is_not(tmp_path, authority):
    settings, caller = tls(authority), tls(authority, "caller")
    async with Town(tmp_path, settings) as town:
        house, peer = await town.house("peer")
        standing = await reaches(town, house._endpoint, peer, caller)
        first = number(settings)
        assert shown(standing) == first
        authority.issue("node", "links.submind.test")
        second = number(settings)
        assert second != first
        assert shown(await reaches(town, house._endpoint, peer, caller)) == second
        settings.tls.certificate.write_text("none")
        with capture_logs() as said:
            for _ in range(2):
                assert shown(await reaches(town, house._endpoint, peer, caller)) == second
        assert [line["event"] for line in said].count("link_certificate_kept") == 1
        authority.issue("node", "links.submind.test")
        assert shown(await reaches(town, house._endpoint, peer, caller)) == number(settings)
        assert standing.open
        standing.write(encode(Batch("still", "a", 1, [("peer", mail("here"))])))
        await until(lambda: "here" in peer.heard)


@given(st.lists(st.integers(1, 700), max_size=12), st.binary(max_size=3000), st.binary(max_size=3000))
def test_whatever_the_pieces_it_says_the_same(authority, cuts, there, back):
    papers = LinkCertificates(tls(authority, "pieces").tls) if not _PAPERS else _PAPERS[0]
    _PAPERS[:] = [papers]
    caller, called = papers.tunnel(caller=True), papers.tunnel(caller=False)
    caller.begin()

    def passed(end, other):
        data, read = end.outgoing(), b""
        for cut in [*cuts, len(data)]:
            read += other.feed(data[:cut])
            data = data[cut:]
        return read + other.feed(data)

    for _ in range(3):
        assert passed(caller, called) + passed(called, caller) == b""
    assert caller.up
    assert called.up
    assert caller.binding == called.binding
    assert there[:16] not in (sealed := caller.seal(there)) or len(there) < 16
    assert called.feed(sealed) == there
    assert caller.feed(called.seal(back)) == back
    with pytest.raises(NotOfThisMind):
        called.feed(bytes(reversed(caller.seal(b"changed on the way"))))


_PAPERS: list[LinkCertificates] = []


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"certificate": "/c", "key": "/k"}, "without `ca`"),
        ({"certificate": "/c"}, "without `key` and `ca`"),
        ({"ca": "/a"}, "without `certificate` and `key`"),
        ({"client_ca": "/a"}, "`client_ca` is of use with TLS only"),
        ({"server_name": "x"}, "`server_name` is of use with TLS only"),
        ({"certificate": "c", "key": "/k", "ca": "/a"}, "`certificate` c must begin with /"),
    ],
)
def test_half_of_it_is_refused(given, sentence):
    flags = {name: (f"runtime.link.tls.{name}", value) for name, value in given.items()}
    with pytest.raises(SettingsError, match=sentence):
        load_settings(environ={}, flags=flags)


async def test_files_that_do_not_fit_are_named_before_anything_starts(tmp_path, authority, stranger):
    good = tls(authority, "good").tls
    empty = tmp_path / "empty"
    empty.write_text("")
    for wrong, sentence in (
        ({"certificate": tmp_path / "nowhere"}, "the certificate of links .*nowhere cannot be read"),
        ({"key": stranger.issue("x")[1]}, "are not a certificate and its own key"),
        ({"certificate": empty}, "are not a certificate and its own key"),
        ({"ca": empty}, "authorities of links .*empty holds no certificate"),
    ):
        made = good.model_copy(update=wrong)
        with pytest.raises(BadCredentials, match=sentence):
            LinkCertificates(made)
        flags = {n: (f"runtime.link.tls.{n}", getattr(made, n)) for n in ("certificate", "key", "ca")}
        with pytest.raises(BadCredentials, match=sentence):
            await Host(load_settings(environ={}, flags=flags), tmp_path / "mind").start()


async def test_plain_text_that_others_can_reach_is_said(tmp_path, authority):
    everywhere = "0.0.0.0"  # noqa: S104 - the test is about that
    for settings, host, said_so in (
        (SETTINGS, everywhere, True),
        (SETTINGS, "localhost", True),  # a name: who knows what it means elsewhere
        (SETTINGS, "127.0.0.1", False),
        (tls(authority), everywhere, False),
    ):
        directory = Directory(tmp_path / "here", settings, secret=new_secret(), host=host)
        with capture_logs() as said:
            await directory.open()
        await directory.close()
        assert ("links_in_plain_text" in [line["event"] for line in said]) is said_so
