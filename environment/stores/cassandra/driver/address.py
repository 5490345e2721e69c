"""Where a mind's Cassandra is: ``cassandra://host[:port],host[:port]/keyspace?dc=...``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl, unquote

SCHEME = "cassandra"
DEFAULT_PORT = 9042
LAST_PORT = 65_535
FORM = "cassandra://host[:port],host[:port]/keyspace?dc=NAME"
OPTIONS = ("dc", "username", "password_file", "ca_file", "cert_file", "key_file")

_KEYSPACE = re.compile(r"[a-z][a-z0-9_]{0,47}")
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([A-Za-z0-9_.-]+))(?::(\d+))?")


class InvalidAddress(ValueError):
    """An address that cannot be understood: the text says what would be right, and holds no secret."""


@dataclass(frozen=True, slots=True)
class CassandraAddress:
    """A cluster, the keyspace in it, and how to be let in. Secrets stay in the files that are named here."""

    hosts: tuple[tuple[str, int], ...]
    """Contact points: (name or address, port). The rest of the cluster is learnt from them."""
    keyspace: str
    dc: str
    """The data centre whose replicas serve this mind (``LOCAL_QUORUM``); every process of a mind names the same."""
    username: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    """Certificates that the servers' are checked against; with it (or ``cert_file``) the connection is TLS."""
    cert_file: Path | None = None
    """The client's own certificate, where servers ask for one."""
    key_file: Path | None = None

    @property
    def tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.ca_file is not None or self.cert_file is not None

    def in_keyspace(self, keyspace: str) -> CassandraAddress:
        """The same cluster, another keyspace."""
        return replace(self, keyspace=_keyspace(keyspace))

    def __str__(self) -> str:
        """The address without its options, as people name it; safe in any log."""
        return f"{SCHEME}://{','.join(_endpoint(*host) for host in self.hosts)}/{self.keyspace}"


def parse_address(text: str) -> CassandraAddress:
    """Read an address. Raises ``InvalidAddress``, whose text never repeats what might be a secret."""
    scheme, separator, rest = text.partition("://")
    if not separator or scheme != SCHEME:
        raise InvalidAddress(f"a Cassandra address has the form {FORM}")
    place, _, query = rest.partition("?")
    hosts, slash, keyspace = place.partition("/")
    if "@" in hosts:
        raise InvalidAddress("an address holds no password: give username=NAME&password_file=PATH after the '?'")
    if not slash or not keyspace:
        raise InvalidAddress(f"the address names no keyspace: it has the form {FORM}")
    options = _options(query)
    if not options.get("dc"):
        raise InvalidAddress("the address names no data centre: add ?dc=NAME (`nodetool status` shows the names)")
    paths = {name: Path(value) for name, value in options.items() if name.endswith("_file")}
    username = options.get("username")
    if (username is None) != ("password_file" not in paths):
        raise InvalidAddress("username and password_file come together: one of them is missing")
    if ("cert_file" in paths) != ("key_file" in paths):
        raise InvalidAddress("cert_file and key_file come together: one of them is missing")
    return CassandraAddress(
        tuple(_host(host) for host in hosts.split(",")), _keyspace(unquote(keyspace)), options["dc"], username, **paths
    )


def _options(query: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name == "password":
            raise InvalidAddress("an address holds no password: name a file that does, password_file=PATH")
        if name not in OPTIONS:
            raise InvalidAddress(f"an address has no option {name!r}: it knows {', '.join(OPTIONS)}")
        if name in options:
            raise InvalidAddress(f"the address gives {name} twice")
        if not value:
            raise InvalidAddress(f"the address gives no value for {name}")
        options[name] = value
    return options


def _host(text: str) -> tuple[str, int]:
    match = _HOST.fullmatch(text.strip())
    if match is None:
        raise InvalidAddress(f"{text!r} is not a host: write name, name:port or [address]:port, separated by commas")
    port = int(match[3]) if match[3] else DEFAULT_PORT
    if not 0 < port <= LAST_PORT:
        raise InvalidAddress(f"{port} is not a port: it must be between 1 and {LAST_PORT}")
    return match[1] or match[2], port


def _keyspace(text: str) -> str:
    if not _KEYSPACE.fullmatch(text):
        raise InvalidAddress(
            f"{text!r} is not a keyspace: use up to 48 lower-case letters, digits and underscores, a letter first"
        )
    return text


def _endpoint(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
