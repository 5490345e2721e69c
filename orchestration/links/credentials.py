"""What processes of one run on different machines know each other by: a certificate made for the run, and its key.

Both ends show it and take no other (TLS 1.3, mutual): who has not got the key is let in nowhere, and who listens in
reads nothing. It comes to each process with its orders, and is no safer than what brings those (Ray's connections).
"""

import os
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime


def new_credentials() -> bytes:
    """A self-signed certificate and its private key, in PEM form. It is good for as long as anybody believes it."""
    from cryptography import x509  # noqa: PLC0415 - only who begins a run on a cluster needs it
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a run of a mind")])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    signed = (
        made.not_valid_before(datetime(1970, 1, 1, tzinfo=UTC))  # whatever the clocks of the machines say
        .not_valid_after(datetime(9999, 12, 31, tzinfo=UTC))
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    return signed.public_bytes(pem) + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)


@dataclass(frozen=True, slots=True)
class TlsContexts:
    """Contexts of one run, for the end that is called and the one that calls."""

    called: ssl.SSLContext
    calling: ssl.SSLContext


def contexts(credentials: bytes) -> TlsContexts:
    """Raises ``ssl.SSLError`` for what ``new_credentials`` did not make."""
    file = os.memfd_create("credentials")  # OpenSSL takes keys from files only: this one is on no disk
    try:
        os.write(file, credentials)
        path = f"/proc/self/fd/{file}"
        return TlsContexts(_context(ssl.PROTOCOL_TLS_SERVER, path), _context(ssl.PROTOCOL_TLS_CLIENT, path))
    finally:
        os.close(file)


def _context(protocol: int, path: str) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # machines come and go by address
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(path)
    context.load_verify_locations(path)
    if protocol == ssl.PROTOCOL_TLS_SERVER:
        context.num_tickets = 0  # a session that is resumed is not verified again: nobody resumes one
    return context
