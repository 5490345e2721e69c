"""A real Ray cluster on this machine: a head that takes no actors, and as many raylets as a test wants.

It is kept by a process of its own, `python -m tests.orchestration.nodes.raylets`: Ray wants a main thread.
"""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil

from orchestration.runtime.processes import TITLE

ROOT = Path(__file__).parents[3]
MIB = 1024 * 1024
SWIFT = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_enable_metrics_collection": "0",
    "RAY_task_events_report_interval_ms": "0",
    "RAY_memory_monitor_refresh_ms": "0",
}
"""A node that is lost is known to be so within some seconds; nothing is reported to anybody."""
AGENTS = ("metrics_agent_port", "runtime_env_agent_port", "dashboard_agent_listen_port", "metrics_export_port")


class Raylets:
    """Nodes by name. ``end`` leaves nothing behind."""

    def __init__(self, units=16, env=None, **head):
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", "tests.orchestration.nodes.raylets"],
            cwd=ROOT,
            env={**os.environ, **SWIFT, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._units = units
        self._pids = {}
        try:
            self.address = self._ask(head=head)
        except BaseException:
            self.end()
            raise

    def _ask(self, **wish):
        self._keeper.stdin.write(json.dumps(wish) + "\n")
        self._keeper.stdin.flush()
        return json.loads(self._keeper.stdout.readline())

    def add(self, *names):
        self._pids |= self._ask(add=names, units=self._units)
        return self

    def __iter__(self):
        return iter(sorted(self._pids))

    def raylet(self, name):
        return psutil.Process(self._pids[name])

    @contextmanager
    def without(self, name):
        """Meanwhile what lives on that node is not counted among the living."""
        pid = self._pids.pop(name)
        try:
            yield
        finally:
            self._pids[name] = pid

    def kill(self, name):
        """``kill -9`` of the raylet; when that was."""
        self.raylet(name).kill()
        at = time.monotonic()
        del self._pids[name]
        self._ask(forget=name)
        return at

    def actors(self):
        """Processes of actors, by name."""
        found = {}
        for pid in self._pids.values():
            for process in psutil.Process(pid).children():
                try:
                    title = " ".join(process.cmdline())
                except psutil.Error:
                    continue
                if title.startswith(TITLE):
                    found[title.removeprefix(TITLE).strip()] = process
        return found

    def end(self):
        self._keeper.stdin.close()
        try:
            self._keeper.wait(60)
        except subprocess.TimeoutExpired:
            self._keeper.kill()


def ports():
    """Ports for a node's agents: a raylet waits a quarter of a minute for one that is to choose, and then dies."""
    probes = [socket.create_server(("", 0)) for _ in AGENTS]
    found = {name: probe.getsockname()[1] for name, probe in zip(AGENTS, probes, strict=True)}
    for probe in probes:
        probe.close()
    return found


def patiently(start, times=4):
    """Ray gives a node half a minute, which a busy machine may not have; what was left of it goes at the end."""
    for _ in range(times - 1):
        try:
            return start()
        except Exception as error:  # noqa: BLE001
            print(f"once more: {error}", file=sys.stderr)  # noqa: T201
    return start()


def main():
    """Do what is asked for on standard input, a JSON object a line; end the cluster at its end."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from ray.cluster_utils import Cluster

    cluster, nodes = None, {}
    for line in sys.stdin:
        match json.loads(line):
            case {"head": head}:
                own = {
                    **ports(),
                    "num_cpus": 0,
                    "node_name": "head",
                    "include_dashboard": False,
                    "object_store_memory": 80 * MIB,
                }
                cluster = patiently(partial(Cluster, initialize_head=True, head_node_args=own | head))
                answer = cluster.address
            case {"add": names, "units": units}:
                for name in names:
                    offer = {**ports(), "num_cpus": 1, "node_name": name, "resources": {"submind": units}}
                    nodes[name] = patiently(
                        partial(cluster.add_node, **offer, object_store_memory=80 * MIB, wait=False)
                    )
                answer = {name: nodes[name].all_processes["raylet"][0].process.pid for name in names}
            case {"forget": name}:
                cluster.remove_node(nodes.pop(name), allow_graceful=False)
                answer = None
        print(json.dumps(answer), file=answers, flush=True)
    if cluster is not None:
        cluster.shutdown()
    for left in psutil.Process().children(recursive=True):
        left.kill()


if __name__ == "__main__":
    main()
