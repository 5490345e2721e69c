"""One deployment of the dev overlay, from its first thought through every loss, scaling, an upgrade and the way back.

Tests go by in this order, on one mind; callers and a reader of the stream are there all the time, and at the end
everything is counted. Times are printed, and depend on the machine. Four of them are the smoke of every run: the first
thought, the loss of the host that leads, an upgrade, and the count.
"""

import itertools
import json
import os
import random
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest

from orchestration.pb.submind.v1 import nodes_pb2, nodes_pb2_grpc, perception_pb2
from tests.k8s.kube import (
    NAMESPACE,
    eventually,
    is_ready,
    kubectl,
    leader,
    memory_and_cpu,
    objects,
    pods,
    ready,
    situation,
)
from tests.k8s.load import Load, Reader

ROOT = Path(__file__).resolve().parents[2]
COUNT = """
import asyncio, json
from environment.stores.opening import open_stores

async def main():
    stores = await open_stores("cassandra://cassandra:9042/submind?dc=datacenter1", "dev", writer="counting")
    at = 0
    while page := await stores.perceptions.read(at, 1000):
        for one in page:
            print(json.dumps([one.seq, one.id, one.key]))
        at = page[-1].seq
    await stores.close()

asyncio.run(main())
"""
"""Says every perception in the log; run in a pod, where the store is within reach."""
pytestmark = [pytest.mark.timeout(900), pytest.mark.in_order, pytest.mark.usefixtures("deployment")]
ACCOUNTS = ("submind-ray", "submind-mind", "submind-front", "submind-migrate", "cassandra", "etcd", "default")
SECRETS = ("*.key", "id_*sa", "*.p12", ".env", ".netrc", ".pypirc", "pip.conf")
TOOLS = "gcc cc g++ c++ ld as make cmake cargo rustc go git pip pip3 pip3.11 mvn javac"


class Perceived(NamedTuple):
    """A perception in the log."""

    seq: int
    id: str
    key: str | None


@pytest.fixture(scope="module")
def loads():
    """Every load that any test ran, to be counted at the end."""
    return []


@pytest.fixture(scope="module")
def reader(deployment):
    reading = Reader(deployment.grpc, deployment.token)
    reading.start()
    yield reading
    reading.stop()


@pytest.fixture
def load(request, deployment, loads, reader):
    """Callers during a test."""
    name = request.node.name.removeprefix("test_")[:40].replace("[", "-").strip("]")
    one = Load(deployment.grpc, deployment.token, name)
    one.start()
    loads.append(one)
    eventually("perceptions are acknowledged", lambda: len(one.receipts) > 12, every=0.1)
    yield one
    one.stop()


def nodes(deployment):
    """Who lives where, by address; nobody while it cannot be told."""
    stub = nodes_pb2_grpc.NodeServiceStub(grpc.insecure_channel(f"127.0.0.1:{deployment.grpc}"))
    metadata = (("authorization", f"Bearer {deployment.token}"),)
    try:
        answer = stub.ListNodes(nodes_pb2.ListNodesRequest(), timeout=5.0, metadata=metadata)
    except grpc.RpcError:
        return {}
    return {one.address: list(one.actors) for one in answer.nodes}


@pytest.mark.smoke
def test_a_perception_becomes_conscious_unattended(deployment, reader):
    caller = deployment.caller()
    said = perception_pb2.Perception(source="operator", text="Is the crane in the harbour still moving?")
    (receipt,) = eventually("the first perception is acknowledged", lambda: _perceived(caller, said))
    took = receipt.at - deployment.began
    deployment.tell("apply to first acknowledged perception", f"{took:.0f} s", seconds=took)
    eventually("it is thought of", lambda: reader.entries, every=0.05)
    took = time.monotonic() - deployment.began
    deployment.tell("apply to first conscious thought", f"{took:.0f} s", seconds=took)
    assert "crane" in reader.entries[0].text
    began = time.monotonic()
    more = perception_pb2.Perception(source="operator", text="And who looks after it?", key="and-who")
    (asked,) = eventually("it is taken in", lambda: _perceived(caller, more), every=0.05)
    eventually("it is answered", lambda: any(asked.id in one.lineage for one in reader.entries), every=0.01)
    took = (time.monotonic() - began) * 1000
    deployment.tell("perception to conscious thought, through the Service", f"{took:.0f} ms", ms=took)
    caller.close()


def _perceived(caller, said):
    try:
        return caller.perceive(said)
    except grpc.RpcError:
        return None


def test_nobody_may_do_anything_with_the_api_server():
    for account in ACCOUNTS:
        listed = kubectl(
            "auth", "can-i", "--list", "-n", NAMESPACE, f"--as=system:serviceaccount:{NAMESPACE}:{account}"
        )
        may = {line.split()[0] for line in listed.splitlines()[1:] if line.strip() and not line.startswith(" ")}
        # What every account may do: ask what it may do, and who it is.
        assert {one for one in may if not one.startswith("[")} <= {
            "selfsubjectreviews.authentication.k8s.io",
            "selfsubjectaccessreviews.authorization.k8s.io",
            "selfsubjectrulesreviews.authorization.k8s.io",
        }, account
    bootstrap = f"--as=system:serviceaccount:{NAMESPACE}:submind-bootstrap"
    for verb, may in {"create": "yes", "get": "no", "list": "no", "update": "no", "delete": "no"}.items():
        assert kubectl("auth", "can-i", verb, "secrets", "-n", NAMESPACE, bootstrap, check=False).strip() == may, verb


def test_pods_are_restricted_and_hold_no_token_of_the_cluster():
    (namespace,) = [
        one for one in json.loads(kubectl("get", "ns", "-o", "json"))["items"] if one["metadata"]["name"] == NAMESPACE
    ]
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    running = [pod for pod in objects("pods") if pod["status"]["phase"] == "Running"]
    assert len(running) >= 9
    for pod in running:
        for container in pod["spec"]["containers"]:
            mounts = {one["mountPath"] for one in container.get("volumeMounts", ())}
            assert "/var/run/secrets/kubernetes.io/serviceaccount" not in mounts, pod["metadata"]["name"]
    privileged = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bold", "namespace": NAMESPACE},
        "spec": {
            "containers": [{"name": "bold", "image": "localhost/submind:dev", "securityContext": {"privileged": True}}]
        },
    }
    with pytest.raises(AssertionError, match="violates PodSecurity"):
        kubectl("apply", "-f", "-", given=json.dumps(privileged))


def in_gateway(script):
    return kubectl("-n", NAMESPACE, "exec", "deploy/gateway", "--", "sh", "-c", script, check=False)


def test_the_image_has_no_build_tools_and_no_secrets():
    assert in_gateway(f"for tool in {TOOLS}; do command -v $tool; done") == ""
    assert in_gateway("python -c 'import pip' 2>/dev/null && echo there") == ""
    assert in_gateway("ls -d /opt/submind/lib/python3.11/site-packages/virtualenv") == "", "it carries pip"
    assert in_gateway("id -u").strip() == "10001"
    assert "Read-only" in in_gateway("touch /opt/project/x 2>&1") or "denied" in in_gateway("touch /opt/project/x 2>&1")
    named = " -o ".join(f"-name '{name}'" for name in SECRETS)
    assert in_gateway(f"find / -xdev -type f \\( {named} \\) 2>/dev/null") == ""
    assert in_gateway("grep -rlI -- '-----BEGIN [A-Z ]*PRIVATE KEY-----' /opt/project /etc 2>/dev/null") == ""


def test_nothing_is_compiled_when_a_process_starts():
    code = "import ray, orchestration.runtime.worker.actor, orchestration.wiring"
    loaded = in_gateway(f"python -v -c '{code}' 2>&1 | grep 'code object from'").splitlines()
    assert len(loaded) > 500
    assert [line for line in loaded if ".pyc'" not in line] == []


def test_the_image_is_no_larger_than_it_was(deployment):
    """What it adds to Python; packages are pinned, so this grows by a decision alone: see k8s/image/slim.sh."""
    size = int(in_gateway("du -sm /opt").split()[0])
    deployment.tell("image, beside Python", f"{size} MiB", mib=size)
    assert size < 550


def test_what_an_idle_deployment_takes(deployment):
    taken = eventually("the kubelet has measured", memory_and_cpu)
    for name, (memory, cores) in sorted(taken.items()):
        deployment.tell(f"idle {name}", f"{memory:.0f} MiB, {cores:.2f} cores", mib=memory, cores=cores)
    memory, cores = map(sum, zip(*taken.values(), strict=True))
    deployment.tell("idle in all", f"{memory:.0f} MiB, {cores:.2f} cores", mib=memory, cores=cores)
    assert memory < 6144


@pytest.mark.parametrize(
    "kind",
    ["gateway", "feed", "subminds", pytest.param("leader", marks=pytest.mark.smoke), "head", "etcd", "cassandra"],
)
def test_a_pod_that_is_lost_is_not_missed(deployment, load, kind):
    name = leader() if kind == "leader" else random.Random(kind).choice(sorted(pods(kind)))
    component = "mind" if kind == "leader" else kind
    many = len(pods(component))
    kubectl("-n", NAMESPACE, "delete", "pod", name, "--grace-period=0", "--force")
    lost = time.monotonic()
    stood = watched(deployment, load, f"there is another {kind}", lambda: ready(**{component: many}), lost)
    took, waited = time.monotonic() - lost, load.longest_wait(lost)
    silent, again = load.silence(lost)
    deployment.tell(
        f"loss of a pod: {kind}",
        f"another Ready, and all read, after {took:.0f} s; a perception waited {waited:.1f} s at most, nothing was"
        f" acknowledged for {silent:.1f} s, up to {again:.1f} s after the loss; thinking stood still for"
        f" {stood:.1f} s at most",
        again_s=took,
        callers_s=waited,
        silent_s=silent,
        acknowledged_again_s=again,
        thinking_s=stood,
    )


def watched(deployment, load, what, holds, since):
    """Wait until something holds, and what is acknowledged then is read; for how long nothing was read, at most."""
    caller = deployment.caller()
    moments, furthest, held, goal = [since], caller.read(), None, None
    until = since + 420.0
    while True:
        read = caller.read()
        if read > furthest:
            moments, furthest = [*moments, time.monotonic()], read
        if held is None and holds():
            held = time.monotonic()
        if held is not None and goal is None and (first := load.first(held)):
            goal = first.seq
        if goal is not None and read >= goal and caller.thinks_beyond(goal):
            break
        assert time.monotonic() < until, f"{what}: read {read} of {goal}\n{situation()}"
        time.sleep(0.25)
    caller.close()
    moments.append(time.monotonic())
    return max(later - earlier for earlier, later in itertools.pairwise(moments))


def ray(*words):
    patient = {**os.environ, "PATIENCE": "600"}
    done = subprocess.run([ROOT / "k8s/ray", *words], capture_output=True, text=True, check=False, env=patient)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_scaling_out_and_in_moves_subminds(deployment, load):
    began = time.monotonic()
    ray("scale", "2")
    eventually("subminds live on both nodes", lambda: sum(bool(who) for who in nodes(deployment).values()) == 2)
    took = time.monotonic() - began
    deployment.tell("scale 1 to 2", f"subminds on both after {took:.0f} s", seconds=took)
    caller = deployment.caller()
    everybody = caller.names()
    caller.close()
    eventually("all have a place", lambda: _living(nodes(deployment)) == everybody)
    began = time.monotonic()
    ray("scale", "1")
    eventually("all live on one node", lambda: sorted(_only(nodes(deployment))) == everybody)
    took = time.monotonic() - began
    watched(deployment, load, "it thinks on", lambda: True, time.monotonic())
    waited = load.longest_wait(began)
    deployment.tell(
        "scale 2 to 1",
        f"all on one after {took:.0f} s; callers waited {waited:.1f} s at most",
        seconds=took,
        callers_s=waited,
    )


def _living(found):
    return sorted(name for who in found.values() for name in who)


def _only(found):
    living = [who for who in found.values() if who]
    return living[0] if len(living) == 1 else []


def roll_to(tag, tmp_path):
    """Apply the dev overlay with another image and renew all pods, as docs/kubernetes.md says."""
    overlay = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [os.path.relpath(ROOT / "k8s/overlays/dev", tmp_path)],
        "images": [{"name": "localhost/submind", "newTag": tag}],
    }
    (tmp_path / "kustomization.yaml").write_text(json.dumps(overlay))
    kubectl("-n", NAMESPACE, "delete", "job", "migrate", "bootstrap", "--ignore-not-found")
    kubectl("apply", "--server-side", "--force-conflicts", "-k", str(tmp_path))
    kubectl("-n", NAMESPACE, "wait", "--for=condition=complete", "job/migrate", "--timeout=600s")
    for front in ("gateway", "feed"):
        kubectl("-n", NAMESPACE, "rollout", "status", f"deploy/{front}", "--timeout=600s")
    ray("roll")
    images = {
        container["image"]
        for component in ("gateway", "feed", "mind", "subminds", "head")
        for pod in pods(component).values()
        for container in pod["spec"]["containers"]
    }
    assert images == {f"localhost/submind:{tag}"}


@pytest.mark.parametrize("tag", [pytest.param("next", marks=pytest.mark.smoke), "dev"])
def test_an_upgrade_with_a_migration_and_the_way_back(deployment, load, tmp_path, tag):
    began = time.monotonic()
    roll_to(tag, tmp_path)
    took = time.monotonic() - began
    watched(deployment, load, "it thinks on", lambda: True, time.monotonic())
    waited = load.longest_wait(began)
    deployment.tell(
        "upgrade" if tag == "next" else "rollback",
        f"{took:.0f} s; callers waited {waited:.1f} s at most",
        seconds=took,
        callers_s=waited,
    )


@pytest.mark.smoke
def test_nothing_was_lost_doubled_or_left_out(deployment, loads, reader):
    receipts = {key: one for load in loads for key, one in load.receipts.items()}
    assert len(receipts) > 200
    caller = deployment.caller()
    head = caller.status(60.0).perceptions.head
    eventually("all has been read", lambda: caller.thinks_beyond(head))
    entries = caller.status(60.0).stream.head
    eventually("the reader has come to the end", lambda: len(reader.entries) >= entries)
    caller.close()
    assert [one.seq for one in reader.entries] == list(range(1, len(reader.entries) + 1))
    assert len({one.id for one in reader.entries}) == len(reader.entries)
    told = kubectl("-n", NAMESPACE, "exec", "-i", "deploy/gateway", "-c", "gateway", "--", "python", "-", given=COUNT)
    perceived = [Perceived(*json.loads(line)) for line in told.splitlines()]
    assert [one.seq for one in perceived] == list(range(1, len(perceived) + 1))
    kept = {one.key: one for one in perceived if one.key}
    assert len(kept) == sum(1 for one in perceived if one.key), "a key was taken in twice"
    assert receipts.keys() <= kept.keys(), f"{len(receipts.keys() - kept.keys())} acknowledged perceptions are lost"
    assert all((kept[key].seq, kept[key].id) == (one.seq, one.id) for key, one in receipts.items())
    assert all(is_ready(pod) for pod in pods("mind").values())
    deployment.tell(
        "in all",
        f"{len(receipts)} acknowledged perceptions, 0 lost, 0 doubled; {len(reader.entries)} entries of the stream,"
        f" no gap, over {reader.connections} connections of one reader",
    )
