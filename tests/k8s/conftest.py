"""A mind deployed to a Kubernetes cluster, once for all tests of this room.

``SUBMIND_TEST_KUBERNETES`` names the kubeconfig of a cluster with KubeRay, volumes, and the images of the dev overlay
(``localhost/submind:dev`` and ``:next``: `.ci/kubernetes`). What is in its namespace ``submind`` is removed. The
volumes are empty. ``make test-cluster`` starts one where nothing is named.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.k8s.kube import NAMESPACE, eventually, forwarded, kubectl, ready, secret
from tests.k8s.load import Caller
from tests.k8s.network import let_out
from tests.k8s.production import ALONE, CALLER, PODS, make_callers, make_overlay, make_secrets

KUBECONFIG = os.environ.get("SUBMIND_TEST_KUBERNETES", "")
KEEP = os.environ.get("SUBMIND_TEST_KUBERNETES_KEEP", "")
"""Not empty: the mind stays when the tests have ended; ``again``: and one that is there is taken."""
FIGURES = os.environ.get("SUBMIND_TEST_KUBERNETES_FIGURES", "")
"""A file for what was measured, as JSON; a table at the end says it in any case."""
POLICIES = os.environ.get("SUBMIND_TEST_KUBERNETES_POLICIES", "")
"""Not empty: that cluster enforces NetworkPolicies, by its network or by `policies.py`, and these are tried."""
METRICS = os.environ.get("SUBMIND_TEST_KUBERNETES_METRICS", "")
"""Not empty: that cluster has a metrics API, and what reads it is tried."""
ROOT = Path(__file__).resolve().parents[2]
DEV = {"cassandra": 1, "etcd": 1, "head": 1, "mind": 2, "subminds": 1, "gateway": 2, "feed": 1}
"""Pods of the dev overlay by component."""
_unready: Counter[str] = Counter()
"""How often an overlay was applied in vain since it was last ready."""


@dataclass
class Figures:
    """What was measured, for people and for programs."""

    told: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, dict[str, float]] = field(default_factory=dict)

    def tell(self, what: str, value: str, **numbers: float) -> None:
        """Print a figure now and at the end. ``numbers`` are those of the sentence, with units in their names."""
        self.told[what] = value
        self.numbers[what] = {name: round(number, 3) for name, number in numbers.items()}
        print(f"\n{what}: {value}", flush=True)  # noqa: T201 - figures are what these tests are read for

    def save(self, file: Path) -> None:
        """All of them, and the machine they were measured on as far as it is known."""
        load = os.getloadavg()
        machine = {"cores": os.cpu_count(), "load_average": [round(one, 2) for one in load]}
        figures = {what: {"told": value, **self.numbers[what]} for what, value in self.told.items()}
        file.write_text(json.dumps({"machine": machine, "figures": figures}, indent=1), "utf-8")


@dataclass
class Deployment:
    """A mind that was deployed, and how to reach it."""

    began: float
    """When it was applied (monotonic)."""
    grpc: int
    http: int
    token: str
    figures: Figures

    def caller(self) -> Caller:
        """A stock client."""
        return Caller(self.grpc, self.token)

    def tell(self, what: str, value: str, **numbers: float) -> None:
        """Print a figure now and at the end."""
        self.figures.tell(what, value, **numbers)


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> Iterator[Figures]:
    """What all tests measure."""
    found = Figures()
    yield found
    reporter = pytestconfig.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line("")
        for what, value in found.told.items():
            reporter.write_line(f"kubernetes  {what}: {value}")
    if FIGURES:
        found.save(Path(FIGURES))


@pytest.fixture(scope="session")
def kubernetes() -> str:
    """The cluster; what asks for it is one of `make test-cluster`."""
    if not KUBECONFIG:
        pytest.fail("SUBMIND_TEST_KUBERNETES names the kubeconfig of a cluster to deploy to: there is none")
    os.environ["KUBECONFIG"] = KUBECONFIG
    return KUBECONFIG


@pytest.fixture(scope="module")
def deployment(kubernetes: str, figures: Figures) -> Iterator[Deployment]:
    """The dev overlay, applied as its users apply it; everybody is ready."""
    with _deployed("dev", ROOT / "k8s/overlays/dev", DEV, lambda: None) as began:
        took = time.monotonic() - began
        with forwarded("svc/gateway", 50051) as grpc, forwarded("svc/feed", 8080) as http:
            deployed = Deployment(began, grpc, http, secret("submind-token", "token"), figures)
            deployed.tell("apply to all pods Ready", f"{took:.0f} s", ready_s=took)
            yield deployed


@pytest.fixture(scope="module")
def production(kubernetes: str, figures: Figures, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The production overlay on one node, with what people make for it; the name of a pod to call from."""
    directory = tmp_path_factory.mktemp("production")
    overlay = make_overlay(directory)
    with _deployed("production", overlay, PODS, lambda: make_secrets(directory)) as began:
        took = time.monotonic() - began
        figures.tell("production: apply to all pods Ready, the autoscaler's too", f"{took:.0f} s", ready_s=took)
        if KEEP != "again":
            make_callers()
        kubectl("-n", NAMESPACE, "wait", "--for=condition=Ready", f"pod/{CALLER}", f"pod/{ALONE}", "--timeout=300s")
        yield CALLER


@contextmanager
def _deployed(name: str, overlay: Path, pods: Mapping[str, int], prepare: Callable[[], None]) -> Iterator[float]:
    """An overlay applied where there was nothing, and all its pods ready; when that began (monotonic)."""
    if _unready[name] == 2:  # every test of a module would wait as long
        pytest.fail(f"{name} was not ready, twice: it is not tried again")
    _unready[name] += 1
    if KEEP != "again":
        _remove()
        kubectl("wait", "--for=delete", f"namespace/{NAMESPACE}", "--timeout=300s")
        prepare()
        let_out()
    try:
        began = time.monotonic()
        kubectl("apply", "--server-side", "--force-conflicts", "-k", str(overlay))
        eventually(f"all of {name} is ready", lambda: ready(**pods), 600.0)
        _unready[name] = 0
        yield began
    finally:
        if not KEEP:
            _remove()


def _remove() -> None:
    """Let go of all that is there, and of its pods at once: nobody needs them to end in good order."""
    kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait=false")
    kubectl("-n", NAMESPACE, "delete", "pods", "--all", "--grace-period=0", "--force")
