"""Where a server listens: on loopback for anybody, anywhere else only where callers show a token."""

import ipaddress

from orchestration.gateway.errors import UnsafeListen


def split_listen(listen: str) -> tuple[str, int]:
    """``HOST:PORT`` or ``[IPV6]:PORT`` as host and port. Raises ``UnsafeListen`` for anything else."""
    if "/" in listen:
        raise UnsafeListen(listen, "write HOST:PORT alone, for example 127.0.0.1:50051, without http:// or a path")
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


def require_guard(listen: str, *, guarded: bool) -> None:
    """Raises ``UnsafeListen`` when ``listen`` can be reached from other machines and callers show no token."""
    host, _ = split_listen(listen)
    if not guarded and not is_loopback(host):
        raise UnsafeListen(
            listen,
            "other machines can reach this address, so a token is required: give a file that holds one with"
            " --token-file, or tokens with access.tokens_file, or listen on 127.0.0.1",
        )
