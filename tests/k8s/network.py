"""Who reaches whom in a cluster: pods to try it from, every port that anything listens on, and which of them answer."""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.k8s.kube import NAMESPACE, kubectl, objects

ELSEWHERE = "submind-strangers"
"""Another namespace, without any policy of its own."""
STRANGER = "stranger"
_ROOT = Path(__file__).resolve().parents[2]
_IMAGE = "localhost/submind:dev"
_DIAL = """
import asyncio, json, sys

async def dial(address, port):
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(address, port), 2.5)
    except OSError:
        return False
    writer.close()
    return True

async def main():
    asked = json.loads(sys.argv[1])
    print(json.dumps(await asyncio.gather(*(dial(*one) for one in asked))))

asyncio.run(main())
"""


class Door(NamedTuple):
    """A port on which a pod listens."""

    component: str
    pod: str
    address: str
    port: int


def let_out() -> None:
    """Have all pods reach the API server and the node's name server, where neither is what the policies take it for.

    In most clusters it listens at 443 or 6443, names are told by pods of ``kube-system``, and this changes nothing.
    """
    (slice_,) = json.loads(
        kubectl("-n", "default", "get", "endpointslices", "-l", "kubernetes.io/service-name=kubernetes", "-o", "json")
    )["items"]
    named = [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]
    served = [{"port": one["port"], "protocol": "TCP"} for one in slice_["ports"]]
    to = [{"ipBlock": {"cidr": f"{address}/32"}} for one in slice_["endpoints"] for address in one["addresses"]]
    spec = {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{"to": to, "ports": named + served}]}
    kubectl("apply", "--server-side", "-f", str(_ROOT / "k8s/base/namespace.yaml"))
    _policy("this-node", spec)


@contextlib.contextmanager
def strangers() -> Iterator[None]:
    """A pod in the mind's namespace that no policy keeps in, and one elsewhere with all labels that mean anything."""
    free = {"podSelector": {"matchLabels": {STRANGER: "true"}}, "policyTypes": ["Egress"], "egress": [{}]}
    kubectl("create", "namespace", ELSEWHERE)
    try:
        _policy(STRANGER, free)
        _pod(NAMESPACE, {STRANGER: "true"})
        labels = {"submind/store": "client", "submind/front": "true", "ray.io/cluster": "submind"}
        _pod(ELSEWHERE, {**labels, "app.kubernetes.io/component": "etcd"})
        for namespace in (NAMESPACE, ELSEWHERE):
            kubectl("-n", namespace, "wait", "--for=condition=Ready", f"pod/{STRANGER}", "--timeout=300s")
        yield
    finally:
        kubectl("delete", "namespace", ELSEWHERE, "--wait=false")
        kubectl("-n", ELSEWHERE, "delete", "pods", "--all", "--grace-period=0", "--force")
        kubectl("-n", NAMESPACE, "delete", "pod", STRANGER, "--grace-period=0", "--force")
        kubectl("-n", NAMESPACE, "delete", "networkpolicy", STRANGER)


def doors() -> list[Door]:
    """Every port on which a pod of the mind listens for others."""
    found = []
    for pod in objects("pods"):
        name = pod["metadata"]["name"]
        component = pod["metadata"]["labels"].get("app.kubernetes.io/component", "")
        if pod["status"]["phase"] != "Running" or name == STRANGER:
            continue
        container = pod["spec"]["containers"][0]["name"]
        told = kubectl("-n", NAMESPACE, "exec", name, "-c", container, "--", "cat", "/proc/net/tcp", "/proc/net/tcp6")
        ports = {int(port, 16) for address, port in _listening(told) if not _loopback(address)}
        found += [Door(component, name, pod["status"]["podIP"], port) for port in sorted(ports)]
    return found


def _listening(told: str) -> Iterator[tuple[str, str]]:
    for line in told.splitlines():
        words = line.split()
        if len(words) > 3 and words[3] == "0A":
            address, _, port = words[1].partition(":")
            yield address, port


def _loopback(address: str) -> bool:
    return address.endswith("7F") or address == "0" * 24 + "01000000"


def opened(namespace: str, pod: str, asked: Sequence[Door]) -> set[Door]:
    """Of these ports those that a pod may dial."""
    dialled = json.dumps([(one.address, one.port) for one in asked])
    answer = kubectl("-n", namespace, "exec", "-i", pod, "--", "python", "-c", _DIAL, dialled)
    return {one for one, may in zip(asked, json.loads(answer), strict=True) if may}


def _policy(name: str, spec: Mapping[str, Any]) -> None:
    kind = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": name}}
    kubectl("-n", NAMESPACE, "apply", "--server-side", "-f", "-", given=json.dumps({**kind, "spec": spec}))


def _pod(namespace: str, labels: Mapping[str, str]) -> None:
    closed = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    container = {"name": STRANGER, "image": _IMAGE, "command": ["sleep", "3600"], "securityContext": closed}
    user = {"runAsNonRoot": True, "runAsUser": 10001, "seccompProfile": {"type": "RuntimeDefault"}}
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": STRANGER, "labels": labels},
        "spec": {
            "containers": [container],
            "securityContext": user,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
        },
    }
    kubectl("-n", namespace, "apply", "-f", "-", given=json.dumps(made))
