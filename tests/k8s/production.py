"""`k8s/overlays/production` cut down to one node, and what people have to make before it can be applied."""

import base64
import copy
import json
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import trustme
import yaml

from orchestration.access.scopes import Scope
from orchestration.access.tokens import changing, new_token
from orchestration.settings import Settings
from tests.k8s.kube import NAMESPACE, kubectl, objects

ROOT = Path(__file__).resolve().parents[2]
MIND = "mind"
STORE = "cassandra://cassandra:9042/submind?dc=datacenter1"
PODS = {"cassandra": 1, "etcd": 3, "head": 1, "mind": 2, "subminds": 2, "gateway": 2, "feed": 2}
"""Pods by component, once the autoscaler has brought the second node for subminds."""
CALLER, ALONE = "caller", "alone"
LOOPBACK, ALONE_LOOPBACK = "127.0.0.1:50051", "127.0.0.1:50052"
TOKENS_FILE = "/run/secrets/access/tokens.yaml"
SMALL = {"requests": {"cpu": "100m", "memory": "1500Mi"}, "limits": {"memory": "4Gi"}}
ROOM = 8
"""Actors that find a place on one node: two nodes are full with those of the default mind and one submind more."""
_HOSTS = "/spec/workerGroupSpecs/0/template/spec/containers/0"
_GROUP = "/spec/workerGroupSpecs/1"
_PATCHES: list[dict[str, Any]] = [
    {
        "target": {"kind": "RayCluster", "name": "submind"},
        "patch": [
            {"op": "replace", "path": f"{_GROUP}/template/spec/containers/0/resources", "value": SMALL},
            # Room for a third node: KubeRay's own container asks for 200m on each.
            {
                "op": "replace",
                "path": "/spec/workerGroupSpecs/0/template/spec/containers/1/resources/requests/cpu",
                "value": "100m",
            },
            {"op": "replace", "path": f"{_GROUP}/resources/submind", "value": str(ROOM)},
            {"op": "replace", "path": f"{_GROUP}/replicas", "value": 1},
            {"op": "replace", "path": f"{_GROUP}/minReplicas", "value": 1},
            {"op": "replace", "path": f"{_GROUP}/maxReplicas", "value": 2},
            {"op": "replace", "path": "/spec/autoscalerOptions/idleTimeoutSeconds", "value": 10},
            # Who waits for it in a test waits half as long.
            {"op": "replace", "path": f"{_HOSTS}/livenessProbe/periodSeconds", "value": 5},
        ],
    },
    {
        "target": {"kind": "Job", "name": "migrate"},
        "patch": [{"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "1"}],
    },
    {
        "target": {"kind": "CronJob", "name": "backup"},
        "patch": [
            {"op": "replace", "path": "/spec/jobTemplate/spec/template/spec/containers/0/env/0/value", "value": "1"}
        ],
    },
]


def settings() -> dict[str, Any]:
    """The overlay's mind.yaml, with the one Cassandra that is here, and patience for a small node."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "k8s/overlays/production/mind.yaml").read_text("utf-8"))
    found["store"]["address"] = STORE
    everybody = [one.model_dump(mode="json") for one in Settings().mind.subminds]
    next(one for one in everybody if one["name"] == "association")["count"] = 2
    found.setdefault("mind", {})["subminds"] = everybody
    found["coordination"] |= {"lease": "20s", "request_timeout": "5s"}
    found["runtime"]["cluster"] |= {"least_nodes": 1, "spare_after": 5}
    # Whoever has two topics would divide, and nobody may before an operator has said so.
    found["growth"] = {"approval": "divisions", "births_per_hour": 1, "ask_again": 5}
    found["shell"] = {"pressure_every": 2}
    division = {"overload": 0, "relief": 0, "sustained": 1, "silhouette": -1, "least_share": 0}
    found["submind"] = {"division": division}
    return found


def make_overlay(directory: Path) -> Path:
    """A folder to apply: the overlay, a Cassandra beside it, the images of this machine, and less of everything."""
    (directory / "mind.yaml").write_text(yaml.safe_dump(settings()))
    made = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": NAMESPACE,
        "resources": [_from(directory, "overlays/production")],
        "components": [_from(directory, "components/cassandra")],
        "configMapGenerator": [
            {"name": "submind", "namespace": NAMESPACE, "behavior": "replace", "files": ["mind.yaml"]}
        ],
        "images": [
            {"name": "registry.example.org/submind", "newName": "localhost/submind", "newTag": "dev"},
            {"name": "registry.k8s.io/etcd", "newName": "localhost/submind-etcd", "newTag": "dev"},
            {"name": "submind-cassandra", "newName": "localhost/submind-cassandra", "newTag": "dev"},
        ],
        "patches": [one | {"patch": yaml.safe_dump(one["patch"])} for one in _PATCHES],
    }
    (directory / "kustomization.yaml").write_text(json.dumps(made))
    return directory


def _from(directory: Path, what: str) -> str:
    return os.path.relpath(ROOT / "k8s" / what, directory)


def make_secrets(directory: Path) -> None:
    """What a person makes by hand: the namespace, certificates, tokens, and the Secrets that hold them."""
    authority = trustme.CA(organization_name="submind tests")
    ca = authority.cert_pem.bytes()
    served = ("gateway", "feed", "mind", ALONE, "localhost", "127.0.0.1")
    certificate = authority.issue_cert(*served)
    now, tokens = datetime.now(UTC), directory / "tokens.yaml"
    with changing(tokens) as known:
        perceiver, known[MIND, "web-1"] = new_token("web-1", MIND, [Scope.PERCEIVE], now=now)
    told = {
        "submind-token": {"token": secrets.token_urlsafe(32).encode()},
        "submind-access": {"tokens.yaml": tokens.read_bytes(), "session.key": secrets.token_bytes(48)},
        "submind-tls": {
            "tls.crt": b"".join(one.bytes() for one in certificate.cert_chain_pems),
            "tls.key": certificate.private_key_pem.bytes(),
            "ca.crt": ca,
        },
        "submind-cassandra": {"password": b"none is asked for", "ca.crt": ca},
        CALLER: {
            "ca.crt": ca,
            "another.crt": trustme.CA(organization_name="somebody else").cert_pem.bytes(),
            "token": perceiver.encode(),
            "wrong": new_token("web-1", MIND, [Scope.PERCEIVE], now=now)[0].encode(),
        },
    }
    kubectl("apply", "-f", str(ROOT / "k8s/base/namespace.yaml"))
    for name, data in told.items():
        encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
        put({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": encoded})


def put(one: dict[str, Any]) -> None:
    """Apply an object in the mind's namespace."""
    kubectl("-n", NAMESPACE, "apply", "-f", "-", given=json.dumps(one))


def make_callers() -> None:
    """Pods to call from, and what they compare: `benchmarks/service.py` says what for.

    ``caller`` has a caller's token and authority, a front on its plain loopback, and there a gateway by itself as well,
    on SQLite; ``alone`` is such a gateway with TLS and tokens, behind a Service. All are as gateways' pods are in
    everything else, so they lie as far from the mind as those do.
    """
    unguarded = settings()
    del unguarded["access"]
    data = {"mind.yaml": yaml.safe_dump(unguarded), "service.py": (ROOT / "benchmarks/service.py").read_text("utf-8")}
    put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": CALLER}, "data": data})
    selector = {"app.kubernetes.io/component": ALONE}
    spec = {"selector": selector, "ports": [{"name": "grpc", "port": 50051}]}
    put({"apiVersion": "v1", "kind": "Service", "metadata": {"name": ALONE}, "spec": spec})
    (gateway,) = [one for one in objects("deployments") if one["metadata"]["name"] == "gateway"]
    template = gateway["spec"]["template"]
    (container,) = template["spec"]["containers"]
    tls = [one for one in container["env"] if "__ACCESS__TLS__" in one["name"]]
    front = _container(container, "front", LOOPBACK)
    front["command"] = [
        *("submind", "serve", "--mind", "/etc/submind/mind.yaml", "--grpc", LOOPBACK, "--http", "none"),
        *("--probes", "127.0.0.1:8081", "--upstream-token-file", "/run/secrets/submind/token"),
    ]
    front["env"] = [one for one in container["env"] if "__UPSTREAM__" in one["name"]]
    near, far = _container(container, ALONE, ALONE_LOOPBACK), _container(container, ALONE, "127.0.0.1:50051")
    for one, environment in (
        (near, {"SUBMIND__GATEWAY__LISTEN": ALONE_LOOPBACK}),
        (far, {"SUBMIND__GATEWAY__LISTEN": "0.0.0.0:50051", "SUBMIND__ACCESS__TOKENS_FILE": TOKENS_FILE}),
    ):
        one["command"] = ["python", "/etc/submind/service.py", "--serve", "/tmp/alone"]
        told = {"SUBMIND__MIND__NAME": MIND, **environment}
        one["env"] = [{"name": name, "value": value} for name, value in told.items()]
    far["env"] += tls
    calls = [{"ports": [{"port": 50051}, {"port": 8080}]}]  # a front's pod would reach the mind alone
    selector = {"matchLabels": {"app.kubernetes.io/component": CALLER}}
    spec = {"podSelector": selector, "policyTypes": ["Egress"], "egress": calls}
    put({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": CALLER}, "spec": spec})
    put(_pod(CALLER, template, [front, near]))
    put(_pod(ALONE, template, [far]))


def _container(gateway: dict[str, Any], name: str, listens: str) -> dict[str, Any]:
    """A gateway's container under another name, started once it listens."""
    made = copy.deepcopy(gateway)
    del made["readinessProbe"], made["livenessProbe"], made["lifecycle"], made["ports"]
    host, _, port = listens.partition(":")
    dial = f"import socket; socket.create_connection(('{host}', {port})).close()"
    probe = {"exec": {"command": ["python", "-c", dial]}, "periodSeconds": 1, "failureThreshold": 120}
    mounts = [*made["volumeMounts"], {"name": CALLER, "mountPath": "/run/secrets/caller", "readOnly": True}]
    little = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "768Mi"}}
    return made | {"name": name, "startupProbe": probe, "volumeMounts": mounts, "resources": little}


def _pod(name: str, template: dict[str, Any], containers: list[dict[str, Any]]) -> dict[str, Any]:
    spec = copy.deepcopy(template["spec"])
    del spec["initContainers"]
    (configured,) = [one for one in spec["volumes"] if one["name"] == "configuration"]
    configured["configMap"]["name"] = CALLER
    spec["volumes"].append({"name": CALLER, "secret": {"secretName": CALLER, "defaultMode": 0o440}})
    labels = template["metadata"]["labels"] | {"app.kubernetes.io/component": name}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": spec | {"containers": containers, "terminationGracePeriodSeconds": 1},
    }
