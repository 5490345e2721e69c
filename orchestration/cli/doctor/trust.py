"""The checks of ``submind doctor`` on secrets and certificates: who can read them, and how long they hold."""

import asyncio
import ssl
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from urllib.parse import parse_qsl

from cryptography import x509
from pydantic import BaseModel

from environment.addresses import ClusterAddress, InvalidAddress, endpoint_label, endpoint_of
from environment.messages import Instant
from environment.stores.cassandra.driver.address import parse_address as cassandra_at
from orchestration.access.errors import BadCredentials
from orchestration.access.identity import IdentityProvider
from orchestration.access.tokens import read_tokens
from orchestration.cli.doctor.checks import Finding, State
from orchestration.clock import wall
from orchestration.gateway.auth import is_loopback, split_listen
from orchestration.gateway.errors import UnsafeListen
from orchestration.membership.errors import BadCoordination
from orchestration.membership.etcd.address import parse_address as etcd_at
from orchestration.settings import Settings

DAY = 86_400.0
SOON = 21 * DAY
"""Before its end a certificate is doubted so long: time for a person to notice, and for an automaton to have failed."""
_WITHIN = 3.0
_SECRETS = ("token_file", "password_file", "key_file", "api_key_file", "key")
_CERTIFICATES = ("ca_file", "cert_file", "certificate", "client_ca", "ca")


def secrets(settings: Settings) -> Iterator[Finding]:
    """Files that hold a secret: there, and nobody else's to read."""
    named = {name: path for name, path in _files(settings).items() if name.rpartition(" ")[2] in _SECRETS}
    for name, path in named.items():
        try:
            mode = path.stat().st_mode
        except OSError as error:
            yield Finding("secret", State.BAD, f"{name} {path}: {error.strerror}", "make the file, or correct its name")
            continue
        if mode & (stat.S_IROTH | stat.S_IWOTH):
            fix = f"chmod 600 {path}, owned by whom the mind runs as; then change the secret"
            yield Finding("secret", State.DOUBTFUL, f"{name} {path} can be read by everybody on this machine", fix)
        else:
            yield Finding("secret", State.GOOD, f"{name} {path}")


def tokens(settings: Settings, now: Instant) -> Iterator[Finding]:
    """Whether anybody but the operator can call: tokens are for a mind, by its name."""
    file, mind = settings.access.tokens_file, settings.mind.name
    if file is None:
        return
    try:
        entries = read_tokens(file)
    except BadCredentials:
        return  # said of the addresses that it guards
    ours = [entry for entry in entries if entry.mind == mind]
    holding = [entry for entry in ours if entry.expires is None or entry.expires.timestamp() > now]
    if holding:
        yield Finding("tokens", State.GOOD, f"{file} has {len(holding)} for {mind}")
        return
    others = ", ".join(sorted({entry.mind for entry in entries} - {mind}))
    why = "those for it have expired" if ours else f"those in it are for {others}" if others else "it is empty"
    fix = f"submind token new NAME --for {mind} --scope SCOPE --file {file}; or correct mind.name"
    yield Finding("tokens", State.DOUBTFUL, f"{file} has no token that {mind} takes: {why}", fix)


async def issuer(settings: Settings) -> AsyncIterator[Finding]:
    """Whether the keys by which tokens of an identity provider are checked can be had."""
    jwt = settings.access.jwt
    if not jwt.jwks:
        return
    try:
        number = await IdentityProvider(jwt, settings.mind.name, wall, monotonic).look()
    except BadCredentials as error:
        fix = "correct access.jwt.jwks, or let this machine reach it; until then every JWT is refused"
        yield Finding("keys", State.BAD, str(error), fix)
    else:
        yield Finding("keys", State.GOOD, f"{jwt.jwks} has {number}")


def certificates(settings: Settings, now: Instant) -> Iterator[Finding]:
    """Certificates in files of this machine."""
    for name, path in _files(settings).items():
        if name.rpartition(" ")[2] not in _CERTIFICATES:
            continue
        try:
            found = x509.load_pem_x509_certificates(path.read_bytes())
        except OSError as error:
            yield Finding("certificate", State.BAD, f"{name} {path}: {error.strerror}", "correct its name")
            continue
        except ValueError:
            yield Finding("certificate", State.BAD, f"{name} {path} holds no certificate", "give a file in PEM form")
            continue
        first = min(found, key=lambda each: each.not_valid_after_utc)
        yield lasting(f"{name} {path}", first, now)


def exposed(settings: Settings) -> Iterator[Finding]:
    """What other machines can reach: encrypted, and under a name that the certificate has."""
    open_to_others = []
    for option, listen in (("gateway.listen", settings.gateway.listen), ("feed.listen", settings.feed.listen)):
        with suppress(UnsafeListen):
            if not is_loopback(split_listen(listen)[0]):
                open_to_others.append(f"{option} {listen}")
    certificate, advertised = settings.access.tls.certificate, _host(settings.host.advertise)
    if open_to_others and certificate is None:
        yield Finding(
            "tls",
            State.DOUBTFUL,
            f"{' and '.join(open_to_others)} can be reached from elsewhere, and tokens travel there as they are",
            "access.tls.certificate and access.tls.key, or a proxy in front that speaks TLS and nobody else behind it",
        )
    elif certificate is not None and advertised:
        with suppress(OSError, ValueError):  # said of the file itself
            names = _names(x509.load_pem_x509_certificates(certificate.read_bytes())[0])
            if not any(_fits(advertised, name) for name in names):
                yield Finding(
                    "tls",
                    State.BAD,
                    f"{certificate} is for {', '.join(names) or 'nobody'}, and host.advertise says {advertised}",
                    "a certificate that has that name, or another host.advertise",
                )


def _host(place: str) -> str:
    """The host of ``HOST:PORT``; empty for anything else, such as ``auto``."""
    with suppress(ValueError):
        return endpoint_of(place)[0]
    return ""


def _names(certificate: x509.Certificate) -> list[str]:
    """Host names and addresses that a certificate is for."""
    with suppress(x509.ExtensionNotFound):
        held = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        addresses = map(str, held.get_values_for_type(x509.IPAddress))
        return [*held.get_values_for_type(x509.DNSName), *addresses]
    return []


def _fits(host: str, name: str) -> bool:
    """Whether a name of a certificate, perhaps ``*.of.many``, is one of ``host`` (RFC 6125)."""
    if name.startswith("*."):
        return host.lower().partition(".")[2] == name[2:].lower()
    return host.lower() == name.lower()


async def served(settings: Settings, now: Instant) -> AsyncIterator[Finding]:
    """Certificates that the servers of store and coordination show."""
    for address in _encrypted(settings):
        for server in address.hosts:
            found = await _shown(server, address)
            if found is not None:
                yield lasting(f"the server {endpoint_label(*server)} shows one that", found, now)


def lasting(name: str, found: x509.Certificate, now: Instant) -> Finding:
    """How long a certificate holds yet."""
    begins, ends = found.not_valid_before_utc, found.not_valid_after_utc
    at = datetime.fromtimestamp(now, UTC)
    if ends < at:
        told, state = f"{name} ended on {ends:%Y-%m-%d %H:%M} UTC", State.BAD
    elif begins > at:
        told, state = f"{name} begins to hold on {begins:%Y-%m-%d %H:%M} UTC", State.BAD
    elif (left := (ends - at).total_seconds()) < SOON:
        told, state = f"{name} ends in {left / DAY:.0f} days, on {ends:%Y-%m-%d}", State.DOUBTFUL
    else:
        return Finding("certificate", State.GOOD, f"{name} holds until {ends:%Y-%m-%d}")
    fix = "set the clock" if begins > at else "renew it; where that is to happen by itself, look at what should have"
    return Finding("certificate", state, told, fix)


def _encrypted(settings: Settings) -> Iterator[ClusterAddress]:
    """Addresses of servers whose certificates are looked at. One that is none is said elsewhere."""
    for parse, text in ((cassandra_at, settings.store.address), (etcd_at, settings.coordination.address or "")):
        with suppress(InvalidAddress, BadCoordination):
            address: ClusterAddress = parse(text)
            if address.ca_file is not None:
                yield address


async def _shown(server: tuple[str, int], address: ClusterAddress) -> x509.Certificate | None:
    """What a server shows to whoever asks, whether it can be trusted or not: that is said where it is opened."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with suppress(OSError, ssl.SSLError, TimeoutError, ValueError):
        if address.cert_file is not None:
            context.load_cert_chain(address.cert_file, address.key_file)
        async with asyncio.timeout(_WITHIN):
            _, writer = await asyncio.open_connection(*server, ssl=context)
        try:
            shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            return x509.load_der_x509_certificate(shown) if shown else None
        finally:
            writer.transport.abort()
    return None


def _files(settings: Settings) -> dict[str, Path]:
    """Every file of a secret or certificate that the settings name, by where they do."""
    found = dict(_named(settings, ""))
    for name, address in (("store", settings.store.address), ("coordination", settings.coordination.address or "")):
        if "://" in address:
            for option, value in parse_qsl(address.partition("?")[2]):
                if option in {*_SECRETS, *_CERTIFICATES}:
                    found[f"{name} {option}"] = Path(value)
    return found


def _named(section: BaseModel, place: str) -> Iterator[tuple[str, Path]]:
    for name, value in section:
        if isinstance(value, BaseModel):
            yield from _named(value, f"{place}.{name}" if place else name)
        elif isinstance(value, Path) and name in {*_SECRETS, *_CERTIFICATES}:
            yield f"{place} {name}", value
