"""How an etcd is named: ``etcd://HOST:PORT,HOST:PORT?username=…&password_file=…&ca_file=…&cert_file=…&key_file=…``."""

from dataclasses import dataclass

from environment.addresses import ClusterAddress, InvalidAddress, UnusableFile, parse_cluster
from orchestration.membership.errors import BadCoordination

PORT = 2379
FORM = "etcd://HOST:PORT,HOST:PORT"


class EtcdAddress(ClusterAddress):
    """Where etcd is, and how one proves who one is."""

    @property
    def label(self) -> str:
        """For people: the hosts."""
        return f"etcd://{self.endpoints}"


@dataclass(frozen=True, slots=True, repr=False)
class EtcdCredentials:
    """What the files of an address hold."""

    password: str | None = None
    ca: bytes | None = None
    cert: bytes | None = None
    key: bytes | None = None


def parse_address(text: str) -> EtcdAddress:
    """Raises ``BadCoordination`` in one sentence; a password that stands in the text is not repeated in it."""
    try:
        hosts, path, _, login = parse_cluster(text, FORM, PORT)
    except InvalidAddress as error:
        raise BadCoordination(str(error)) from None
    if path:
        raise BadCoordination(f"an etcd address has no path: leave {'/' + path!r} out")
    return EtcdAddress(tuple(dict.fromkeys(hosts)), **login)


def read_credentials(address: EtcdAddress) -> EtcdCredentials:
    """Read the files. Raises ``BadCoordination`` naming the file that cannot be used."""
    try:
        address.tls_context()
        return EtcdCredentials(address.password(), *map(address.read, ("ca_file", "cert_file", "key_file")))
    except UnusableFile as error:
        raise BadCoordination(str(error)) from None
