"""Who may talk to the mind: on loopback anybody, anywhere else whoever shows the token."""

from __future__ import annotations

import hmac
import ipaddress
from pathlib import Path

from orchestration.gateway.errors import UnsafeListen

LEAST_TOKEN = 16
"""Characters; what is shorter can be guessed."""

_SCHEME = "bearer "


def split_listen(listen: str) -> tuple[str, int]:
    """``HOST:PORT`` or ``[IPV6]:PORT`` as host and port. Raises ``UnsafeListen`` for anything else."""
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535 or not host:  # noqa: PLR2004 - the highest port
        raise UnsafeListen(listen, "write HOST:PORT, for example 127.0.0.1:50051 or [::1]:50051")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise UnsafeListen(listen, f"write an IPv6 address in brackets: [{host}]:{port}")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach ``host``. A name is loopback only if it is ``localhost``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_token(path: Path) -> str:
    """The token in a file. Raises ``UnsafeListen`` saying what is wrong with it, ``OSError`` if it cannot be read."""
    token = path.read_text("utf-8").strip()
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UnsafeListen(
            str(path), f"the token file must hold at least {LEAST_TOKEN} printable ASCII characters without spaces"
        )
    return token


def token_for(listen: str, token_file: Path | None) -> str | None:
    """The token callers must show to a server at ``listen``; None where none is needed and none was given.

    Raises ``UnsafeListen`` when the address can be reached from other machines and there is no token.
    """
    host, _ = split_listen(listen)
    if token_file is not None:
        return read_token(token_file)
    if not is_loopback(host):
        raise UnsafeListen(
            listen,
            "other machines can reach this address, so a token is required: give a file that holds one"
            " with --token-file, or listen on 127.0.0.1",
        )
    return None


def shows(token: str, authorization: str | bytes | None) -> bool:
    """Whether an ``authorization`` header shows the token. Takes the same time wherever the two differ."""
    if authorization is None:
        return False
    given = authorization.encode("utf-8", "replace") if isinstance(authorization, str) else authorization
    scheme, secret = given[: len(_SCHEME)], given[len(_SCHEME) :]
    return hmac.compare_digest(scheme.lower() + secret.strip(), _SCHEME.encode() + token.encode())
