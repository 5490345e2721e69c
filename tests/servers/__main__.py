"""A Cassandra and an etcd to develop against, and one of each for several processes that test.

``python -m tests.servers [DIR]``           until it is interrupted
``python -m tests.servers --for COMMAND``   as long as a command runs, which finds them; it ends with its exit code
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.servers.cassandra import DC, CassandraServer
from tests.servers.etcd import EtcdServer
from tests.servers.process import listens

CASSANDRA, ETCD = 9142, 2379
"""The ports they have where nobody else does."""


def main() -> int:
    """Start both, say how tests and minds find them, wait."""
    command = sys.argv[2:] if sys.argv[1:2] == ["--for"] else []
    with tempfile.TemporaryDirectory(prefix="submind-servers-") as scratch:
        directory = Path(scratch if command or len(sys.argv) < 2 else sys.argv[1])
        cassandra = CassandraServer(
            directory / "cassandra", port=None if command or listens(CASSANDRA) else CASSANDRA, durable=not command
        )
        etcd = EtcdServer(directory / "etcd", port=None if command or listens(ETCD) else ETCD)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            etcd.start()
            cassandra.start()
            found = {"SUBMIND_TEST_CASSANDRA": f"127.0.0.1:{cassandra.port}", "SUBMIND_TEST_ETCD": etcd.endpoint}
            if command:
                return subprocess.run(command, env=os.environ | found, check=False).returncode
            print("export", *(f"{name}={value}" for name, value in found.items()))  # noqa: T201
            print(  # noqa: T201 - it is for the person who asked for servers
                f"# a mind: submind run --store 'cassandra://127.0.0.1:{cassandra.port}/submind?dc={DC}'"
                f" --coordination etcd://{etcd.endpoint}\n# interrupt to stop them",
                flush=True,
            )
            signal.pause()
        except KeyboardInterrupt:
            return 130 if command else 0
        finally:
            cassandra.stop()
            etcd.stop()
    return 0


sys.exit(main())
