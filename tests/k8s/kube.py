"""A cluster as `kubectl` has it, and a way to what runs in it that outlives the pods at its end."""

import base64
import contextlib
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.servers.process import free_ports, listens

NAMESPACE = "submind"


def kubectl(*arguments: str, given: str | None = None, check: bool = True) -> str:
    """What `kubectl` prints; KUBECONFIG says to which cluster."""
    done = subprocess.run(["kubectl", *arguments], input=given, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def objects(kind: str, labels: str = "") -> list[dict[str, Any]]:
    """Objects of a kind in the mind's namespace."""
    return json.loads(kubectl("-n", NAMESPACE, "get", kind, "-l", labels, "-o", "json"))["items"]


def pods(component: str) -> dict[str, dict[str, Any]]:
    """Pods of a component by name, those that are going left out."""
    found = objects("pods", f"app.kubernetes.io/component={component}")
    return {pod["metadata"]["name"]: pod for pod in found if "deletionTimestamp" not in pod["metadata"]}


def leader() -> str | None:
    """The name of the pod whose host leads."""
    for name in pods("mind"):
        told = kubectl("-n", NAMESPACE, "exec", name, "-c", "host", "--", "cat", "/data/runtime.json", check=False)
        if told and not json.loads(told)["standing_by"]:
            return name
    return None


def is_ready(pod: dict[str, Any]) -> bool:
    """Whether it says that it is."""
    conditions = pod["status"].get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def eventually(what: str, holds: Callable[[], Any], within: float = 300.0, every: float = 0.5) -> Any:
    """What ``holds`` returns once it is true."""
    until = time.monotonic() + within
    while True:
        with contextlib.suppress(AssertionError):
            if found := holds():
                return found
        assert time.monotonic() < until, f"not within {within:g} s: {what}\n{situation()}"
        time.sleep(every)


def situation() -> str:
    """How the pods are and what was said of them last, for whoever reads of a failure."""
    shown = kubectl("-n", NAMESPACE, "get", "pods", "-o", "wide", check=False)
    events = kubectl("-n", NAMESPACE, "get", "events", "--sort-by=.lastTimestamp", check=False)
    return "\n".join([shown, *events.splitlines()[-15:]])


def ready(**wanted: int) -> bool:
    """Whether each component has so many pods, all of them ready, and no others."""
    for component, count in wanted.items():
        found = pods(component).values()
        if len(found) != count or not all(is_ready(pod) for pod in found):
            return False
    return True


def secret(name: str, key: str) -> str:
    """What a Secret holds."""
    (found,) = [one for one in objects("secrets") if one["metadata"]["name"] == name]
    return base64.b64decode(found["data"][key]).decode()


def memory_and_cpu() -> dict[str, tuple[float, float]]:
    """MiB in use and cores used lately, by pod."""
    (node, *_) = json.loads(kubectl("get", "nodes", "-o", "json"))["items"]
    summary = json.loads(kubectl("get", "--raw", f"/api/v1/nodes/{node['metadata']['name']}/proxy/stats/summary"))
    return {
        pod["podRef"]["name"]: (
            sum(one.get("memory", {}).get("workingSetBytes", 0) for one in pod["containers"]) / 2**20,
            sum(one.get("cpu", {}).get("usageNanoCores", 0) for one in pod["containers"]) / 1e9,
        )
        for pod in summary["pods"]
        if pod["podRef"]["namespace"] == NAMESPACE
    }


@contextlib.contextmanager
def forwarded(target: str, port: int) -> Iterator[int]:
    """A port of the loopback that leads to one of ``target``: begun anew, to another pod, when that is lost."""
    (local,) = free_ports(1)
    over = threading.Event()
    running: list[subprocess.Popen[bytes]] = []

    def keep() -> None:
        while not over.is_set():
            command = ["kubectl", "-n", NAMESPACE, "port-forward", target, f"{local}:{port}"]
            running[:] = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
            while running[0].poll() is None and not over.wait(0.2):
                pass
            over.wait(0.2)

    keeper = threading.Thread(target=keep, daemon=True)
    keeper.start()
    try:
        eventually(f"{target} answers", lambda: listens(local), every=0.1)
        yield local
    finally:
        over.set()
        keeper.join(5.0)
        for process in running:
            process.kill()
            process.wait()
