"""A real one-node Cassandra 5 on this machine: its jars by Maven, kept in the user's cache; Java 17 runs it."""

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cassandra.cluster import Cluster, NoHostAvailable
from cassandra.policies import RoundRobinPolicy

from environment.stores.cassandra.driver.address import CassandraAddress, parse_address
from tests.servers.process import ServerProcess, free_ports, listens

VERSION = "5.0.8"
DC = "datacenter1"
_POM = Path(__file__).with_name("pom.xml")

# What Cassandra's own start script opens to it on Java 17, by module.
_EXPORTS = """
    java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/java.lang.ref
    java.base/sun.nio.ch java.management.rmi/com.sun.jmx.remote.internal.rmi
    java.management/com.sun.jmx.remote.security java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.sql/java.sql
    jdk.attach/sun.tools.attach jdk.compiler/com.sun.tools.javac.file jdk.unsupported/sun.misc
""".split()
_OPENS = """
    java.base/java.io java.base/java.lang java.base/java.lang.module java.base/java.lang.reflect java.base/java.math
    java.base/java.net java.base/java.nio java.base/java.util java.base/java.util.concurrent
    java.base/java.util.concurrent.atomic java.base/jdk.internal.loader java.base/jdk.internal.math
    java.base/jdk.internal.module java.base/jdk.internal.ref java.base/jdk.internal.reflect
    java.base/jdk.internal.util.jar java.base/sun.nio.ch jdk.compiler/com.sun.tools.javac
    jdk.management/com.sun.management.internal
""".split()


class CassandraServer(ServerProcess):
    """One node with its data in ``directory``. ``configuration`` replaces or adds settings of ``cassandra.yaml``,
    ``properties`` are given to the virtual machine.

    ``durable``: what it acknowledges, and its schema, outlive a kill; otherwise it is quicker, and must not be killed.
    ``long``: it works for many minutes, and compiles for that. ``host``, ``storage`` (a port) and ``seeds`` (hosts)
    make it one of several: all of these have the same ports, each an address of its own.
    """

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        configuration: Mapping[str, Any] | None = None,
        properties: Mapping[str, str] | None = None,
        durable: bool = True,
        long: bool = False,
        heap_mb: int = 640,
        host: str = "127.0.0.1",
        storage: int | None = None,
        seeds: Sequence[str] = (),
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.host = host
        ports = free_ports(2)
        self.port, storage = port or ports[0], storage or ports[1]
        settings = _configuration(directory, host, self.port, storage, seeds or (host,))
        settings |= _DURABLE if durable else _QUICK
        settings |= configuration or {}
        (directory / "triggers").mkdir(exist_ok=True)
        yaml = directory / "cassandra.yaml"
        yaml.write_text(json.dumps(settings, indent=2), "utf-8")  # JSON is YAML
        super().__init__(
            "cassandra",
            _command(directory, yaml, heap_mb, properties or {}, durable=durable, long=long),
            directory / "server.log",
            lambda: listens(self.port, host),
        )

    def address(self, keyspace: str, *options: str) -> CassandraAddress:
        """The address of a keyspace in it; ``options`` (``name=value``) are added to the data centre."""
        return parse_address(f"cassandra://{self.host}:{self.port}/{keyspace}?{'&'.join((f'dc={DC}', *options))}")


class CassandraCluster:
    """Several nodes on addresses of the loopback, each with a part of the ring; with three replicas all hold all."""

    def __init__(self, directory: Path, count: int = 3) -> None:
        port, storage = free_ports(2)
        hosts = [f"127.0.0.{2 + at}" for at in range(count)]
        self.nodes = [
            CassandraServer(
                directory / host,
                port=port,
                host=host,
                storage=storage,
                seeds=hosts,  # all: a seed starts though it finds nobody yet
                heap_mb=512,
                configuration={
                    "initial_token": str(-(1 << 63) + ((1 << 64) // count) * at),
                    # Nodes of a test begin together and empty: nobody has anything to stream to them.
                    "auto_bootstrap": False,
                    "hinted_handoff_enabled": True,
                },
            )
            for at, host in enumerate(hosts)
        ]

    def start(self) -> None:
        """Start all; returns when each of them serves and knows the others."""
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait()
        deadline = time.monotonic() + 120.0
        while not all(self._knows_all(node) for node in self.nodes):
            if time.monotonic() > deadline:
                raise RuntimeError("the nodes did not find each other")
            time.sleep(0.5)

    def stop(self) -> None:
        """End those that run, at once."""
        for node in self.nodes:
            node.kill()

    def _knows_all(self, node: CassandraServer) -> bool:
        cluster = Cluster([node.host], port=node.port, load_balancing_policy=RoundRobinPolicy())
        try:
            with suppress(NoHostAvailable):
                peers = cluster.connect().execute("SELECT peer, rpc_address FROM system.peers").all()
                return sum(row.rpc_address is not None for row in peers) == len(self.nodes) - 1
        finally:
            cluster.shutdown()
        return False

    def address(self, keyspace: str) -> CassandraAddress:
        """The address of a keyspace, by all nodes."""
        hosts = ",".join(f"{node.host}:{node.port}" for node in self.nodes)
        return parse_address(f"cassandra://{hosts}/{keyspace}?dc={DC}")


# `periodic` answers first: with one replica, a kill -9 then loses what the last marker (100 ms) does not cover.
_DURABLE = {"commitlog_sync": "batch"}
_QUICK = {"commitlog_sync": "periodic", "commitlog_sync_period": "10000ms"}


def _configuration(directory: Path, host: str, port: int, storage: int, seeds: Sequence[str]) -> dict[str, Any]:
    """One node that keeps to the loopback, and small."""
    return {
        "cluster_name": "submind-tests",
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "SimpleSnitch",
        "num_tokens": 1,
        "listen_address": host,
        "rpc_address": host,
        "start_native_transport": True,
        "native_transport_port": port,
        "storage_port": storage,
        "seed_provider": [
            {
                "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters": [{"seeds": ",".join(f"{each}:{storage}" for each in seeds)}],
            }
        ],
        "data_file_directories": [str(directory / "data")],
        "commitlog_directory": str(directory / "commitlog"),
        "saved_caches_directory": str(directory / "saved_caches"),
        "hints_directory": str(directory / "hints"),
        "cdc_raw_directory": str(directory / "cdc_raw"),
        "commitlog_segment_size": "8MiB",
        "memtable_allocation_type": "heap_buffers",
        "disk_access_mode": "standard",
        "auto_snapshot": False,
        "authenticator": "AllowAllAuthenticator",
        "authorizer": "AllowAllAuthorizer",
    }


def _command(
    directory: Path, yaml: Path, heap_mb: int, properties: Mapping[str, str], *, durable: bool, long: bool
) -> list[str]:
    folder = jars()
    (agent,) = folder.glob("jamm-*.jar")
    return [
        _java(),
        f"-Xms{heap_mb}m",
        f"-Xmx{heap_mb}m",
        "-Xss384k",
        "-XX:+UseSerialGC",
        f"-XX:TieredStopAtLevel={4 if long else 1}",  # quick to start: the servers of most tests do not live long
        "-XX:-UsePerfData",
        "-Djdk.attach.allowAttachSelf=true",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dcassandra-foreground=yes",
        "-Dcassandra.skip_wait_for_gossip_to_settle=0",
        "-Dcassandra.ring_delay_ms=100",
        "-Dcassandra.superuser_setup_delay_ms=0",
        f"-Dcassandra.test.flush_local_schema_changes={str(durable).lower()}",
        *(f"-D{name}={value}" for name, value in properties.items()),
        f"-Dcassandra.config={yaml.as_uri()}",
        f"-Dcassandra.storagedir={directory}",
        f"-Dcassandra.triggers_dir={directory / 'triggers'}",
        *(f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTS),
        *(f"--add-opens={name}=ALL-UNNAMED" for name in _OPENS),
        f"-javaagent:{agent}",
        "-cp",
        f"{folder}/*",
        "org.apache.cassandra.service.CassandraDaemon",
    ]


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if not found:
        raise RuntimeError("Java 17 is needed: on Debian, apt-get install openjdk-17-jre-headless maven")
    return found


def jars() -> Path:
    """The folder of jars, fetched the first time; several test runs may ask for it at once."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "submind"
    jars = cache / f"cassandra-{VERSION}-jars"
    if not jars.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "fetching").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not jars.exists():
                _fetch(jars)
    return jars


def _fetch(jars: Path) -> None:
    if not shutil.which("mvn"):
        raise RuntimeError("Maven is needed to fetch Cassandra: on Debian, apt-get install maven")
    partial = jars.with_suffix(f".{os.getpid()}")
    command = ["mvn", "-q", "-B", "-f", str(_POM), "dependency:copy-dependencies", f"-DoutputDirectory={partial}"]
    for attempt in (1, 2, 3):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
        if attempt == 3:
            raise RuntimeError(f"Maven could not fetch Cassandra:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        time.sleep(5.0 * attempt)
    partial.rename(jars)
