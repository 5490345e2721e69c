"""A mind deployed to a Kubernetes cluster, once for all tests of this room.

``SUBMIND_TEST_KUBERNETES`` names the kubeconfig of a cluster with KubeRay, volumes, and the images of the dev overlay
(``localhost/submind:dev`` and ``:next``: `.ci/kubernetes`). What is in its namespace ``submind`` is removed. The
volumes are empty. Without it these tests are left out, for a person who has no cluster; CI always has one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.k8s.kube import NAMESPACE, eventually, forwarded, kubectl, ready, secret
from tests.k8s.load import Caller

KUBECONFIG = os.environ.get("SUBMIND_TEST_KUBERNETES", "")
KEEP = os.environ.get("SUBMIND_TEST_KUBERNETES_KEEP", "")
"""Not empty: the mind stays when the tests have ended; ``again``: and one that is there is taken."""
ROOT = Path(__file__).resolve().parents[2]
DEV = {"cassandra": 1, "etcd": 1, "head": 1, "mind": 2, "subminds": 1, "gateway": 2, "feed": 1}
"""Pods of the dev overlay by component."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave this room out where there is no cluster; else it comes first, and nothing else runs beside its mind."""
    here = Path(__file__).parent
    ours = [item for item in items if item.path.is_relative_to(here)]
    others = [item for item in items if not item.path.is_relative_to(here)]
    if KUBECONFIG:
        items[:] = ours + others
    elif ours:
        config.hook.pytest_deselected(items=ours)
        items[:] = others


def pytest_report_header() -> str | None:
    """Say that it is left out."""
    if KUBECONFIG:
        return f"tests/k8s: on the cluster of {KUBECONFIG}"
    return "tests/k8s is left out: SUBMIND_TEST_KUBERNETES names the kubeconfig of a cluster to deploy to"


@dataclass
class Deployment:
    """A mind that was deployed, and how to reach it."""

    began: float
    """When it was applied (monotonic)."""
    grpc: int
    http: int
    token: str
    figures: dict[str, str] = field(default_factory=dict)

    def caller(self) -> Caller:
        """A stock client."""
        return Caller(self.grpc, self.token)

    def tell(self, what: str, value: str) -> None:
        """Print a figure now and at the end."""
        self.figures[what] = value
        print(f"\n{what}: {value}", flush=True)  # noqa: T201 - figures are what these tests are read for


@pytest.fixture(scope="session")
def cluster() -> str:
    """The cluster, for tests that deploy nothing."""
    os.environ["KUBECONFIG"] = KUBECONFIG
    return KUBECONFIG


@pytest.fixture(scope="module")
def deployment(cluster: str, pytestconfig: pytest.Config) -> Iterator[Deployment]:
    """The dev overlay, applied as its users apply it; everybody is ready."""
    if KEEP != "again":
        kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found")
    began = time.monotonic()
    kubectl("apply", "--server-side", "--force-conflicts", "-k", str(ROOT / "k8s/overlays/dev"))
    eventually("all of the dev overlay is ready", lambda: ready(**DEV), 600.0)
    took = time.monotonic() - began
    try:
        with forwarded("svc/gateway", 50051) as grpc, forwarded("svc/feed", 8080) as http:
            deployed = Deployment(began, grpc, http, secret("submind-token", "token"))
            deployed.tell("apply to all pods Ready", f"{took:.0f} s")
            yield deployed
    finally:
        reporter = pytestconfig.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line("")
            for what, value in deployed.figures.items():
                reporter.write_line(f"kubernetes  {what}: {value}")
        if not KEEP:
            kubectl("delete", "namespace", NAMESPACE, "--wait=false")
