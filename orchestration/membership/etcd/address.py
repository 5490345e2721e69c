"""How an etcd is named: ``etcd://HOST:PORT,HOST:PORT?username=…&password_file=…&ca_file=…&cert_file=…&key_file=…``."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from orchestration.endpoints import endpoint_label, endpoint_of
from orchestration.membership.errors import BadCoordination

PORT = 2379
_FILES = ("password_file", "ca_file", "cert_file", "key_file")
_KEYS = ("username", *_FILES)


@dataclass(frozen=True, slots=True)
class EtcdAddress:
    """Where etcd is, and how one proves who one is. Holds names of files, never a secret."""

    endpoints: tuple[tuple[str, int], ...]
    username: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None

    @property
    def label(self) -> str:
        """For people: the hosts."""
        return "etcd://" + ",".join(endpoint_label(host, port) for host, port in self.endpoints)

    @property
    def secure(self) -> bool:
        """Whether it speaks TLS: where any certificate is named."""
        return self.ca_file is not None or self.cert_file is not None


@dataclass(frozen=True, slots=True, repr=False)
class EtcdCredentials:
    """What the files of an address hold."""

    password: str | None = None
    ca: bytes | None = None
    cert: bytes | None = None
    key: bytes | None = None


def parse_address(text: str) -> EtcdAddress:
    """Raises ``BadCoordination`` in one sentence; a password that stands in the text is not repeated in it."""
    parts = urlsplit(text)
    if parts.scheme != "etcd":
        raise BadCoordination("an etcd is written etcd://HOST:PORT")
    if "@" in parts.netloc:
        raise BadCoordination(
            "a user stands behind the hosts, and a password in a file: etcd://HOST:PORT?username=…&password_file=…"
        )
    if parts.path not in {"", "/"} or parts.fragment:
        raise BadCoordination(f"an etcd address has no path: leave {(parts.path or parts.fragment)!r} out")
    options = _options(parts.query)
    files = {name: Path(options[name]) for name in _FILES if name in options}
    if ("username" in options) != ("password_file" in options):
        raise BadCoordination("username and password_file go together in an etcd address: one of them is missing")
    if ("cert_file" in options) != ("key_file" in options):
        raise BadCoordination("cert_file and key_file go together in an etcd address: one of them is missing")
    return EtcdAddress(_endpoints(parts.netloc), options.get("username"), **files)


def _options(query: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in _KEYS:
            raise BadCoordination(f"an etcd address has no option {name!r}; there are {', '.join(_KEYS)}")
        if name in options or not value:
            raise BadCoordination(f"the option {name!r} of an etcd address is given once, with a value")
        options[name] = value
    return options


def _endpoints(netloc: str) -> tuple[tuple[str, int], ...]:
    endpoints = []
    for one in netloc.split(","):
        try:
            endpoints.append(endpoint_of(one, PORT))
        except ValueError:
            raise BadCoordination(f"{one!r} is not HOST:PORT: an etcd is written etcd://HOST:PORT,HOST:PORT") from None
    return tuple(dict.fromkeys(endpoints))


def read_credentials(address: EtcdAddress) -> EtcdCredentials:
    """Read the files. Raises ``BadCoordination`` naming the file that cannot be used."""
    password = _read(address.password_file, "password_file")
    credentials = EtcdCredentials(
        password=password.decode("utf-8", "replace").strip() if password is not None else None,
        ca=_read(address.ca_file, "ca_file"),
        cert=_read(address.cert_file, "cert_file"),
        key=_read(address.key_file, "key_file"),
    )
    if credentials.password == "":
        raise BadCoordination(f"password_file {address.password_file} is empty: write the password into it")
    if address.secure:
        tls_context(address)
    return credentials


def tls_context(address: EtcdAddress) -> ssl.SSLContext:
    """How TLS is spoken. Raises ``BadCoordination`` where a file does not hold what it should."""
    try:
        context = ssl.create_default_context(cafile=address.ca_file)
    except (ssl.SSLError, OSError):
        raise BadCoordination(f"ca_file {address.ca_file} holds no certificate in PEM form") from None
    if address.cert_file is not None:
        try:
            context.load_cert_chain(address.cert_file, address.key_file)
        except (ssl.SSLError, OSError):
            raise BadCoordination(
                f"cert_file {address.cert_file} and key_file {address.key_file} are not a certificate and its own key,"
                " both in PEM form"
            ) from None
    return context


def _read(path: Path | None, option: str) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadCoordination(f"{option} {path} cannot be read: {error.strerror}") from None
