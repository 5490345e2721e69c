"""A Cassandra that asks for TLS and a password, and the certificates for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import trustme
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from tests.servers.cassandra import CassandraServer

SUPERUSER = "cassandra"
"""Name and password of the role that a new cluster begins with."""


class SecuredCassandra(CassandraServer):
    """One node whose clients must speak TLS and log in; and show certificates, where it ``asks`` for them."""

    def __init__(
        self, directory: Path, *, asks: bool = True, configuration: Mapping[str, Any] | None = None, **options: Any
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.authority = trustme.CA(organization_name="submind tests")
        self.ca_file = directory / "ca.pem"
        self.authority.cert_pem.write_to_path(self.ca_file)
        keystore = directory / "server.pem"
        self.authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(keystore)
        _as_pkcs8(keystore)
        super().__init__(
            directory,
            configuration={
                "authenticator": "PasswordAuthenticator",
                "authorizer": "CassandraAuthorizer",
                "role_manager": "CassandraRoleManager",
                "client_encryption_options": {
                    "enabled": True,
                    "optional": False,
                    "require_client_auth": asks,
                    "ssl_context_factory": {"class_name": "org.apache.cassandra.security.PEMBasedSslContextFactory"},
                    "keystore": str(keystore),
                    "truststore": str(self.ca_file),
                },
            }
            | dict(configuration or {}),
            **options,
        )

    def client_certificate(self, directory: Path, authority: trustme.CA | None = None) -> tuple[Path, Path]:
        """A client's certificate and its key, issued by the servers' authority or by another."""
        return client_certificate(directory, "client", authority or self.authority)


def client_certificate(directory: Path, name: str, authority: trustme.CA) -> tuple[Path, Path]:
    """A client's certificate and its key, as files called ``name``."""
    issued = authority.issue_cert("client@submind.test")
    certificate, key = directory / f"{name}.pem", directory / f"{name}.key"
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    return certificate, key


def _as_pkcs8(file: Path) -> None:
    """Rewrite the key in a PEM file in the one form that Cassandra reads."""
    pem = file.read_bytes()
    begin = pem.index(b"-----BEGIN CERTIFICATE")
    key = load_pem_private_key(pem[:begin], None)
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + pem[begin:])
