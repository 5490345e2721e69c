"""Certificates of a server, read again when their files change; a broken one is said, and the old one kept."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import grpc
import structlog
from cryptography import x509

from orchestration.access.errors import BadCredentials
from orchestration.access.files import WatchedFiles, read
from orchestration.access.settings import TlsSettings

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Pair:
    """What was read at one time, and found to fit together."""

    chain: bytes
    key: bytes
    authorities: bytes | None
    context: ssl.SSLContext
    expires: float


class Certificates(WatchedFiles):
    """The certificate of a server, its key, and the authorities of clients.

    Guarantee: who connects is met with the newest files that fit together. Connections that stand are not touched.
    """

    kept = "certificate_kept", "the one from before is shown until the files fit"

    def __init__(self, settings: TlsSettings) -> None:
        """Raises ``BadCredentials`` naming the file that cannot be used."""
        if settings.certificate is None or settings.key is None:
            raise BadCredentials("TLS takes `access.tls.certificate` and `access.tls.key`")
        self._certificate, self._key, self._client_ca = settings.certificate, settings.key, settings.client_ca
        self._asked: _Pair | None = None
        super().__init__(self._certificate, self._key, self._client_ca)

    @property
    def mutual(self) -> bool:
        """Whether clients must show a certificate."""
        return self._client_ca is not None

    @property
    def expires(self) -> float:
        """When the certificate does, in seconds since 1970."""
        return self._pair.expires

    def refresh(self) -> bool:
        """As ``WatchedFiles``."""
        taken = super().refresh()
        if taken:
            _log.info("certificate_changed", file=str(self._certificate), expires=self._pair.expires)
        return taken

    def for_grpc(self) -> grpc.ServerCredentials:
        """What a gRPC server shows, asked for anew at each connection."""
        self._asked = self._pair
        credentials: grpc.ServerCredentials = grpc.dynamic_ssl_server_credentials(
            _configuration(self._pair),
            cast("Callable[[], grpc.ServerCertificateConfiguration]", self._newer),
            self.mutual,
        )
        return credentials

    def _newer(self) -> grpc.ServerCertificateConfiguration | None:
        """Called by gRPC's own threads; None: as before."""
        pair = self._pair
        if pair is self._asked:
            return None
        self._asked = pair
        return _configuration(pair)

    def for_http(self) -> ssl.SSLContext:
        """What an HTTP server shows: a context that hands each handshake the newest one."""
        context = _context(self._certificate, self._key, self._client_ca)

        def newest(connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
            connection.context = self._pair.context

        context.sni_callback = newest  # called for every client, named or not
        return context

    def _take(self) -> None:
        chain, key = read(self._certificate, "the certificate"), read(self._key, "the key")
        authorities = read(self._client_ca, "the file of client authorities") if self._client_ca is not None else None
        try:
            first = x509.load_pem_x509_certificates(chain)[0]
        except ValueError:
            raise BadCredentials(f"the certificate {self._certificate} holds no certificate in PEM form") from None
        context = _context(self._certificate, self._key, self._client_ca)
        self._pair = _Pair(chain, key, authorities, context, first.not_valid_after_utc.timestamp())


def _context(certificate: Path, key: Path, client_ca: Path | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if client_ca is not None:  # a session that is resumed is not verified again: nobody resumes one
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0
    context.set_alpn_protocols(["http/1.1"])
    shows(context, certificate, key)
    if client_ca is not None:
        demands(context, client_ca, "client authorities")
    return context


def _configuration(pair: _Pair) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(pair.key, pair.chain)], pair.authorities)


def shows(context: ssl.SSLContext, certificate: Path, key: Path, whose: str = "") -> None:
    """Have it show a certificate. Raises ``BadCredentials``; ``whose`` ends the name of the key there."""
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except (ssl.SSLError, OSError, ValueError):
        raise BadCredentials(
            f"the certificate {certificate} and the key {key}{whose} are not a certificate and its own key, both in PEM"
            " form and the key not encrypted"
        ) from None


def demands(context: ssl.SSLContext, authorities: Path, whose: str) -> None:
    """Have it demand a certificate of these authorities from the other end. Raises ``BadCredentials``."""
    try:
        context.load_verify_locations(authorities)
    except (ssl.SSLError, OSError):
        raise BadCredentials(f"the file of {whose} {authorities} holds no certificate in PEM form") from None
    context.verify_mode = ssl.CERT_REQUIRED


def _no_password() -> str:
    """Instead of asking at the terminal."""
    raise ValueError("the key is encrypted")
