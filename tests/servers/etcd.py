"""A real etcd on this machine, alone or several that vote: the Debian package ``etcd-server``."""

import shutil
from pathlib import Path

from tests.servers.process import ServerProcess, answers, free_ports


class EtcdServer(ServerProcess):
    """One member with its data in ``directory``; ``members`` (name to peer URL) are all that vote, itself included."""

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        name: str = "one",
        peer: str | None = None,
        members: dict[str, str] | None = None,
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        ports = free_ports(2)
        self.port = port or ports[0]
        peer = peer or f"http://127.0.0.1:{ports[1]}"
        client = f"http://127.0.0.1:{self.port}"
        everyone = ",".join(f"{one}={url}" for one, url in (members or {name: peer}).items())
        command = [
            _etcd(), "--name", name, "--data-dir", str(directory / "data"),
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", everyone, "--initial-cluster-state", "new",
            "--heartbeat-interval", "100", "--election-timeout", "1000",
            "--log-level", "warn", "--logger", "zap",
        ]  # fmt: skip
        super().__init__("etcd", command, directory / "server.log", lambda: answers(f"{client}/health"))

    @property
    def endpoint(self) -> str:
        """``host:port`` for clients."""
        return f"127.0.0.1:{self.port}"


class EtcdCluster:
    """Members that vote; any minority of them may be killed or paused without harm."""

    def __init__(self, directory: Path, count: int = 3) -> None:
        peers = {f"member{at}": f"http://127.0.0.1:{port}" for at, port in enumerate(free_ports(count))}
        self.members = [EtcdServer(directory / name, name=name, peer=url, members=peers) for name, url in peers.items()]

    @property
    def endpoints(self) -> str:
        """``host:port,host:port`` for clients."""
        return ",".join(member.endpoint for member in self.members)

    def start(self) -> None:
        """Start all; a member serves when enough of them have found each other."""
        for member in self.members:
            member.launch()
        for member in self.members:
            member.wait()

    def stop(self) -> None:
        """End those that run."""
        for member in self.members:
            member.stop()


def _etcd() -> str:
    found = shutil.which("etcd")
    if not found:
        raise RuntimeError("etcd is needed: on Debian, apt-get install etcd-server")
    return found
