"""What the API server says of every overlay, field by field, and what no overlay may contain."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from environment.stores.cassandra.driver.address import parse_address
from orchestration.loading import load_settings
from tests.k8s.kube import kubectl

pytestmark = [pytest.mark.cluster, pytest.mark.smoke]  # some need no more than `kubectl`
ROOT = Path(__file__).resolve().parents[2]
OVERLAYS = sorted(path.parent.name for path in (ROOT / "k8s/overlays").glob("*/kustomization.yaml"))


def rendered(overlay):
    text = subprocess.run(
        ["kubectl", "kustomize", str(ROOT / "k8s/overlays" / overlay)], capture_output=True, text=True, check=True
    ).stdout
    return [one for one in yaml.safe_load_all(text) if one]


def templates(kinds):
    """Every pod template in some objects, with the name of whose it is."""
    for one in kinds:
        spec = one.get("spec", {})
        if one["kind"] == "RayCluster":
            yield "head", spec["headGroupSpec"]["template"]
            yield from ((group["groupName"], group["template"]) for group in spec["workerGroupSpecs"])
        elif one["kind"] == "CronJob":
            yield one["metadata"]["name"], spec["jobTemplate"]["spec"]["template"]
        elif "template" in spec:
            yield one["metadata"]["name"], spec["template"]


def containers(template):
    return [*template["spec"].get("initContainers", ()), *template["spec"]["containers"]]


@pytest.fixture(scope="module")
def empty(kubernetes):
    """A namespace without anything, and a function that says what the API server makes of objects there."""
    name = "submind-dry"
    kubectl("create", "namespace", name, check=False)

    def tried(objects):
        for one in objects:
            one["metadata"]["name" if one["kind"] == "Namespace" else "namespace"] = name
        given = yaml.safe_dump_all(objects)
        options = ("--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict")
        return kubectl("apply", *options, "-f", "-", given=given)

    yield tried
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_api_server_takes_every_field(empty, overlay):
    objects = rendered(overlay)
    assert empty(objects).count("(server dry run)") == len(objects)


def test_a_misspelt_field_is_refused(empty):
    (budget,) = [
        one for one in rendered("dev") if one["kind"] == "PodDisruptionBudget" and one["metadata"]["name"] == "feed"
    ]
    budget["spec"]["maxUnavailabel"] = 1
    with pytest.raises(AssertionError, match="maxUnavailabel"):
        empty([budget])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_container_is_restricted_and_bounded(overlay):
    for name, template in templates(rendered(overlay)):
        pod = template["spec"]
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        with_token = name == "bootstrap" or pod["serviceAccountName"] == "submind-head"  # which has the autoscaler
        assert pod["automountServiceAccountToken"] is with_token, name
        assert pod["serviceAccountName"] not in {"", "default"}, name
        for container in containers(template):
            closed = container["securityContext"]
            assert closed["readOnlyRootFilesystem"], (name, container["name"])
            assert closed["allowPrivilegeEscalation"] is False, (name, container["name"])
            assert closed["capabilities"] == {"drop": ["ALL"]}, (name, container["name"])
            assert container["resources"]["limits"]["memory"], (name, container["name"])
            assert {"cpu", "memory"} <= container["resources"]["requests"].keys(), (name, container["name"])
            assert ":" in container["image"], (name, container["name"])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_secret_is_written_down(overlay):
    kinds = rendered(overlay)
    assert not [one["metadata"]["name"] for one in kinds if one["kind"] == "Secret"]
    for name, template in templates(kinds):
        for container in containers(template):
            said = {one["name"] for one in container.get("env", ()) if "value" in one}
            assert not [one for one in said if "TOKEN" in one or "PASSWORD" in one], name


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_nobody_reaches_anybody_unless_it_is_said(overlay):
    policies = {one["metadata"]["name"]: one["spec"] for one in rendered(overlay) if one["kind"] == "NetworkPolicy"}
    assert policies["default-deny"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    inside = {"podSelector": {"matchLabels": {"ray.io/cluster": "submind"}}}
    assert policies["ray"]["ingress"] == [{"from": [inside]}], "Ray's ports are for its own nodes alone"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_is_said_of_ray_is_what_it_needs(overlay):
    (ray,) = [one["spec"] for one in rendered(overlay) if one["kind"] == "RayCluster"]
    assert ray["authOptions"] == {"mode": "token"}
    head = ray["headGroupSpec"]
    assert head["rayStartParams"]["num-cpus"] == "0"
    environment = {one["name"]: one.get("value") for one in head["template"]["spec"]["containers"][0]["env"]}
    assert environment["RAY_gcs_storage"] == "rocksdb"
    groups = {one["groupName"]: one for one in ray["workerGroupSpecs"]}
    assert groups["mind"]["rayStartParams"]["num-cpus"] == "0"
    assert groups["mind"].get("resources") is None, "a mind host's node takes no subminds"
    assert float(groups["subminds"]["resources"]["submind"]) > 0


def test_every_pod_reads_the_settings_by_what_they_are():
    """A ConfigMap's name follows its content, so that a change of settings renews the pods."""
    kinds = rendered("dev")
    (name,) = [one["metadata"]["name"] for one in kinds if one["kind"] == "ConfigMap" and "mind.yaml" in one["data"]]
    for owner, template in templates(kinds):
        used = [
            one["configMap"]["name"] for one in template["spec"].get("volumes", ()) if one["name"] == "configuration"
        ]
        assert owner == "cassandra" or used in ([], [name]), owner


def test_the_image_pins_what_the_project_pins():
    def pinned(file):
        lines = (ROOT / file).read_text("utf-8").splitlines()
        return {line.partition("==")[0].lower().replace("_", "-") for line in lines if "==" in line}

    more = pinned("k8s/image/ray.lock")
    assert "aiohttp" in more
    assert not more & pinned("requirements.lock")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_settings_are_settings(overlay):
    directory = ROOT / "k8s/overlays" / overlay
    settings = load_settings(directory / "mind.yaml", environ={})
    parse_address(settings.store.address)
    assert settings.runtime.cluster.address == "submind-head-svc:6379"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_file_that_is_named_is_mounted_where_it_is_read(overlay):
    text = (ROOT / "k8s/overlays" / overlay / "mind.yaml").read_text("utf-8")
    needed = {found.rpartition("/")[0] for found in re.findall(r"/run/secrets/[a-z]+/[a-z._]+", text)}
    kinds = rendered(overlay)
    mounted = {}
    for name, template in templates(kinds):
        for container in containers(template):
            mounted[name, container["name"]] = {one["mountPath"] for one in container.get("volumeMounts", ())}
    assert needed <= mounted["mind", "host"]
    of_store = needed & {"/run/secrets/cassandra"}
    for reader in (("gateway", "gateway"), ("feed", "feed"), ("subminds", "ray"), ("migrate", "migrate")):
        assert of_store <= mounted[reader], reader
    assert overlay != "production" or of_store <= mounted["backup", "backup"]
    for owner in ("gateway", "feed", "mind", "subminds"):
        assert of_store <= mounted[owner, "await-schema"], owner
    for front in (("gateway", "gateway"), ("feed", "feed")):
        assert needed - {"/run/secrets/ray"} <= mounted[front], front


def test_what_scales_means_what_is_there():
    """Fronts by a share of the core that one process can use; nodes as the mind keeps them, too."""
    kinds = {(one["kind"], one["metadata"]["name"]): one.get("spec", {}) for one in rendered("production")}
    scalers = {name: spec for (kind, name), spec in kinds.items() if kind == "HorizontalPodAutoscaler"}
    assert scalers.keys() == {"gateway", "feed"}
    for name, spec in scalers.items():
        assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
        assert "replicas" not in kinds["Deployment", name], "its autoscaler says how many"
        budget = kinds["PodDisruptionBudget", name]
        assert spec["minReplicas"] > budget["maxUnavailable"]
        (metric,) = spec["metrics"]
        target = metric["resource"]["target"]
        assert (metric["resource"]["name"], target["type"]) == ("cpu", "AverageValue")
        assert 0 < int(target["averageValue"].removesuffix("m")) < 1000, "one process uses one core at most"
        leaves = spec["behavior"]["scaleDown"]["policies"]
        assert [(one["type"], one["value"]) for one in leaves] == [("Pods", 1)], "streams move a few at a time"
    settings = load_settings(ROOT / "k8s/overlays/production/mind.yaml", environ={})
    (subminds,) = [one for one in kinds["RayCluster", "submind"]["workerGroupSpecs"] if one["groupName"] == "subminds"]
    assert settings.runtime.cluster.least_nodes == subminds["minReplicas"]
    assert subminds["minReplicas"] <= subminds["replicas"] <= subminds["maxReplicas"]


@pytest.mark.parametrize("front", ["gateway", "feed"])
def test_a_front_has_time_to_end_in_good_order(front):
    """Out of the Service first, then nothing new, then what is under way; and its last word is not cut off."""
    settings = load_settings(ROOT / "k8s/overlays/production/mind.yaml", environ={})
    (template,) = [template for name, template in templates(rendered("production")) if name == front]
    (container,) = template["spec"]["containers"]
    leaves = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert leaves >= 2, "kube-proxy takes a moment to hear of it"
    needed = leaves + settings.gateway.drain + settings.gateway.grace
    assert template["spec"]["terminationGracePeriodSeconds"] >= 2 * needed
    assert settings.front.connection_age > 0, "or callers never come to a front that was added"
