"""Addresses of servers as people write them: ``HOST:PORT``, and ``SCHEME://HOST:PORT,HOST:PORT/…?OPTION=VALUE``."""

import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

HIGHEST_PORT = 65_535
_FILES = ("password_file", "ca_file", "cert_file", "key_file")
LOGIN = ("username", *_FILES)
"""Options of every cluster's address."""

_ENDPOINT = re.compile(r"(?:\[([0-9A-Fa-f:.]+(?:%[^\s\[\]/]+)?)\]|([^\s:/@\[\]]+))(?::([0-9]{1,5}))?")


class InvalidAddress(ValueError):
    """An address that cannot be understood: the text says what would be right, and holds no secret."""


class UnusableFile(ValueError):
    """A file that an address names cannot be used: ``option`` of the address, ``path``, and ``why``."""

    def __init__(self, option: str, path: Path | None, why: str) -> None:
        super().__init__(option, path, why)
        self.option, self.path, self.why = option, path, why

    def __str__(self) -> str:
        return f"{self.option} {self.path} {self.why}"


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


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """Servers, and how to be let in. Holds names of files, never a secret."""

    hosts: tuple[tuple[str, int], ...]
    """(name or address, port)."""
    username: str | None = field(default=None, kw_only=True)
    password_file: Path | None = field(default=None, kw_only=True)
    ca_file: Path | None = field(default=None, kw_only=True)
    """Certificates that the servers' are checked against; with it (or ``cert_file``) the connection is TLS."""
    cert_file: Path | None = field(default=None, kw_only=True)
    """The client's own certificate, where servers ask for one."""
    key_file: Path | None = field(default=None, kw_only=True)

    @property
    def tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.ca_file is not None or self.cert_file is not None

    @property
    def endpoints(self) -> str:
        """The servers, for people."""
        return ",".join(endpoint_label(*host) for host in self.hosts)

    def read(self, option: str) -> bytes | None:
        """What a file of it holds; None where none is named. Raises ``UnusableFile``."""
        path: Path | None = getattr(self, option)
        try:
            return None if path is None else path.read_bytes()
        except OSError as error:
            raise UnusableFile(option, path, f"cannot be read: {error.strerror}") from None

    def password(self) -> str | None:
        """The password, from its file; the line's end does not belong to it. Raises ``UnusableFile``."""
        held = self.read("password_file")
        try:
            secret = None if held is None else held.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise UnusableFile("password_file", self.password_file, "is not UTF-8 text") from None
        if secret is not None and not secret.strip():
            raise UnusableFile("password_file", self.password_file, "is empty: write the password into it")
        return secret

    def tls_context(self) -> ssl.SSLContext | None:
        """TLS 1.2 or newer, certificate and name of a server checked; None where none is named, ``UnusableFile``."""
        if not self.tls:
            return None
        for option in _FILES[1:]:
            self.read(option)
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ssl.SSLError):
            raise UnusableFile("ca_file", self.ca_file, "holds no certificate in PEM form") from None
        if self.cert_file is not None:
            try:
                context.load_cert_chain(self.cert_file, self.key_file)
            except (OSError, ssl.SSLError):
                why = f"and key_file {self.key_file} are not a certificate and its own key, both in PEM form"
                raise UnusableFile("cert_file", self.cert_file, why) from None
        return context


class AddressParts(NamedTuple):
    """An address, taken apart."""

    hosts: tuple[tuple[str, int], ...]
    path: str
    options: dict[str, str]
    """Those that are not of ``login``."""
    login: dict[str, Any]
    """What ``ClusterAddress`` takes by name."""


def parse_cluster(text: str, form: str, port: int, more: tuple[str, ...] = ()) -> AddressParts:
    """Take an address apart that is written like ``form``; ``port`` where none is given, ``more`` options than a login.

    Raises ``InvalidAddress``, whose text never repeats what might be a secret.
    """
    scheme, separator, rest = text.partition("://")
    if not separator or scheme != form.partition("://")[0]:
        raise InvalidAddress(f"the address has to have the form {form}")
    place, _, query = rest.partition("?")
    hosts, _, path = place.partition("/")
    if "@" in hosts:
        raise InvalidAddress("an address holds no password: give username=NAME&password_file=PATH after the '?'")
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name == "password":
            raise InvalidAddress("an address holds no password: name a file that does, password_file=PATH")
        if name not in (*more, *LOGIN):
            raise InvalidAddress(f"an address has no option {name!r}: it knows {', '.join((*more, *LOGIN))}")
        if name in options or not value:
            raise InvalidAddress(f"the option {name!r} of an address is given once, with a value")
        options[name] = value
    for one, other in (("username", "password_file"), ("cert_file", "key_file")):
        if (one in options) != (other in options):
            raise InvalidAddress(f"{one} and {other} come together in an address: one of them is missing")
    login = {
        name: Path(options.pop(name)) if name in _FILES else options.pop(name) for name in LOGIN if name in options
    }
    return AddressParts(tuple(_host(each, port, form) for each in hosts.split(",")), unquote(path), options, login)


def _host(text: str, port: int, form: str) -> tuple[str, int]:
    try:
        return endpoint_of(text.strip(), port)
    except ValueError:
        raise InvalidAddress(f"{text!r} is not HOST:PORT: the address has to have the form {form}") from None
