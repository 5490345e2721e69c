"""The production overlay for real, as far as one node carries it: TLS, tokens, three etcd, autoscaler, nightly backup.

Cut down in size alone (`production.py`): one Cassandra beside it in place of a cluster's, and less of everything.
"""

import itertools
import json
import os
import subprocess
import time

import pytest

from tests.k8s.conftest import METRICS, POLICIES
from tests.k8s.kube import NAMESPACE, eventually, is_ready, kubectl, leader, objects, pods, ready
from tests.k8s.network import ELSEWHERE, STRANGER, doors, opened, strangers
from tests.k8s.production import ALONE, ALONE_LOOPBACK, CALLER, LOOPBACK, PODS, ROOM, ROOT, put

pytestmark = [pytest.mark.timeout(900)]
HELD = "/run/secrets/caller"
OPERATOR = f"--ca {HELD}/ca.crt --token-file /run/secrets/submind/token"
PERCEIVER = f"--ca {HELD}/ca.crt --token-file {HELD}/token"
FOR_CALLERS = {("gateway", 50051), ("feed", 8080), (ALONE, 50051)}
FOR_PROMETHEUS = {("mind", 8080), ("gateway", 8081), ("feed", 8081)}
STORE = {("cassandra", 9042), ("etcd", 2379)}
KILL = "import json, os; os.kill(json.load(open('/data/runtime.json'))['host_pid'], 9)"
MATTERS = (
    "Onions for the lentil soup that my sister cooks",
    "Lost connections of the database server",
    "People in the ward with fever, says the doctor",
    "Players for the football match on Sunday",
)
"""So far apart that each is a topic of its own."""
PERCEPTION = json.dumps({"source": "web-1", "text": "The crane in the harbour stands still."})


def asked(script):
    """Exit code and all that a script says in the pod of a caller."""
    command = ["kubectl", "-n", NAMESPACE, "exec", CALLER, "-c", "front", "--", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def everybody():
    """The names of all, once each has a place."""

    def placed():
        found = sorted(name for one in nodes() for name in one["actors"])
        return len(found) >= 2 * ROOM and found

    return eventually("each has a place", placed, every=1.0)


def nodes():
    """Who lives where."""
    code, said = asked(f"submind nodes --grpc gateway:50051 {OPERATOR} --json")
    told = [json.loads(line) for line in said.splitlines()] if code == 0 else []
    return [one for one in told if "actors" in one]  # and not who has no place


def test_it_runs_as_it_is_written(production):
    def runs():
        _, said = asked(f"submind status --grpc gateway:50051 {OPERATOR}")
        return "running" in said.partition("\n")[0]

    eventually("the mind runs", runs, every=2.0)
    scalers = {one["metadata"]["name"]: one for one in objects("hpa")}
    for name in ("gateway", "feed"):  # no number of them is written down: their autoscaler has made them two
        conditions = {one["type"]: one["status"] for one in scalers[name]["status"]["conditions"]}
        assert conditions["AbleToScale"] == "True", name
    assert {one["status"]["disruptionsAllowed"] for one in objects("pdb") if one["metadata"]["name"] == "etcd"} == {1}
    assert all(len(pods(component)) == many for component, many in PODS.items())


@pytest.fixture
def measured(production):
    """Only where there is a metrics API."""
    if not METRICS:
        pytest.skip("SUBMIND_TEST_KUBERNETES_METRICS says that the cluster has a metrics API")


@pytest.mark.parametrize("front", ["gateway", "feed"])
def test_the_autoscaler_of_a_front_reads_what_it_uses(production, measured, front):
    def reads():
        (scaler,) = [one for one in objects("hpa") if one["metadata"]["name"] == front]
        active = {one["type"]: one["status"] for one in scaler["status"]["conditions"]}["ScalingActive"] == "True"
        return active and scaler["status"]["currentMetrics"][0]["resource"]["current"]["averageValue"]

    assert eventually("it has a figure", reads, every=2.0) != "0"


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ("", "speaks TLS"),
        (f"--ca {HELD}/another.crt --token-file {HELD}/token", "no encrypted connection came about"),
        (f"--ca {HELD}/ca.crt", "a token is required"),
        (f"--ca {HELD}/ca.crt --token-file {HELD}/wrong", "token"),
    ],
    ids=["plain", "another authority", "no token", "wrong token"],
)
def test_who_has_not_both_is_told_what_is_missing(production, shown, said):
    code, told = asked(f"echo '{PERCEPTION}' | submind perceive - --grpc gateway:50051 {shown}")
    assert code != 0
    assert said in told


def test_who_has_both_may_what_his_token_allows(production):
    code, told = asked(f"echo '{PERCEPTION}' | submind perceive - --grpc gateway:50051 {PERCEIVER}")
    assert code == 0, told
    code, told = asked(f"submind status --grpc gateway:50051 {PERCEIVER}")
    assert code != 0
    assert "needs a token with the scope `watch`" in told
    code, told = asked(f"wget -q -O- --ca-certificate={HELD}/ca.crt https://feed:8080/readyz")
    assert code == 0, told
    code, _ = asked(f"wget -q -O- --tries=1 --ca-certificate={HELD}/another.crt https://feed:8080/readyz")
    assert code != 0


@pytest.fixture(scope="module")
def outside(production):
    if not POLICIES:
        pytest.skip("SUBMIND_TEST_KUBERNETES_POLICIES says that the cluster enforces NetworkPolicies")
    with strangers():
        yield


def test_strangers_reach_what_is_for_callers_and_nothing_else(production, outside):
    """Of all ports that anything listens on for others: Cassandra's, etcd's, Ray's, those of links, hosts'."""
    found = doors()
    listens = {(one.component, one.port) for one in found}
    known = {("cassandra", 9042), ("etcd", 2379), ("etcd", 2380), ("head", 6379), ("mind", 50051), ("mind", 8080)}
    assert known | {("gateway", 8081), ("gateway", 50051), ("feed", 8080), ("subminds", 8090)} <= listens
    assert len([one for one in found if one.component == "subminds"]) > 10, "Ray and links have many"
    for_callers = {one for one in found if (one.component, one.port) in FOR_CALLERS}
    for namespace in (NAMESPACE, ELSEWHERE):
        reached = opened(namespace, STRANGER, found)
        assert reached < set(found), "nothing enforces NetworkPolicies in this cluster"
        assert reached == for_callers, namespace


def test_pods_reach_whom_they_need_and_nobody_else(production, outside):
    found = doors()
    within = {"head", "mind", "subminds"}  # who have ports that come and go
    reached = {}
    for component in ("gateway", "etcd", "subminds", "head"):
        pod = min(pods(component))
        others = [one for one in found if one.pod != pod and one.component not in {CALLER, ALONE}]
        reached[component] = {(one.component, one.port) for one in opened(NAMESPACE, pod, others)}
    assert reached["gateway"] == STORE | {("mind", 50051)}
    assert reached["etcd"] == {("etcd", 2379), ("etcd", 2380)}
    assert {one for one in reached["head"] if one[0] not in within} == set()
    assert {one for one in reached["subminds"] if one[0] not in within} == STORE
    for component in ("head", "subminds"):
        assert {("mind", 8090), ("subminds", 8090)} <= reached[component], component
    assert ("head", 6379) in reached["subminds"]


def test_a_prometheus_reads_figures_where_its_namespace_is_labelled(production, outside):
    kubectl("label", "namespace", ELSEWHERE, "submind/monitoring=true")
    found = doors()
    figures = {one for one in found if (one.component, one.port) in FOR_CALLERS | FOR_PROMETHEUS}
    eventually("it reads them, and no more", lambda: opened(ELSEWHERE, STRANGER, found) == figures)


@pytest.mark.parametrize(
    ("what", "plain", "through", "window"),
    [("a mind's fronts", LOOPBACK, "gateway:50051", 8), ("a gateway by itself", ALONE_LOOPBACK, "alone:50051", 32)],
    ids=["fronts", "alone"],
)
def test_what_a_service_tls_and_a_token_cost(production, figures, what, plain, through, window):
    ways = f"--plain {plain} --through {through} {PERCEIVER}"
    code, told = asked(f"python /etc/submind/service.py --json --rounds 3 --seconds 1 --window {window} {ways}")
    assert code == 0, told
    result = json.loads(told)
    rates = result["perceptions_per_s"]
    assert min(rates.values()) > 0
    assert len(result["ratios"]) == 3
    figures.tell(
        f"Service, TLS and token against plain loopback, {what}",
        f"ratio {result['ratio']:.2f} ({min(result['ratios']):.2f} to {max(result['ratios']):.2f});"
        f" {rates['through']:.0f} against {rates['plain']:.0f} durable perceptions/s",
        ratio=result["ratio"],
        through=rates["through"],
        plain=rates["plain"],
    )


def test_the_autoscaler_has_brought_the_node_that_was_missing(production):
    """One node was written down; the mind asked for room for all."""
    assert len(pods("subminds")) == 2

    def spread():
        living = [len(one["actors"]) for one in nodes()]
        return sum(living) > ROOM and sorted(living)[-2] > 0 and max(living) <= ROOM

    eventually("subminds live on both nodes", spread, every=2.0)


def bounds(least, most):
    """How many nodes for subminds the autoscaler may leave and bring."""
    path = "/spec/workerGroupSpecs/1"
    values = {"minReplicas": least, "maxReplicas": most}
    patch = [{"op": "replace", "path": f"{path}/{name}", "value": value} for name, value in values.items()]
    kubectl("-n", NAMESPACE, "patch", "raycluster", "submind", "--type=json", "-p", json.dumps(patch))


def test_the_autoscaler_takes_away_a_node_that_nobody_needs(production, figures):
    """A third node is brought though two hold all, has its share, and is given back; nothing is refused meanwhile."""
    all_of_them = everybody()
    bounds(3, 3)
    began = time.monotonic()
    eventually("subminds live on three nodes", lambda: sum(bool(one["actors"]) for one in nodes()) == 3, every=1.0)
    brought = time.monotonic() - began
    bounds(1, 3)
    began = time.monotonic()

    def taken_away():
        code, told = asked(f"echo '{PERCEPTION}' | submind perceive - --grpc gateway:50051 {PERCEIVER}")
        if code:
            pytest.fail(told)
        return len(pods("subminds")) == 2 and sorted(name for one in nodes() for name in one["actors"]) == all_of_them

    eventually("all live on two nodes, and the third is gone", taken_away, every=1.0)
    gone = time.monotonic() - began
    figures.tell(
        "production: the autoscaler brings a node, and takes it away",
        f"subminds on it after {brought:.0f} s; emptied and gone after {gone:.0f} s",
        brought_s=brought,
        gone_s=gone,
    )


def ray(*words):
    patient = {**os.environ, "PATIENCE": "600"}
    done = subprocess.run([ROOT / "k8s/ray", *words], capture_output=True, text=True, check=False, env=patient)
    return done.returncode, done.stderr


def test_a_node_that_is_drained_is_made_up_for(production, figures):
    """By hand, over TLS: the autoscaler brings one for those who leave, and takes away the one that is empty."""
    all_of_them = everybody()
    bounds(1, 3)
    code, told = ray("scale", "3")
    assert code == 2
    assert "the autoscaler says how many pods there are" in told
    left, began = min(pods("subminds")), time.monotonic()
    code, told = ray("drain", left)
    assert code == 0, told
    emptied = time.monotonic() - began

    def made_up():
        return left not in pods("subminds") and sorted(name for one in nodes() for name in one["actors"]) == all_of_them

    eventually("it is gone, and all live elsewhere", made_up, every=1.0)
    gone = time.monotonic() - began
    told = f"another brought, and all live there, after {emptied:.0f} s; gone after {gone:.0f} s"
    figures.tell("production: a node for subminds is drained", told, emptied_s=emptied, gone_s=gone)


def test_one_of_three_etcd_is_not_missed(production, figures):
    leads = leader()
    assert leads is not None
    kubectl("-n", NAMESPACE, "delete", "pod", "etcd-0", "--grace-period=0", "--force")
    lost = time.monotonic()
    for number in itertools.count():
        code, told = asked(f"echo '{PERCEPTION}' | submind perceive - --grpc gateway:50051 {PERCEIVER}")
        assert code == 0, told
        if number > 2 and len(pods("etcd")) == 3 and all(map(is_ready, pods("etcd").values())):
            break
        assert time.monotonic() < lost + 300, "etcd-0 did not come back"
    took = time.monotonic() - lost
    assert leader() == leads
    figures.tell("production: loss of one of three etcd", f"back after {took:.0f} s; the same leads", seconds=took)


def test_a_host_that_ends_is_replaced(production, figures):
    """With the autoscaler no container of Ray's pods is started again: the pod has to go as a whole."""
    leads = eventually("a host leads", leader)
    kubectl("-n", NAMESPACE, "exec", leads, "-c", "host", "--", "python", "-c", KILL)
    lost = time.monotonic()

    def thinks():
        _, said = asked(f"submind status --grpc gateway:50051 {OPERATOR}")
        return leader() not in {None, leads} and "running" in said.partition("\n")[0]

    eventually("the other leads", thinks)
    led = time.monotonic() - lost
    eventually("there is another pod", lambda: leads not in pods("mind") and ready(mind=2))
    took = time.monotonic() - lost
    figures.tell(
        "production: the host that leads ends",
        f"the other leads, and the mind runs, after {led:.0f} s; another pod Ready after {took:.0f} s",
        leads_s=led,
        again_s=took,
    )


def finished(name):
    """What a Job has said, line by line, once it is done."""
    kubectl("-n", NAMESPACE, "wait", "--for=condition=complete", f"job/{name}", "--timeout=600s")
    return kubectl("-n", NAMESPACE, "logs", f"job/{name}").splitlines()


def backup(name):
    """Run the nightly Job now; what it says of the file it has made."""
    kubectl("-n", NAMESPACE, "create", "job", "--from=cronjob/backup", name)
    (made,) = [told for line in finished(name) if "backup" in (told := json.loads(line))]
    return made


def test_a_backup_is_made_kept_and_can_be_restored(production, figures):
    began = time.monotonic()
    first = backup("backup-first")
    took = time.monotonic() - began
    figures.tell("production: backup by its CronJob", f"{took:.0f} s, {first['seconds']:.1f} s of it reading")
    second = backup("backup-second")
    assert second["backup"] > first["backup"]
    assert second["counts"]["perceptions"] > 0
    (job,) = [one for one in objects("jobs") if one["metadata"]["name"] == "backup-second"]
    template = {"spec": job["spec"]["template"]["spec"]}
    (container,) = template["spec"]["containers"]
    restore = f"submind restore {second['backup']}"
    container["command"] = ["sh", "-c", f"ls /backups | wc -l && {restore} --check && {restore} --data-dir /tmp/drill"]
    put({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "drill"}, "spec": {"template": template}})
    said = finished("drill")
    assert said[0] == "1", "KEEP is 1 here"
    assert "is whole at /tmp/drill" in " ".join(said)


def growth():
    """The audit log of growth."""
    code, said = asked(f"submind growth --grpc gateway:50051 {OPERATOR} --json")
    told = [json.loads(line) for line in said.splitlines()] if code == 0 else []
    return [one for one in told if "kind" in one]  # and not how many live, and what waits


def test_a_mind_that_grows_beyond_its_nodes_has_one_more(production, figures):
    """Both are full. Somebody asks to divide, an operator approves, and the child waits for a third node."""
    bounds(1, 3)

    def full():
        """Whoever is started anew asks for its place before the old one has left it, and a node may come for that."""
        return len(pods("subminds")) == 2 and len(everybody()) == 2 * ROOM

    eventually("all live on two nodes, and nobody else has room", full, every=1.0)
    turns = itertools.count()

    def told(kind, submind=""):
        """What was decided about someone, while all are given more to do: who has nothing to do does not divide."""
        turn = next(turns)
        said = "\n".join(json.dumps({"source": "web-1", "text": f"{one}, {turn} of them"}) for one in MATTERS)
        code, answer = asked(f"echo '{said}' | submind perceive - --grpc gateway:50051 {PERCEIVER}")
        assert code == 0, answer
        return [one for one in growth() if one["kind"] == kind and submind in one["submind"]]

    asks = eventually("somebody asks to divide", lambda: told("proposed"), every=1.0)[-1]
    eventually("no node is held for who may not be born", full, every=1.0)
    began = time.monotonic()
    code, answer = asked(f"submind approve g-{asks['seq']} --grpc gateway:50051 {OPERATOR}")
    assert code == 0, answer
    born = eventually("the child is born", lambda: told("divided", asks["submind"]), every=1.0)[0]["other"]
    eventually("it lives", lambda: any(born in one["actors"] for one in nodes()), every=1.0)
    took = time.monotonic() - began
    refusals = [one["limit"] for one in growth() if one["kind"] == "refused" and one["submind"] == asks["submind"]]
    assert refusals[:1] == ["per_node"], "it had to wait for room"
    assert len(pods("subminds")) == 3
    assert max(len(one["actors"]) for one in nodes()) <= ROOM
    figures.tell(
        "production: a birth beyond what the nodes hold",
        f"the autoscaler has brought a node, and the child lives, {took:.0f} s after an operator approved",
        seconds=took,
    )
