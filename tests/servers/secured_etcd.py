"""An etcd that asks for TLS, certificates on both sides and a password."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path

import grpc
import httpx
import trustme
from aetcd import rpc
from aetcd.utils import prefix_range_end

from tests.servers.etcd import EtcdServer
from tests.servers.secured import client_certificate

PASSWORDS = {"root": "the root of it all", "submind": "a mind's own", "stranger": "no mind's"}
"""Users and their passwords. ``submind`` may do everything under ``/submind/``, ``stranger`` under ``/stranger/``."""


class SecuredEtcd(EtcdServer):
    """One member whose clients must speak TLS, show a certificate, and log in once ``secure`` was called.

    ``issue`` gives it its own certificate; ``asks``: for its clients'.
    """

    def __init__(
        self,
        directory: Path,
        *,
        issue: Callable[[trustme.CA], trustme.LeafCert] = lambda authority: authority.issue_cert("127.0.0.1"),
        asks: bool = True,
    ) -> None:
        super().__init__(directory)
        self.authority = trustme.CA(organization_name="submind tests")
        self.ca_file = directory / "ca.pem"
        self.authority.cert_pem.write_to_path(self.ca_file)
        issued = issue(self.authority)
        certificate, key = directory / "server.pem", directory / "server.key"
        issued.cert_chain_pems[0].write_to_path(certificate)
        issued.private_key_pem.write_to_path(key)
        self.cert_file, self.key_file = self.client_certificate("client", self.authority)
        plain, secure = f"http://{self.endpoint}", f"https://{self.endpoint}"
        self.command = [part.replace(plain, secure) for part in self.command]
        self.command += ["--cert-file", str(certificate), "--key-file", str(key)]
        self.command += ["--trusted-ca-file", str(self.ca_file), "--client-cert-auth"] if asks else []
        context = ssl.create_default_context(cafile=self.ca_file)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # whatever its certificate is worth
        context.load_cert_chain(self.cert_file, self.key_file)
        self._ready = lambda: _answers(f"{secure}/health", context)

    def client_certificate(self, name: str, authority: trustme.CA) -> tuple[Path, Path]:
        """A client's certificate and its key."""
        return client_certificate(self.directory, name, authority)

    async def secure(self) -> None:
        """Make the users, and ask for them from now on."""
        ca, key, certificate = await asyncio.gather(
            *(asyncio.to_thread(file.read_bytes) for file in (self.ca_file, self.key_file, self.cert_file))
        )
        credentials = grpc.ssl_channel_credentials(ca, key, certificate)
        async with grpc.aio.secure_channel(self.endpoint, credentials) as channel:
            auth = rpc.AuthStub(channel)
            for name, password in PASSWORDS.items():
                await auth.UserAdd(rpc.AuthUserAddRequest(name=name, password=password))
                await auth.RoleAdd(rpc.AuthRoleAddRequest(name=name))
                prefix = f"/{name}/".encode()
                everything = rpc.Permission(
                    permType=rpc.Permission.READWRITE, key=prefix, range_end=prefix_range_end(prefix)
                )
                if name != "root":
                    await auth.RoleGrantPermission(rpc.AuthRoleGrantPermissionRequest(name=name, perm=everything))
                await auth.UserGrantRole(rpc.AuthUserGrantRoleRequest(user=name, role=name))
            await auth.AuthEnable(rpc.AuthEnableRequest())


def _answers(url: str, context: ssl.SSLContext) -> bool:
    try:
        return httpx.get(url, timeout=1.0, verify=context).is_success
    except httpx.TransportError:
        return False
