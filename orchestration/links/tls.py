"""TLS of links between machines: bytes in, bytes out, and the certificates it takes.

The proof of the secret of the run (``handshake.py``) goes through it, and covers the certificate that the called end
shows (RFC 5929, ``tls-server-end-point``): who sits between with a certificate of the same authority, but without the
secret, is found out, whatever name the certificate is for.
"""

from __future__ import annotations

import hashlib
import ssl
from dataclasses import dataclass
from pathlib import Path

import structlog

from orchestration.access.contexts import demands, shows
from orchestration.access.errors import BadCredentials
from orchestration.access.files import Signature, read, signature
from orchestration.links.handshake import NotOfThisMind
from orchestration.links.settings import LinkTlsSettings

_log = structlog.get_logger(__name__)
_RECORD = 22
"""First byte of all that a client says first (RFC 8446, a record of the handshake)."""
_PIECE = 256 * 1024


@dataclass(frozen=True, slots=True)
class _Papers:
    """What was read at one time, and found to fit together."""

    called: ssl.SSLContext
    calling: ssl.SSLContext
    shown: bytes
    """The certificate, in DER form."""


class LinkCertificates:
    """The certificates of a process's links, read again when their files change.

    Guarantee: a new connection has the newest files that fit together; those that do not are said, and the ones from
    before kept. Connections that stand are not touched.
    """

    def __init__(self, settings: LinkTlsSettings) -> None:
        """Raises ``BadCredentials`` naming the file that cannot be used."""
        if settings.certificate is None or settings.key is None or settings.ca is None:
            raise BadCredentials("TLS of links takes `runtime.link.tls.certificate`, `key` and `ca`")
        self._certificate, self._key, self._ca = settings.certificate, settings.key, settings.ca
        self._client_ca, self._name = settings.client_ca, settings.server_name
        self._paths = [p for p in (self._certificate, self._key, self._ca, self._client_ca) if p is not None]
        self._seen: Signature = signature(self._paths)
        self._said: Signature = ()
        self._papers = self._read()

    def tunnel(self, *, caller: bool) -> Tunnel:
        """One end of a new connection, with the newest files that fit together."""
        self._refresh()
        papers = self._papers
        if caller:
            return Tunnel(papers.calling, shown=b"", name=self._name)
        return Tunnel(papers.called, shown=papers.shown)

    def _refresh(self) -> None:
        seen = signature(self._paths)
        if seen == self._seen:
            return
        try:
            self._papers = self._read()
        except BadCredentials as error:  # tried again at each connection: it may be that only the reading failed
            if seen != self._said:
                self._said = seen
                _log.error(
                    "link_certificate_kept", reason=str(error), fix="the one from before is shown until they fit"
                )
            return
        self._seen, self._said = seen, ()
        _log.info("link_certificate_changed", file=str(self._certificate))

    def _read(self) -> _Papers:
        pem = read(self._certificate, "the certificate of links").decode("ascii", "replace")
        read(self._key, "the key of links")
        called = self._context(ssl.PROTOCOL_TLS_SERVER, self._client_ca)
        called.num_tickets = 0  # a session that is resumed is not verified again: nobody resumes one
        calling = self._context(ssl.PROTOCOL_TLS_CLIENT, self._ca)
        calling.check_hostname = bool(self._name)
        begins, ends = pem.find(ssl.PEM_HEADER), pem.find(ssl.PEM_FOOTER) + len(ssl.PEM_FOOTER)
        return _Papers(called, calling, ssl.PEM_cert_to_DER_cert(pem[begins:ends]))

    def _context(self, protocol: int, authorities: Path | None) -> ssl.SSLContext:
        context = ssl.SSLContext(protocol)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        if protocol == ssl.PROTOCOL_TLS_SERVER or self._client_ca is not None:
            shows(context, self._certificate, self._key, " of links")
        if authorities is not None:
            demands(context, authorities, "authorities of links")
        return context


class Tunnel:
    """One end of an encrypted connection. What ``outgoing`` gives is to be written after every call."""

    def __init__(self, context: ssl.SSLContext, *, shown: bytes, name: str = "") -> None:
        """``shown``: the certificate of this end, where it is the called one."""
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._caller = not shown
        self._object = context.wrap_bio(self._in, self._out, server_side=not self._caller, server_hostname=name or None)
        self._shown = shown
        self._begun = self._caller
        self.up = False
        """Whether what is written from now on is encrypted, and read by who the certificate says."""

    @property
    def binding(self) -> bytes:
        """What both ends know of this connection and nobody between them can make equal, once it is up."""
        shown = self._object.getpeercert(binary_form=True) if self._caller else self._shown
        return hashlib.sha256(shown or b"").digest()

    def outgoing(self) -> bytes:
        """What there is to write."""
        return self._out.read()

    def begin(self) -> None:
        """The caller speaks first."""
        self._shake()

    def feed(self, data: bytes) -> bytes:
        """Take in what came; what it says. Raises ``NotOfThisMind``; nothing more may be fed then."""
        if not self._begun and data:
            if data[0] != _RECORD:
                raise NotOfThisMind("it speaks plain text where this mind speaks TLS (runtime.link.tls)")
            self._begun = True
        self._in.write(data)
        if not self.up:
            self._shake()
        return self._read() if self.up else b""

    def seal(self, data: bytes) -> bytes:
        """What to write for ``data``, and for all else there is to write."""
        if data:
            self._object.write(data)
        return self._out.read()

    def _shake(self) -> None:
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            return
        except (ssl.SSLError, ssl.CertificateError) as error:
            raise NotOfThisMind(_why(error)) from None
        self.up = True

    def _read(self) -> bytes:
        pieces = []
        try:
            while piece := self._object.read(_PIECE):
                pieces.append(piece)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            if not pieces and not isinstance(error, ssl.SSLZeroReturnError):
                raise NotOfThisMind(_why(error)) from None
        return b"".join(pieces)


def _why(error: ssl.SSLError | ssl.CertificateError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not to be trusted: {error.verify_message}"
    if getattr(error, "reason", "") in {"WRONG_VERSION_NUMBER", "UNSUPPORTED_PROTOCOL"}:
        return "it does not speak TLS as this mind does: are its settings the same (runtime.link.tls)?"
    return f"no TLS comes about: {getattr(error, 'reason', None) or error}"
