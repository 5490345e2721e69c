"""``python -m tests.servers [DIR]``: a Cassandra and an etcd to develop against, until it is interrupted."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path

from tests.servers.cassandra import DC, CassandraServer
from tests.servers.etcd import EtcdServer
from tests.servers.process import listens

CASSANDRA, ETCD = 9142, 2379
"""The ports they have where nobody else does."""


def main() -> None:
    """Start both, say how tests and minds find them, wait."""
    with tempfile.TemporaryDirectory(prefix="submind-servers-") as scratch:
        directory = Path(sys.argv[1] if len(sys.argv) > 1 else scratch)
        cassandra = CassandraServer(directory / "cassandra", port=None if listens(CASSANDRA) else CASSANDRA)
        etcd = EtcdServer(directory / "etcd", port=None if listens(ETCD) else ETCD)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            etcd.start()
            cassandra.start()
            print(f"export SUBMIND_TEST_CASSANDRA=127.0.0.1:{cassandra.port} SUBMIND_TEST_ETCD={etcd.endpoint}")  # noqa: T201
            print(  # noqa: T201 - it is for the person who asked for servers
                f"# a mind: submind run --store 'cassandra://127.0.0.1:{cassandra.port}/submind?dc={DC}'"
                f" --coordination etcd://{etcd.endpoint}\n# interrupt to stop them",
                flush=True,
            )
            signal.pause()
        except KeyboardInterrupt:
            pass
        finally:
            cassandra.stop()
            etcd.stop()


main()
