"""Enforces the NetworkPolicies of a cluster on the one machine that is its node, with nftables.

    python -m tests.k8s.policies KUBECONFIG

For clusters whose network enforces none, as a bare bridge does not. What a policy means is as Kubernetes defines it: a
pod that any policy selects for a direction has there what some policy allows and no more; answers belong to what was
allowed; the node itself reaches its pods, as probes do. What is not known here (``endPort``, ports by name, ``except``)
is an error, never passed over. What was refused is remembered: ``nft list set inet submind_policies denied``. It ends,
and lifts everything, on SIGTERM and when the API server is gone. Needs root.
"""

import contextlib
import ipaddress
import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

TABLE = "submind_policies"
_GONE = 20.0
"""Seconds without an answer of the API server after which it is gone."""
_KINDS = {
    "pods": "/api/v1/pods",
    "namespaces": "/api/v1/namespaces",
    "policies": "/apis/networking.k8s.io/v1/networkpolicies",
}
_FRAME = f"""
add table inet {TABLE}
add set inet {TABLE} denied {{ type ipv4_addr . ipv4_addr . inet_proto . inet_service; flags dynamic; size 65535; }}
add chain inet {TABLE} refuse
add chain inet {TABLE} egress
add chain inet {TABLE} ingress
add chain inet {TABLE} forward {{ type filter hook forward priority -10; }}
add chain inet {TABLE} input {{ type filter hook input priority -10; }}
flush chain inet {TABLE} refuse
flush chain inet {TABLE} egress
flush chain inet {TABLE} ingress
flush chain inet {TABLE} forward
flush chain inet {TABLE} input
add rule inet {TABLE} refuse update @denied {{ ip saddr . ip daddr . meta l4proto . th dport }}
add rule inet {TABLE} refuse counter drop
add rule inet {TABLE} forward ct state established,related accept
add rule inet {TABLE} forward jump egress
add rule inet {TABLE} forward jump ingress
add rule inet {TABLE} input ct state established,related accept
add rule inet {TABLE} input jump egress
"""

Objects = Mapping[str, Mapping[str, dict[str, Any]]]
"""Of each kind, by uid."""


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a label selector holds. Raises ``ValueError`` for an operator that there is not."""
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for one in selector.get("matchExpressions", ()):
        value, values = labels.get(one["key"]), one.get("values", ())
        match one["operator"]:
            case "In":
                held = value in values
            case "NotIn":
                held = value not in values
            case "Exists":
                held = value is not None
            case "DoesNotExist":
                held = value is None
            case other:
                raise ValueError(f"no operator {other!r} of a label selector")
        if not held:
            return False
    return True


def rules(found: Objects) -> list[str]:
    """What `nft` is to hold: a chain for each direction, in which what is allowed returns.

    Raises ``ValueError`` for what this does not know.
    """
    pods = [pod for pod in found["pods"].values() if _has_an_address(pod)]
    spaces = {one["metadata"]["name"]: one["metadata"].get("labels", {}) for one in found["namespaces"].values()}
    isolated: dict[str, set[str]] = {"Egress": set(), "Ingress": set()}
    made = []
    for policy in found["policies"].values():
        spec, home = policy["spec"], policy["metadata"]["namespace"]
        held = [
            pod
            for pod in pods
            if pod["metadata"]["namespace"] == home and selects(spec.get("podSelector", {}), _labels(pod))
        ]
        for direction in spec.get("policyTypes", ["Ingress"]):
            isolated[direction] |= {_address(pod) for pod in held}
            own, other, key = ("saddr", "daddr", "to") if direction == "Egress" else ("daddr", "saddr", "from")
            for rule in spec.get(direction.lower(), ()):
                for peers in _peers(rule.get(key), pods, spaces, home):
                    made += [
                        f"{direction.lower()} ip {own} {_set(_address(pod) for pod in held)}"
                        + (f" ip {other} {peers}" if peers else "")
                        + f"{port} return"
                        for port in _ports(rule.get("ports"))
                        if held
                    ]
    for direction, own in (("Egress", "saddr"), ("Ingress", "daddr")):
        if isolated[direction]:
            made.append(f"{direction.lower()} ip {own} {_set(isolated[direction])} goto refuse")
    return made


def _has_an_address(pod: Mapping[str, Any]) -> bool:
    return (
        not pod["spec"].get("hostNetwork")
        and pod["status"].get("phase") not in {"Succeeded", "Failed"}
        and bool(pod["status"].get("podIP"))
    )


def _address(pod: Mapping[str, Any]) -> str:
    address: str = pod["status"]["podIP"]
    return address


def _labels(pod: Mapping[str, Any]) -> Mapping[str, str]:
    labels: Mapping[str, str] = pod["metadata"].get("labels", {})
    return labels


def _set(members: Iterable[str]) -> str:
    return f"{{ {', '.join(sorted(members))} }}"


def _peers(
    said: list[dict[str, Any]] | None, pods: list[dict[str, Any]], spaces: Mapping[str, Mapping[str, str]], home: str
) -> Iterator[str]:
    """Sets of addresses that a rule is about; an empty word: all."""
    if not said:
        yield ""
        return
    meant: set[str] = set()
    for peer in said:
        if block := peer.get("ipBlock"):
            if block.get("except"):
                raise ValueError("`except` of an ipBlock is not known here")
            yield f"{{ {ipaddress.ip_network(block['cidr'])} }}"
            continue
        within = peer.get("namespaceSelector")
        meant |= {
            _address(pod)
            for pod in pods
            if (
                pod["metadata"]["namespace"] == home
                if within is None
                else selects(within, spaces.get(pod["metadata"]["namespace"], {}))
            )
            and selects(peer.get("podSelector", {}), _labels(pod))
        }
    if meant:
        yield _set(meant)


def _ports(said: list[dict[str, Any]] | None) -> Iterator[str]:
    if not said:
        yield ""
        return
    for one in said:
        if "endPort" in one or not isinstance(one.get("port"), int):
            raise ValueError(f"a port that is not one number is not known here: {one}")
        yield f" {one.get('protocol', 'TCP').lower()} dport {one['port']}"


class Enforcer:
    """Keeps the rules of this machine's kernel as the API server has the policies."""

    def __init__(self, kubeconfig: str) -> None:
        self._kubectl = ["kubectl", "--kubeconfig", kubeconfig, "get", "--raw"]
        self._heard: queue.SimpleQueue[tuple[str, dict[str, Any] | None]] = queue.SimpleQueue()
        self._found: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in _KINDS}
        self._held: list[str] | None = None
        self._watching: dict[str, subprocess.Popen[bytes]] = {}

    def run(self) -> None:
        """Until the API server is gone."""
        for kind, path in _KINDS.items():
            threading.Thread(target=self._watch, args=(kind, path), daemon=True).start()
        try:
            while True:
                event = self._heard.get()
                while event is not None:
                    self._take(*event)
                    event = self._next()
                self._apply()
        except ConnectionError as error:
            print(error)  # noqa: T201 - who started it reads that
        finally:
            subprocess.run(["nft", "delete", "table", "inet", TABLE], check=False)
            for watching in list(self._watching.values()):
                watching.kill()

    def _next(self) -> tuple[str, dict[str, Any] | None] | None:
        with contextlib.suppress(queue.Empty):
            return self._heard.get(timeout=0.02)  # what comes together is applied together
        return None

    def _watch(self, kind: str, path: str) -> None:
        """Tell of every change; a watch that ends begins anew, with all there is."""
        last = time.monotonic()
        while time.monotonic() - last < _GONE:
            watching = subprocess.Popen(
                [*self._kubectl, f"{path}?watch=1&resourceVersion=0&timeoutSeconds=86400"],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._watching[kind] = watching
            assert watching.stdout is not None
            began = False
            for line in watching.stdout:
                last, event = time.monotonic(), json.loads(line)
                if event["type"] == "ERROR":  # it cannot tell just now
                    watching.kill()
                    break
                if not began:
                    self._heard.put((kind, None))
                    began = True
                self._heard.put((kind, event))
            watching.wait()
            time.sleep(0.5)
        self._heard.put(("", None))

    def _take(self, kind: str, event: dict[str, Any] | None) -> None:
        if not kind:
            raise ConnectionError("the API server is gone")
        if event is None:
            self._found[kind].clear()
        elif event["type"] == "DELETED":
            self._found[kind].pop(event["object"]["metadata"]["uid"], None)
        else:
            self._found[kind][event["object"]["metadata"]["uid"]] = event["object"]

    def _apply(self) -> None:
        made = rules(self._found)
        if made != self._held:
            script = _FRAME + "".join(f"add rule inet {TABLE} {rule}\n" for rule in made)
            subprocess.run(["nft", "-f", "-"], input=script.encode(), check=True)
            self._held = made


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Enforcer(sys.argv[1]).run()
