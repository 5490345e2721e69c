"""``HOST:PORT``, as people write it wherever an address of a server is given."""

from __future__ import annotations

import re

HIGHEST_PORT = 65_535

_ENDPOINT = re.compile(r"(?:\[([0-9A-Fa-f:.]+(?:%[^\s\[\]/]+)?)\]|([^\s:/@\[\]]+))(?::([0-9]{1,5}))?")


def endpoint_of(text: str, port: int | None = None) -> tuple[str, int]:
    """``HOST:PORT`` or ``[IPV6]:PORT`` as host and port; with ``port`` the text may leave that out.

    Raises ``ValueError`` for anything else, without a sentence: what would be right depends on what it is for.
    """
    match = _ENDPOINT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    found = int(match[3]) if match[3] else port
    if found is None or not 0 < found <= HIGHEST_PORT:
        raise ValueError(text)
    return match[1] or match[2], found


def endpoint_label(host: str, port: int) -> str:
    """``HOST:PORT``, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
