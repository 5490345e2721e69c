"""What a TLS context is given from files, and one sentence where it cannot be used."""

from __future__ import annotations

import ssl
from pathlib import Path

from orchestration.access.errors import BadCredentials


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
